"""From runs to a report: the only module that knows both run folders and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from eval.attributes import group_scores
from eval.compare import compare_runs
from eval.finishing import what_was_lost
from eval.report.html import CHUNK, ReportedRun, ReportPage, cut, pack
from eval.score_run import Answers, Benchmark, score_answers, score_items
from harness.corpora.item import HexagonsItem, Item, MinecraftItem, Utterance, new_turns
from harness.drawing.items import item_pictures
from harness.drawing.terminal import written
from harness.runs.asked import NAME, Asked, read_asked
from harness.worlds.minecraft import net_actions

_SETTINGS = (
    *("model", "adapter", "engine", "shots", "context", "format", "frame", "temperature", "constrained", "seed", "limit"),
    *("max_new_tokens", "context_length"),
)
"""The settings of a run that the report shows."""
_TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
_SNIPPET = 160
"""Characters of the request that the list shows."""

_PIECES = 50
"""Most discarded pieces of an answer that are shown."""


def collect(
    runs: dict[str, Answers],
    benchmark: Benchmark,
    *,
    limit: int | None = None,
    seed: int = 0,
    step: Callable[[int, int], None],
) -> ReportPage:
    """Score, compare and draw runs. `limit` is the number of items in the page's browser; the tables cover all of them.

    `step` is called after each item with the number of items that are done, and of all.
    """
    asked = {name: dict(read_asked(answers.file.with_name(NAME))) for name, answers in runs.items()}
    scored = {name: score_items(answers, benchmark) for name, answers in runs.items()}
    groups = {name: group_scores(answers, benchmark, seed=seed) for name, answers in runs.items()}
    reported = [
        ReportedRun(
            name=name,
            facts=_settings(answers),
            cost=_cost(answers, asked[name]),
            scores=score_answers(answers, benchmark, rollout=True, seed=seed),
            items=scored[name],
            subsets=groups[name].tables,
            labels=groups[name].labels,
        )
        for name, answers in runs.items()
    ]
    first = next(iter(runs.values()))
    chosen = {item.id: item for item in benchmark.choose(first).items}
    items = [chosen[item.id] for item in first.items if item.id in chosen][:limit]
    repaired = {item.id for item in first.items if item.id in chosen and item.after != chosen[item.id].after}
    chunks = []
    for start in range(0, len(items), CHUNK):
        chunk: dict[str, Any] = {"items": [], "runs": [[] for _ in runs]}
        for number, item in enumerate(items[start : start + CHUNK], start=start + 1):
            chunk["items"].append(_shared(item, item.id in repaired))
            for entries, (name, answers) in zip(chunk["runs"], runs.items(), strict=True):
                entries.append(_made(item, answers, asked[name].get(item.id)))
            step(number, len(items))
        chunks.append(pack(chunk))
    return ReportPage(
        runs=reported,
        comparison=compare_runs(first.task, scored, changed=5, seed=seed) if len(runs) > 1 else None,
        listed=[(item.id, _snippet(item)) for item in items],
        chunks=chunks,
        texts=pack([_searched(item, runs.values()) for item in items]),
    )


def _shared(item: Item, repaired: bool) -> dict[str, Any]:
    """The details that all runs share: the turns (with the speaker "" for actions), the gold actions and their picture. The
    benchmark may have repaired the gold state."""
    turns = [
        [turn.speaker, turn.text] if isinstance(turn, Utterance) else ["", written(item.task, turn.actions) or "nothing"]
        for turn in item.history
    ]
    if isinstance(item, HexagonsItem):
        turns.append(["Instructor", item.instruction])
    actions: Any = item.actions
    if repaired and isinstance(item, MinecraftItem):
        actions = sorted(net_actions(item.before, item.after), key=lambda action: (action.kind == "place", action.cell))
    note = "Gold repaired by the benchmark's annotation." if repaired else ""
    return {"turns": turns, "gold": written(item.task, actions), "picture": item_pictures(item)["gold"], "note": note}


def _made(item: Item, answers: Answers, asked: Asked | None) -> dict[str, Any]:
    """The details of one run's answer to an item."""
    record = answers.records.get(item.id)
    text, note = _prompt(record or {}, asked)
    details = {"prompt": text, "promptNote": note}
    if record is None:
        return details | {"problem": "The run holds no prediction for this item."}
    if record.get("error"):
        return details | {"problem": cut(f"No prediction, but an error: {record['error']}")}
    actions: Any = answers.predictions.actions[item.id]
    state, ignored = item.before.apply(actions)
    drawn = item_pictures(item, state)
    answer = record.get("text")
    facts = {key.replace("_", " "): record[key] for key in (*_TOKENS[:2], "finish_reason") if record.get(key)}
    return details | {
        "problem": "",
        "pictures": [drawn["predicted"], drawn["difference"]],
        "actions": cut(written(item.task, actions)),
        "ignored": cut(written(item.task, ignored)) if ignored else "",
        "text": cut(answer) if isinstance(answer, str) else None,
        "discarded": [[cut(text), cut(reason)] for text, reason in answers.pieces(item)[:_PIECES]],
        "facts": [cut(f"{label}: {value}") for label, value in facts.items()],
    }


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


def _settings(answers: Answers) -> dict[str, str]:
    """The run's main settings by label; empty for a predictions file outside a run's folder."""
    return {key.replace("_", " "): str(answers.settings[key]) for key in _SETTINGS if key in answers.settings}


def _cost(answers: Answers, asked: Mapping[str, Asked]) -> dict[str, str]:
    """The cost of the answers and what was lost, as far as recorded."""
    records = list(answers.records.values())
    cost = {}
    for key in _TOKENS:
        if counts := [record[key] for record in records if isinstance(record.get(key), int)]:
            cost[key.replace("_", " ")] = f"{sum(counts):,} ({sum(counts) / len(counts):,.0f} an answer)"
    times = [asked[item_id].seconds for item_id in answers.records if item_id in asked]
    if seconds := sum(times):
        cost["seconds"] = f"{seconds:,.1f} ({len(times) / seconds:,.1f} items a second)"
    return cost | what_was_lost(records) | {"errors": f"{sum('error' in record for record in records):,}"}


def _prompt(record: Mapping[str, Any], asked: Asked | None) -> tuple[str | None, str]:
    """The prompt of an answer, None if there is none, and a note on it."""
    if asked is None or asked.prompt is None:
        return None, "There is no prompt." if asked else "The prompt was not recorded."
    tokens = record.get("prompt_tokens")
    parts = [f"{tokens:,} tokens" if isinstance(tokens, int) and tokens else f"{len(asked.prompt):,} characters, as text"]
    return asked.prompt, "; ".join([*parts, *(f"{label}: {lost}" for label, lost in what_was_lost([record]).items())])
