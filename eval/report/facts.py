"""Facts from a run's settings and records, as labels and values for a reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eval.score_run import Answers
from harness.runs.asked import Asked
from serialization.formats.answer import losses

_LABELS = {
    "model": "model",
    "adapter": "adapter",
    "engine": "engine",
    "shots": "examples",
    "context": "context",
    "format": "answer format",
    "frame": "frame",
    "temperature": "temperature",
    "constrained": "held to the format",
    "seed": "seed",
    "limit": "only the first items",
    "max_new_tokens": "longest answer, tokens",
    "context_length": "context, tokens",
}
_SPOKEN = {None: "none", True: "yes", False: "no"}


def settings_facts(answers: Answers) -> dict[str, str]:
    """The run's main settings by label; empty for a predictions file outside a run's folder."""
    settings = answers.settings
    return {label: _spoken(settings[key]) for key, label in _LABELS.items() if key in settings}


def _spoken(value: Any) -> str:
    return _SPOKEN[value] if value is None or isinstance(value, bool) else str(value)


def cost_facts(answers: Answers, asked: Mapping[str, Asked]) -> dict[str, str]:
    """The cost of the answers and what was lost, as far as recorded."""
    records = list(answers.records.values())
    times = [asked[item_id].seconds for item_id in answers.records if item_id in asked]
    seconds = sum(times)
    ends = [record["finish_reason"] for record in records if "finish_reason" in record]
    return {
        "prompt tokens": _total(_numbers(records, "prompt_tokens")),
        "completion tokens": _total(_numbers(records, "completion_tokens")),
        "reasoning tokens": _total(_numbers(records, "reasoning_tokens")),
        "cached prompt tokens": _total(_numbers(records, "cached_tokens")),
        "seconds": f"{seconds:,.1f} ({len(times) / seconds:,.1f} items a second)" if seconds else "",
        "answers cut at the length limit": f"{ends.count('length'):,}" if ends else "",
        "answers ended while thinking": f"{ends.count('thinking'):,}" if "thinking" in ends else "",
        "turns of history left out": _lost(records, "dropped_history"),
        "examples left out": _lost(records, "dropped_shots"),
        "answers with parts that are not actions": _unread(answers),
        "errors": f"{sum('error' in record for record in records):,}",
    }


def _numbers(records: Iterable[Mapping[str, Any]], key: str) -> list[float]:
    values = (record.get(key) for record in records)
    return [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]


def _total(values: Sequence[float]) -> str:
    return f"{sum(values):,.0f} ({sum(values) / len(values):,.0f} an answer)" if values else ""


def _lost(records: Sequence[Mapping[str, Any]], key: str) -> str:
    lost = _numbers(records, key)
    return f"{sum(lost):,.0f} in {sum(n > 0 for n in lost):,} prompts" if lost else ""


def _unread(answers: Answers) -> str:
    """The number of answers that lost more than what may surround an answer; empty if it was not recorded."""
    recorded = [item for item in answers.items if "discarded" in answers.records.get(item.id, ())]
    return f"{sum(bool(losses(answers.pieces(item))) for item in recorded):,}" if recorded else ""


def prompt_notes(answers: Answers, asked: Mapping[str, Asked]) -> list[str]:
    """Why no prompt is shown, if none is."""
    if any(one.prompt is not None for one in asked.values()):
        return []
    if not answers.settings:
        return ["Its prompts are unknown: there is no run.yaml beside the predictions."]
    if "engine" not in answers.settings:
        return ["This run has no prompts: run.yaml describes none."]
    return ["Its prompts are unknown: the run does not hold them."]


def prompt_text(record: Mapping[str, Any], asked: Asked | None) -> tuple[str | None, str]:
    """The prompt of an answer, None if there is none, and a note on it."""
    if asked is None or asked.prompt is None:
        return None, "There is no prompt." if asked else "The prompt was not recorded."
    tokens = record.get("prompt_tokens")
    parts = [f"{tokens:,} tokens" if isinstance(tokens, int) and tokens else f"{len(asked.prompt):,} characters, as text"]
    parts += [f"{record['dropped_history']} turns of history left out"] if record.get("dropped_history") else []
    parts += [f"{record['dropped_shots']} examples left out"] if record.get("dropped_shots") else []
    return asked.prompt, "; ".join(parts)
