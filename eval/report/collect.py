"""From runs to a report: the only module that knows both run folders and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.attributes import group_scores
from eval.compare import compare_runs
from eval.report.facts import cost_facts, prompt_notes, prompt_text, settings_facts
from eval.report.html import CHUNK, Listed, ReportedRun, ReportPage, cut, pack
from eval.score_run import Answers, Benchmark, read_answers, read_runs, score_answers, score_items
from harness.corpora.item import HexagonsItem, Item, MinecraftItem, Utterance, new_turns
from harness.drawing.items import item_pictures
from harness.drawing.terminal import written
from harness.runs.asked import NAME, Asked, read_asked
from harness.worlds.minecraft import net_actions

_SNIPPET = 160
"""Characters of the request that the list shows."""

_PIECES = 50
"""Most discarded pieces of an answer that are shown."""

Step = Callable[[int, int], None]
"""Called after each item with the number of items that are done, and of all."""


def read(paths: Sequence[Path], *, intersect: bool = False) -> dict[str, Answers]:
    """The runs by name. A single run keeps all items that it was asked for, several keep the items that all of them answered.

    Raises UsageError for runs over different items, unless `intersect` takes the common ones, and as `read_answers` does.
    """
    if len(paths) > 1:
        return read_runs(paths, intersect=intersect)
    answers = read_answers(paths[0], partial=True)
    return {answers.name: answers}


def collect(
    runs: dict[str, Answers],
    benchmark: Benchmark,
    *,
    limit: int | None = None,
    seed: int = 0,
    step: Step,
) -> ReportPage:
    """Score, compare and draw runs. `limit` is the number of items in the page's browser; the tables cover all of them."""
    asked = {name: dict(read_asked(answers.file.with_name(NAME))) for name, answers in runs.items()}
    scored = {name: score_items(answers, benchmark) for name, answers in runs.items()}
    reported = []
    for name, answers in runs.items():
        groups = group_scores(answers, benchmark, seed=seed)
        reported.append(
            ReportedRun(
                name=name,
                facts=settings_facts(answers),
                cost=cost_facts(answers, asked[name]),
                notes=prompt_notes(answers, asked[name]),
                scores=score_answers(answers, benchmark, rollout=True, seed=seed),
                items=scored[name],
                subsets=groups.tables,
                labels=groups.labels,
            )
        )
    first = next(iter(runs.values()))
    items = _items(first, benchmark)[:limit]
    chunks = [pack(chunk) for chunk in _chunks(items, list(zip(runs.values(), asked.values(), strict=True)), step)]
    return ReportPage(
        runs=reported,
        comparison=compare_runs(first.task, scored, changed=5, seed=seed) if len(runs) > 1 else None,
        listed=[Listed(shown.item.id, _snippet(shown.item)) for shown in items],
        chunks=chunks,
        texts=pack([_searched(shown.item, runs.values()) for shown in items]),
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    """An item as it is drawn; `repaired` if the benchmark gave it another gold state than the recorded one."""

    item: Item
    repaired: bool


def _items(answers: Answers, benchmark: Benchmark) -> list[_Shown]:
    """The scored items in the corpus's order, with the benchmark's gold states."""
    scored = {item.id: item for item in benchmark.choose(answers).items}
    return [_Shown(scored[item.id], item.after != scored[item.id].after) for item in answers.items if item.id in scored]


_Told = tuple[Answers, Mapping[str, Asked]]
"""A run, and the prompt and seconds of each answer."""


def _chunks(items: Sequence[_Shown], runs: Sequence[_Told], step: Step) -> Iterator[dict[str, Any]]:
    """The details of the items, `CHUNK` at a time."""
    for start in range(0, len(items), CHUNK):
        chunk: dict[str, Any] = {"items": [], "runs": [[] for _ in runs]}
        for number, shown in enumerate(items[start : start + CHUNK], start=start + 1):
            chunk["items"].append(_shared(shown))
            for entries, (answers, asked) in zip(chunk["runs"], runs, strict=True):
                entries.append(_made(shown.item, answers, asked.get(shown.item.id)))
            step(number, len(items))
        yield chunk


def _shared(shown: _Shown) -> dict[str, Any]:
    """The details that all runs share: the turns (with the speaker "" for actions), the gold actions and their picture."""
    item = shown.item
    turns = [
        [turn.speaker, turn.text] if isinstance(turn, Utterance) else ["", written(item.task, turn.actions) or "nothing"]
        for turn in item.history
    ]
    if isinstance(item, HexagonsItem):
        turns.append(["Instructor", item.instruction])
    actions: Any = item.actions
    if shown.repaired and isinstance(item, MinecraftItem):
        actions = sorted(net_actions(item.before, item.after), key=lambda action: (action.kind == "place", action.cell))
    return {
        "turns": turns,
        "gold": written(item.task, actions),
        "picture": item_pictures(item)["gold"],
        "note": "Gold repaired by the benchmark's annotation." if shown.repaired else "",
    }


def _made(item: Item, answers: Answers, asked: Asked | None) -> dict[str, Any]:
    """The details of one run's answer to an item."""
    record = answers.records.get(item.id)
    text, note = prompt_text(record or {}, asked)
    details = {"prompt": text, "promptNote": note}
    if record is None:
        return details | {"problem": "The run holds no prediction for this item."}
    if record.get("error"):
        return details | {"problem": cut(f"No prediction, but an error: {record['error']}")}
    actions: Any = answers.predictions.actions[item.id]
    state, ignored = item.before.apply(actions)
    drawn = item_pictures(item, state)
    answer = record.get("text")
    return details | {
        "problem": "",
        "pictures": [drawn["predicted"], drawn["difference"]],
        "actions": cut(written(item.task, actions)),
        "ignored": cut(written(item.task, ignored)) if ignored else "",
        "text": cut(answer) if isinstance(answer, str) else None,
        "discarded": [[cut(text), cut(reason)] for text, reason in answers.pieces(item)[:_PIECES]],
        "facts": _facts(record),
    }


def _facts(record: Mapping[str, Any]) -> list[str]:
    """The recorded facts of one answer, in words."""
    named = {"prompt_tokens": "prompt tokens", "completion_tokens": "completion tokens"}
    facts = [f"{record[key]:,} {name}" for key, name in named.items() if isinstance(record.get(key), int | float)]
    return [*facts, f"ended by: {cut(str(record['finish_reason']))}"] if record.get("finish_reason") else facts


def _snippet(item: Item) -> str:
    turns = new_turns(item)
    text = " / ".join([turn.text for turn in turns if turn.speaker != "Builder"] or [turn.text for turn in turns])
    return text if len(text) <= _SNIPPET else f"{text[: _SNIPPET - 1]}…"


def _searched(item: Item, runs: Iterable[Answers]) -> str:
    """The text that a search for an item looks through, in lower case: its id, what was said, and what the models answered."""
    texts = [turn.text for turn in item.history if isinstance(turn, Utterance)]
    texts += [item.instruction] if isinstance(item, HexagonsItem) else []
    records = (answers.records.get(item.id, {}) for answers in runs)
    answered = [str(record.get(key) or "") for record in records for key in ("text", "error")]
    return "\n".join([item.id, *texts, *map(cut, answered)]).lower()
