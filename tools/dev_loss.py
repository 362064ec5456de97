"""The loss of adapters on the dev items of their task, and its difference from the first one's, paired by procedure or game.

python tools/dev_loss.py ladder-conversation ladder-everyday
python tools/dev_loss.py ladder-conversation ladder-own --history hexagons-dev    # after a run's own answers
python tools/dev_loss.py minecraft --every 4                                      # every fourth game

The loss is the mean over the tokens of the gold answers in the adapter's format, or with `--per answer` the mean over the
answers, by which formats can be compared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adapters.finetune import pretrained
from adapters.layout import Layout, layout_of, logits_of
from adapters.packing import collate, plan_packs
from adapters.registry import Adapter, load_adapter
from adapters.rows import TrainingRows, make_rows
from eval.score_run import read_answers
from eval.statistics import difference_interval, permutation_p, ratio_intervals
from harness.corpora import load
from harness.corpora.item import Item
from harness.corpora.rollout import as_met
from harness.engines.models.bases import load_config, load_tokenizer
from harness.engines.shared import in_bf16
from harness.errors import HarnessError
from harness.prompting.shots import choose_shots
from prompts.render import Renderer

LONGEST = 8192
"""The most tokens of a row and of a pack."""

Losses = Mapping[str, tuple[float, int, int]]
"""For each drawing procedure or game, the loss summed over its answers' tokens, how many these are, and how many answers."""
UNITS = {"token": 1, "answer": 2}
"""What a mean is over, and the index of its count in `Losses`."""


def dev_items(task: str, history: str | None, every: int) -> list[Item]:
    """The dev items of every `every`-th procedure or game. With `history`, earlier answers are that run's, and only procedures
    that it answered completely are taken."""
    items: Sequence[Item] = load(task, "dev")
    clusters = [*dict.fromkeys(item.cluster for item in items)]
    if history:
        records = read_answers(Path(history)).records
        partly = {item.cluster for item in items if item.id not in records}
        clusters = [cluster for cluster in clusters if cluster not in partly]
        items = [*as_met(items, records.values())]
    kept = set(clusters[::every])
    return [item for item in items if item.cluster in kept]


def losses(model: Any, layout: Layout, rows: TrainingRows, clusters: Mapping[str, str], pad: int) -> Losses:
    """The model's loss on the rows of each procedure or game."""
    import torch

    found = {}
    device = next(model.parameters()).device
    for group in rows.groups:
        total, tokens = 0.0, 0
        for plan in plan_packs(rows.read, [group], LONGEST, LONGEST, layout.packing):
            inputs = {name: value.to(device) for name, value in collate(plan.write(), layout.packing, pad=pad).items()}
            labels = inputs.pop("labels")
            with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=in_bf16()):
                logits = logits_of(model, inputs, use_cache=False)
            total += float(torch.nn.functional.cross_entropy(logits.float(), labels, reduction="sum"))
            tokens += len(labels)
        found[clusters[rows.id(group[0])]] = (total, tokens, len(group))
    return found


def measured(adapter: Adapter, items: Sequence[Item]) -> Losses:
    """The losses of an adapter on items, in its own prompt format. Raises HarnessError for rows that are too long."""
    import torch
    from peft import PeftModel

    layout = layout_of(load_config(adapter.base), LONGEST)
    base = pretrained(adapter.base, layout, dtype=torch.bfloat16 if in_bf16() else torch.float32)
    tokenizer = load_tokenizer(adapter.base)
    pool = choose_shots(adapter.trained_with.examples, items, load(adapter.spec.task, "train"))
    rows = make_rows(items, Renderer(adapter.spec, tokenizer, LONGEST, 0), pool, adapter.trained_with.shots, LONGEST)
    if rows.dropped:
        raise HarnessError(f"{adapter.path}: {rows.dropped} dev rows are longer than {LONGEST} tokens")
    clusters = {item.id: item.cluster for item in items}
    model = PeftModel.from_pretrained(base, adapter.path).eval()
    return losses(model, layout, rows, clusters, tokenizer.pad_token_id or 0)


def table(named: Mapping[str, Losses], unit: str) -> list[str]:
    """A Markdown table: each adapter's loss, and its difference from the first one's, paired by procedure or game."""
    names = list(named)
    first = named[names[0]]
    lines = [f"| adapter | answers | their tokens | dev loss, per {unit} | less the first, paired |", "|---|---:|---:|---|---|"]
    for name, own in named.items():
        both = np.array([[own[cluster], first[cluster]] for cluster in first], dtype=float)
        above, below, clusters = both[:, :, 0], both[:, :, UNITS[unit]], list(first)
        ends = ratio_intervals(above, below, clusters)[0]
        here, there = above.sum(0) / below.sum(0)
        text = f"{here:.3f}" + ("" if ends is None else f" [{ends[0]:.3f}, {ends[1]:.3f}]")
        less = ""
        if name != names[0] and (paired := difference_interval(above, below, clusters)):
            p = permutation_p(above, below, clusters)
            less = f"{here - there:+.3f} [{paired[0]:+.3f}, {paired[1]:+.3f}], p = {p:.2g}"
        tokens, answers = both[:, 0, 1:].sum(0)
        lines.append(f"| `{name}` | {answers:,.0f} | {tokens:,.0f} | {text} | {less} |")
    return lines


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapters", nargs="+", help="names or folders; the others are compared with the first one")
    parser.add_argument("--history", metavar="RUN", help="HEXAGONS: take the earlier answers from this run on dev, not gold")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th procedure or game")
    parser.add_argument("--per", choices=UNITS, default="token", help="what the mean is over")
    parser.add_argument("--base", metavar="DIR", help="the folder of a base that is not the default one")
    options = parser.parse_args(words)
    found: dict[str, Losses] = {}
    for name in options.adapters:
        adapter = load_adapter(name, options.base)
        found[name] = measured(adapter, dev_items(adapter.spec.task, options.history, options.every))
    print("\n".join(table(found, options.per)))


if __name__ == "__main__":
    try:
        main()
    except HarnessError as error:
        sys.exit(f"Error: {error}")
