"""The Builder's side of a conversation: what it asks before it acts, and how it says what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.baselines.parser.minecraft.words import ClauseInContext, read_turn
from harness.corpora.item import MinecraftItem, since_actions
from harness.corpora.wording import joined
from harness.worlds.minecraft import Action, Structure

WHICH_COLOR = "Which color should it be?"
WHERE = "Where should it go?"
QUESTIONS = (WHICH_COLOR, WHERE)
NOT_UNDERSTOOD = "Sorry, I did not understand that. Can you say it in other words?"

_PLACING = frozenset({"place", "build", "start", "begin", "extend", "continue"})
_SAME = frozenset({"another", "same", "more", "those", "them", "it", "that", "again", "repeat", "copy", "mirror", "move"})
"""Words that take a color, or a place, from the blocks that are there."""
_PLACES = frozenset((Path(__file__).parent / "place_words.txt").read_text().split())
"""Words that tell where something is."""


def question(item: MinecraftItem) -> str | None:
    """What a Builder has to ask before it can place what the Architect wants; None if nothing is missing.

    It asks for the color if no word tells it, and, once something stands, for the place if no word tells it. It does not repeat
    a question that it has asked since its last actions.
    """
    clauses = read_turn(item.history)
    questions = {turn.text for turn in since_actions(item.history) if turn.speaker == "Builder"}
    if not any(map(_places, clauses)):
        return None
    words: frozenset[str] = frozenset().union(*(clause.texts for clause in clauses))
    if WHICH_COLOR not in questions and not any(clause.colors for clause in clauses) and not words & _SAME:
        return WHICH_COLOR
    if WHERE not in questions and len(item.before) and not words & (_PLACES | _SAME):
        return WHERE
    return None


def _places(clause: ClauseInContext) -> bool:
    """Whether a clause asks for blocks: by a verb, or by naming blocks or colors and no other verb."""
    placing = clause.texts & _PLACING or (clause.colors and clause.numbers)
    return bool(placing) and "remove" not in clause.texts


def reply_text(actions: Sequence[Action], ignored: Sequence[Any], before: Structure) -> str:
    """A few sentences about some actions: what was placed and removed, and how many failed."""
    if not actions:
        return NOT_UNDERSTOOD
    done = [action for action in actions if action not in set(ignored)]
    placed = Counter(action.color or "" for action in done if action.kind == "place")
    there = {block[:3]: block.color for block in before.blocks()}
    removed = Counter(action.color or there.get(action.cell, "") for action in done if action.kind == "remove")
    parts = [f"{verb} {_listed(counts)}" for verb, counts in (("placed", placed), ("removed", removed)) if counts]
    sentences = [f"I {' and '.join(parts)}."] if parts else []
    if ignored:
        sentences.append(f"{len(ignored)} of {len(actions)} actions could not be carried out.")
    return " ".join(sentences)


def _listed(counts: Counter[str]) -> str:
    """Blocks by color, such as "2 red blocks and a blue block"."""
    names = [f"{'a' if n == 1 else n} {color + ' ' if color else ''}block{'s' * (n > 1)}" for color, n in counts.items()]
    names = [name.replace("a orange", "an orange") for name in names]
    return joined(names)
