"""Why an answer changes nothing, or less than was asked for, in words for the person who asked."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.corpora.item import Item
from harness.runs.answering import Answer
from serialization.formats.answer import losses

_LONGEST = 200
"""The most characters of a program or a text that are quoted."""


def why(item: Item, answer: Answer) -> str | None:
    """Sentences about what was not understood or not carried out; None if everything was done.

    If there is no such reason and the answer changes nothing, a sentence says how the instruction was read.
    """
    notes = answer.notes
    after, ignored = item.before.apply(answer.actions)
    parts = [_lost(notes.get("discarded") or ())]
    if ignored:
        some = "None" if len(ignored) == len(answer.actions) else f"{len(answer.actions) - len(ignored)}"
        parts.append(f"{some} of its {_count(len(answer.actions), 'action')} can be carried out.")
    if not any(parts) and after == item.before:
        parts.append(_read(answer))
    return " ".join(filter(None, parts)) or None


def _lost(pieces: Sequence[Sequence[str]]) -> str:
    """A sentence about the parts of a language model's text that were discarded, except text that may surround an answer."""
    lost = [(text, reason) for text, reason in pieces if losses([(text, reason)])]
    if not lost:
        return ""
    (text, reason), more = lost[0], len(lost) - 1
    rest = f", and {_count(more, 'piece')} more" if more else ""
    return f"Not understood of its answer: {_quoted(text)} ({reason}){rest}."


def _read(answer: Answer) -> str:
    """A sentence about how a player read an instruction that it answered without a change."""
    notes: Mapping[str, Any] = answer.notes
    if program := notes.get("program"):
        return f"It read {_quoted(program)}, which changes nothing here."
    if program is not None:
        return "It understood nothing of it."
    if text := notes.get("text"):
        return f"It answered {_quoted(text)}, which changes nothing here."
    if answer.actions:
        return "What it did changes nothing here."
    return "It answered with nothing."


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return f'"{text[:_LONGEST]}{"..." * (len(text) > _LONGEST)}"'


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
