"""Reads instructions with compass directions in the frame of the direction that the builder is told to face, or of north.

Compass words are replaced by those for a builder who looks north in that frame. Before that, words that Minecraft's Architects
do not use are replaced by the words that they use (compass.txt).
"""

import re
from pathlib import Path

from harness.baselines.parser.notation import entries
from harness.corpora.item import MinecraftItem, Utterance
from harness.tasks.registry import TASKS
from harness.worlds.minecraft import Pose

_QUARTERS = ("south", "west", "north", "east")
"""The directions by quarter turns of yaw."""
_NORTH = _QUARTERS.index("north")
_NAMES = "north|south|east|west"
_FACING = re.compile(
    r"\b(?:while |when |by |still |you are |stand(?:ing)? )*(?:fac(?:e|ing|es)|looking|look)\b(?: to| towards?| at)?(?: the)? "
    rf"({_NAMES})\b(?: side| direction)?[ ,]*"
)
_COMPASS = re.compile(rf"({_NAMES})[- ]?(?:ern)?[- ]?(most|wards?)?(?![a-rt-z])")


def _spellings() -> dict[str, str]:
    text = (Path(__file__).parent / "compass.txt").read_text(encoding="utf-8")
    return {spelling: name.replace("_", " ") for name, _, words in entries(text) for spelling, _ in words}


SPELLINGS = _spellings()
_WORD = re.compile(r"[a-z]+")
_DONE = re.compile(r"(^|[.,;!\n] *|\bi |\band |\bthen )(?:i )?(placed|built|removed|destroyed|deleted|broke|added|put)\b")
_ORDERS = {"placed": "place", "added": "place", "put": "place", "built": "build"}
"""The order for a builder's report of having done something; the other verbs report removals."""
_SENTENCE = re.compile(r"[.;!?\n]+")
_VERB = re.compile(r"\b(?<!to )(?<!should )(?<!will )(?<!you )(?<!i )(?:place|remove|build|replace|fill) ")
_BEFORE = re.compile(r"[\s,]*(?:\b(?:and|then)[\s,]+)*$")
_GOING = re.compile(r"^[\s,]*(?:go|walk|head|jump|turn|fly|run|step|locate|find|move (?:north|south|east|west|to))\b")
"""A sentence that says where to go, not what to build."""
_BORDER = re.compile(rf"\b({_NAMES}) walls?\b")


def told_pose(item: MinecraftItem) -> Pose:
    """The pose in which an item is read: its own, or, with compass directions, turned as the instruction says or to the north."""
    if not TASKS[item.task].compass:
        return item.pose
    return item.pose._replace(yaw=90.0 * _QUARTERS.index(_told(item)))


def _told(item: MinecraftItem) -> str:
    texts = (turn.text.lower() for turn in item.history if isinstance(turn, Utterance))
    found = next((match for text in texts if (match := _FACING.search(text))), None)
    return found[1] if found else "north"


def as_if_north(text: str, pose: Pose) -> str:
    """The text with its compass words, each a separate word, as if the direction that this pose faces were north, and without the
    words that tell where to look; each order is a sentence."""

    def said(match: re.Match[str]) -> str:
        name = _QUARTERS[(_QUARTERS.index(match[1]) - pose.quarter + _NORTH) % 4]
        return f" {name} most " if match[2] == "most" else f" {name} "

    asked = _DONE.sub(lambda match: f"{match[1]} {_ORDERS.get(match[2], 'remove')}", _FACING.sub(" ", text.lower()))
    even = _WORD.sub(lambda match: SPELLINGS.get(match[0], match[0]), _BORDER.sub(r"\1 edge", asked))
    return " . ".join(_orders(sentence) for sentence in _SENTENCE.split(_COMPASS.sub(said, even)))


def _orders(sentence: str) -> str:
    """A sentence with a full stop before each verb except the first, which keeps the words before it."""
    verbs = [match.start() for match in _VERB.finditer(sentence)]
    if not verbs:
        return "" if _GOING.match(sentence) else sentence
    first = _BEFORE.sub(" ", sentence[: verbs[0]])
    parts = [sentence[start:end] for start, end in zip(verbs, [*verbs[1:], len(sentence)], strict=True)]
    kept = "" if _GOING.match(first) else first.replace(",", " ")
    return kept + " . ".join(_BEFORE.sub("", part) for part in parts)
