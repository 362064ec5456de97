"""What a run on train items teaches: gold answers as conversations, or better against worse sampled answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from eval.answers import answer_size, read_answers
from harness.corpora.held_out import HeldOut
from harness.corpora.item import Item
from harness.corpora.rollout import as_met
from harness.errors import UsageError
from harness.runs.folder import find_run
from prompts.messages import conversation, read_answer
from prompts.probe import format_hash
from prompts.rendered import Message
from prompts.spec import PromptSpec

Row = Mapping[str, Sequence[Message]]
Pair = tuple[Item, str, str]
"""An item as the run met it, and the best and the worst of its answers by F1, as the model wrote them."""


def asked_items(name: str | Path, template: str | None = None) -> tuple[PromptSpec, list[tuple[Item, Item, Sequence[str]]]]:
    """The prompt format of a run and, for each item that it answered: the item as the run met it, the gold one, and the answers.
    `template` is the run's template, if its folder has that name: a run records the name only.

    Raises UsageError for a run with items of dev or test, with examples in its prompts, or whose prompt format is unknown or has
    changed.
    """
    answers = read_answers(find_run(str(name)))
    settings, records = answers.settings, answers.records
    if "context" not in settings:
        raise UsageError(f"{name}: nothing tells the prompt format of its answers: give a run of `harness prompt`")
    if settings.get("shots"):
        raise UsageError(f"{name}: its prompts had {settings['shots']} examples: give a run without")
    names = {key: settings.get(key) for key in ("context", "format", "frame", "template", "think")}
    if template and Path(template).name == names["template"]:
        names["template"] = template
    spec = PromptSpec.make(answers.task, **names)
    if settings.get("prompt_hash", now := format_hash(spec)) != now:
        raise UsageError(f"{name}: the prompt format {spec.name} has changed since this run: ask the model again")
    gold = [item for item in answers.items if item.id in records]
    if answers.split != "train":
        HeldOut(spec.task).refuse(str(name), gold)
    met = list(as_met(gold, [records[item.id] for item in gold])) if spec.rolls_out else gold
    texts = (records[item.id].get("samples") or [records[item.id].get("text", "")] for item in gold)
    return spec, [*zip(met, gold, texts, strict=True)]


def messages_rows(name: str | Path) -> Iterator[Row]:
    """A conversation for each item, which ends with the gold answer: {"messages": [...]}."""
    spec, asked = asked_items(name)
    yield from ({"messages": conversation(item, spec, answered=True)} for item, *_ in asked)


def pairs_of(name: str | Path, template: str | None = None) -> tuple[PromptSpec, list[Pair]]:
    """The prompt format of a run, and a pair for each item whose sampled answers differ in F1; `template` as in `asked_items`.

    Raises UsageError if there is none, and as `asked_items` does.
    """
    spec, asked = asked_items(name, template)
    pairs = []
    for item, gold, texts in asked:
        scored = [answer_size(gold, read_answer(text, item, spec).actions).f1 for text in texts]
        best, worst = max(scored), min(scored)
        if best > worst:
            pairs.append((item, texts[scored.index(best)], texts[scored.index(worst)]))
    if not pairs:
        raise UsageError(
            f"{name}: no item has answers of different F1; draw several with `harness prompt --split train --samples 8`"
        )
    return spec, pairs


def preference_rows(name: str | Path) -> Iterator[Row]:
    """A row for each pair of `pairs_of`: {"prompt": [...], "chosen": [...], "rejected": [...]}."""
    spec, pairs = pairs_of(name)
    for item, *texts in pairs:
        chosen, rejected = ([Message(role="assistant", content=text)] for text in texts)
        yield {"prompt": conversation(item, spec), "chosen": chosen, "rejected": rejected}


ROWS = {"messages": messages_rows, "dpo": preference_rows}
"""By the name that `harness export --as` takes."""
