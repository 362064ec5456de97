"""Reads the orders of simulated games as a builder who only knows English would.

Written independently of the simulators, with its own geometry and lexicon: it sees the messages, the blocks and the
builder's pose. An order with an unknown word, or that fits no block or several, is refused (`Unclear`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from harness.corpora.item import Executed, MinecraftItem, Utterance
from harness.worlds.minecraft import Action, Pose

Cell = tuple[int, int, int]
Blocks = dict[Cell, str]
Lexicon = tuple[tuple[str, str], ...]

EYES = 1.62


class Unclear(Exception):
    """The words have no meaning here, or more than one."""


class Reading(NamedTuple):
    """What an order means: net actions, the blocks it goes by, and whether it says that what it places touches nothing."""

    actions: frozenset[Action]
    references: tuple[Cell, ...]
    floats: bool


class Token(NamedTuple):
    """`words` are the groups of its pattern, or all its words if that has none; `named` those with names."""

    kind: str
    words: tuple[str, ...]
    named: dict[str, str] = {}


class Told(NamedTuple):
    """An order, and the builder's question about it with its answer; "" without one. All in lower case."""

    order: str
    question: str
    answer: str


# --- what is said, and what was done ---


def order_of(item: MinecraftItem) -> Told:
    """The order among the last messages."""
    said: list[Utterance] = []
    for turn in reversed(item.history):
        if isinstance(turn, Executed):
            break
        said.insert(0, turn)
    texts = [utterance.text.lower() for utterance in said]
    asked = len(said) > 2 and said[-2].speaker == "Builder" and said[-3].speaker == "Architect"
    if asked and re.search(r"\b(color|side|where|which|direction|how)\b", texts[-2]):
        return Told(*texts[-3:])
    return Told(texts[-1], "", "")


def carry_out(blocks: Blocks, actions: Sequence[Action]) -> Blocks | None:
    """The blocks after the actions, None if one of them cannot be carried out."""
    now = dict(blocks)
    for kind, color, x, y, z in actions:
        cell = x, y, z
        inside = -5 <= x <= 5 and 1 <= y <= 9 and -5 <= z <= 5
        if kind == "remove" and now.get(cell) == color:
            del now[cell]
        elif kind == "place" and color and inside and cell not in now and rests(now, cell):
            now[cell] = color
        else:
            return None
    return now


def rests(blocks: Blocks, cell: Cell) -> bool:
    """Whether a cell is on the ground or beside, above or below a block."""
    return cell[1] == 1 or any(sum(abs(a - b) for a, b in zip(cell, other, strict=True)) == 1 for other in blocks)


def just_placed(item: MinecraftItem) -> tuple[Cell, ...]:
    """The cells of the blocks that the last run of actions left there, in the order of placing."""
    run = next((turn for turn in reversed(item.history) if isinstance(turn, Executed)), None)
    done = [action for action in run.actions if isinstance(action, Action)] if run else []
    cells = dict.fromkeys((action.x, action.y, action.z) for action in done if action.kind == "place")
    there = blocks_of(item)
    return tuple(cell for cell in cells if cell in there)


def blocks_of(item: MinecraftItem) -> Blocks:
    return {(x, y, z): color for x, y, z, color in item.before.blocks()}


# --- geometry ---


def heading(pose: Pose) -> tuple[int, int]:
    """The builder's direction as (x, z), to the nearest of the four. Yaw 0 is +z and 90 is -x."""
    radians = math.radians(pose.yaw)
    x, z = -math.sin(radians), math.cos(radians)
    return (0, round(z / abs(z))) if abs(z) > abs(x) else (round(x / abs(x)), 0)


def moved(cell: Cell, pose: Pose, left: int, up: int, away: int) -> Cell:
    """The cell moved left, up and away as seen from the pose."""
    ahead = heading(pose)
    aside = ahead[1], -ahead[0]
    return cell[0] + left * aside[0] + away * ahead[0], cell[1] + up, cell[2] + left * aside[1] + away * ahead[1]


def seen(cell: Cell, pose: Pose) -> tuple[int, int, int]:
    """(left, up, away) of a cell from the middle of the region."""
    ahead = heading(pose)
    return cell[0] * ahead[1] - cell[2] * ahead[0], cell[1], cell[0] * ahead[0] + cell[2] * ahead[1]


def far(cell: Cell, pose: Pose) -> float:
    """The distance from the builder's eyes to the middle of a cell."""
    x, y, z = (a + 0.5 for a in cell)
    return math.dist((pose.x, pose.y + EYES, pose.z), (x, y, z))


# --- words ---

COLOR = "red|orange|yellow|green|blue|purple"
BLOCK = "blocks?|bricks?|cubes?"
NOUN = f"{BLOCK}|ones?"
NUMBERS = {word: n for n, word in enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine"), start=1)}
NUMBER = rf"\d+|{'|'.join(NUMBERS)}"

DIRECTIONS: dict[str, tuple[int, int, int]] = {
    r"in front(?: of)?|closer to you|towards you|on your side|on the side (?:closest|nearest) to you": (0, 0, -1),
    r"(?:closest|nearest) to you": (0, 0, -1),
    r"behind|farther from you|away from you|on the far side|on the side away from you": (0, 0, 1),
    r"(?:farthest|furthest) from you": (0, 0, 1),
    r"(?:(?:to|on) the|immediately)? ?left(?! ?most)(?: side)?(?: of)?": (1, 0, 0),
    r"(?:(?:to|on) the|immediately)? ?right(?! ?most)(?: side)?(?: of)?": (-1, 0, 0),
    r"on top(?: of)?|(?:directly )?above|higher|up|on": (0, 1, 0),
    r"(?:directly )?below|under|underneath|beneath|down|lower": (0, -1, 0),
}

EXTREMES: dict[str, Callable[[Cell, Pose], Sequence[float]]] = {
    "highest|topmost|top": lambda cell, pose: [cell[1]],
    "lowest|bottom": lambda cell, pose: [-cell[1]],
    "left ?most|farthest to the left": lambda cell, pose: [seen(cell, pose)[0]],
    "right ?most|farthest to the right": lambda cell, pose: [-seen(cell, pose)[0]],
    # Along the builder's axis and in a straight line: where the two differ, the words do not say which is meant.
    "(?:closest|nearest)(?: to you)?": lambda cell, pose: [-seen(cell, pose)[2], -far(cell, pose)],
    "(?:farthest|furthest)(?: from you)?": lambda cell, pose: [seen(cell, pose)[2], far(cell, pose)],
}
_BEFORE = "highest|topmost|top|lowest|bottom|left ?most|right ?most|closest|nearest|farthest|furthest"
_AFTER = "farthest to the left|farthest to the right|(?:closest|nearest) to you|(?:farthest|furthest) from you"

_FILL = (
    "please|can|could|you|place|put|add|set|drop|build|make|get|start|begin|with|by|placing|let's|lets|have|to|first|we"
    "|our|i|i'd|another|need|want|like|would|see|also|then|and|next|now|ok|okay|alright|great|so|go|goes|should|comes|come|there"
    "|is|be|needs|of|continue|keep|going|try|ahead|from|counting|starting|again|oops|sorry|my|mistake|made|a|was|wrong|has"
)

LEXICON: Lexicon = (
    ("floats", r"it floats|floating(?: in the air)?|it will float|it hangs in the air"),
    (
        "fill",
        r"to start|the next (?:one|block|brick|cube) is|go on with|our first (?:block|brick|cube) is|another one|one more",
    ),
    ("fill", r"the plan says|my picture shows|that was wrong|there (?:should be|needs to be)|on the ground"),
    ("remove", r"remove|delete|break|take away|take it away|get rid of|destroy|pick up|take out|be removed"),
    ("remove", r"we (?:don't|do not) need|any ?more"),
    ("target", rf"(?:a|an|one|another) ({COLOR}) (?:{NOUN})"),
    ("target", r"a (?:block|brick|cube)()"),
    ("block", rf"the (?:({_BEFORE}) )?({COLOR}) (?:{NOUN})(?: ({_AFTER}))?"),
    ("block", rf"(?:the only|that)() ({COLOR}) (?:{NOUN})()"),
    ("last", rf"the last (?:{NOUN})(?: you placed)?|the (?:{NOUN}) you just placed|the new (?:{NOUN})"),
    ("only", rf"the only (?:{BLOCK})|the (?:{BLOCK}) that is there|(?:the|that) (?:{BLOCK})"),
    ("last", r"that one|that|it|from there"),
    ("corner", r"(?:on the ground )?in the (left|right) corner"),
    ("edge", r"(?:on the ground )?(?:in|at) the middle of the (left|right) (?:edge|side)"),
    ("edge", r"in the middle of the edge()"),
    ("center", r"(?:right )?(?:in|at) the (?:center|middle)(?: of the (?:board|grid|region))?"),
    ("you", r"(?:(?:right|directly) )?(in front of you|straight ahead of you|to your left|to your right)(?:, next to you)?"),
    ("diagonal", r"diagonally (?:from|to)|diagonal to"),
    ("number", rf"({NUMBER})(?: (?:spaces?|cells?|levels?|{BLOCK}))?"),
    *(("direction", f"({pattern})") for pattern in DIRECTIONS),
    ("fill", _FILL),
)


@cache
def _compiled(lexicon: Lexicon) -> list[tuple[str, re.Pattern[str]]]:
    return [(kind, re.compile(rf"(?:{pattern})(?!['\w])")) for kind, pattern in lexicon]


def tokens(text: str, lexicon: Lexicon = LEXICON) -> list[Token]:
    """The words of a message as tokens, without the filling ones. Raises Unclear at a word that is not in the lexicon."""
    found, at = list[Token](), 0
    while at < len(text):
        if text[at] in " ,.:?!":
            at += 1
            continue
        match, kind = next(((m, kind) for kind, pattern in _compiled(lexicon) if (m := pattern.match(text, at))), (None, ""))
        if match is None:
            raise Unclear(f"unknown words: {text[at:]!r}")
        if kind != "fill":
            found.append(Token(kind, match.groups() or (match[0],), match.groupdict()))
        at = match.end()
    return found


def direction(words: str) -> tuple[int, int, int]:
    return next(step for pattern, step in DIRECTIONS.items() if re.fullmatch(pattern, words))


def offset(found: Sequence[Token]) -> tuple[int, int, int]:
    """(left, up, away) that the numbers and directions add up to; a direction said twice is one."""
    total = [0, 0, 0]
    n: int | None = None
    for kind, words, _ in found:
        if kind == "number":
            n = int(words[0]) if words[0].isdigit() else NUMBERS[words[0]]
        elif kind == "direction":
            step = direction(words[0])
            axis = next(axis for axis in range(3) if step[axis])
            if total[axis] and total[axis] != step[axis]:
                raise Unclear(f"two ways along one axis: {found}")
            total[axis], n = step[axis] * (n or 1), None
    if n is not None or not any(total):
        raise Unclear(f"no direction: {found}")
    if any(token.kind == "diagonal" for token in found) and sum(map(abs, total)) < 2:
        raise Unclear(f"not diagonal: {found}")
    return total[0], total[1], total[2]


# --- which block ---


def meant(token: Token, item: MinecraftItem) -> Cell:
    """The one block that an expression picks out. Raises Unclear where there is none, or more than one."""
    blocks = blocks_of(item)
    if token.kind == "last":
        placed = just_placed(item)
        if not placed or (len(placed) > 1 and "last" not in token.words[0]):
            raise Unclear(f"{token.words[0]!r}: {len(placed)} blocks were placed just now")
        return placed[-1]
    if token.kind == "only":
        fit = list(blocks)
    else:
        before, color, after = token.words
        fit = [cell for cell, its in blocks.items() if its == color]
        if name := before or after:
            amount = next(amount for pattern, amount in EXTREMES.items() if re.fullmatch(pattern, name))
            fit = list(_most(fit, lambda cell: amount(cell, item.pose)))
    if len(fit) != 1:
        raise Unclear(f"{token} fits {fit}")
    return fit[0]


def _most(cells: Sequence[Cell], amounts: Callable[[Cell], Sequence[float]]) -> Iterator[Cell]:
    """The cells that have the most in some way of measuring."""
    rows = [amounts(cell) for cell in cells]
    best = [max(column) for column in zip(*rows, strict=True)]
    return (cell for cell, row in zip(cells, rows, strict=True) if any(a == b for a, b in zip(row, best, strict=True)))


# --- the whole order ---


def read(item: MinecraftItem) -> Reading:
    """What an item's order means. Raises Unclear if a builder would have to ask or guess."""
    text, _, answer = order_of(item)
    found = tokens(text)
    floats = any(token.kind == "floats" for token in found)
    its = [token for token in found if token.kind in ("block", "last", "only")]
    if any(token.kind == "remove" for token in found) or (its and not any(token.kind == "target" for token in found)):
        cell = meant(its[0], item)
        return Reading(frozenset({Action("remove", blocks_of(item)[cell], *cell)}), (cell,), floats)
    targets = [token for token in found if token.kind == "target"]
    if len(targets) != 1 or len(its) > 1:
        raise Unclear(f"{len(targets)} targets and {len(its)} references: {text!r}")
    color = targets[0].words[0] or color_in(answer)
    if place := next((token for token in found if token.kind in ("center", "corner", "edge")), None):
        cell = first_cell(place, found, item)
        return Reading(frozenset({Action("place", color, *cell)}), (), floats)
    if you := [token for token in found if token.kind == "you"]:
        cell = from_you(you, found, item)
        return Reading(frozenset({Action("place", color, *cell)}), (), floats)
    reference = meant(its[0] if its else Token("last", ("it",)), item)
    cell = moved(reference, item.pose, *offset(found))
    return Reading(frozenset({Action("place", color, *cell)}), (reference,), floats)


def from_you(you: Sequence[Token], found: Sequence[Token], item: MinecraftItem) -> Cell:
    """The ground cell ahead of the builder, or to its left or right; the builder must stand on the ground as well."""
    counts = [token.words[0] for token in found if token.kind == "number"]
    if len(you) != 1 or len(counts) > 1 or item.pose.y != 1.0 or any(token.kind in ("direction", "block") for token in found):
        raise Unclear(f"not said from the builder alone: {found}")
    n = int(counts[0]) if counts and counts[0].isdigit() else NUMBERS[counts[0]] if counts else 1
    feet = math.floor(item.pose.x), 1, math.floor(item.pose.z)
    side = {"to your left": n, "to your right": -n}.get(you[0].words[0], 0)
    return moved(feet, item.pose, side, 0, 0 if side else n)


def color_in(answer: str) -> str:
    colors = re.findall(rf"\b(?:{COLOR})\b", answer)
    if len(colors) != 1:
        raise Unclear(f"no color, or several, in the answer {answer!r}")
    return str(colors[0])


def first_cell(place: Token, found: Sequence[Token], item: MinecraftItem) -> Cell:
    """The cell on the ground of an empty region that is said to be in its middle, a corner or the middle of an edge."""
    if item.before.blocks():
        raise Unclear("said of the region, but there are blocks")
    side = {"left": 5, "right": -5}.get(place.words[0], 0)
    depth = [5 * direction(words[0])[2] for kind, words, _ in found if kind == "direction"]
    wanted = {"center": (0, 0), "corner": (1, 1), "edge": (bool(side), not side)}[place.kind]
    if (bool(side), len(depth)) != tuple(map(bool, wanted)):
        raise Unclear(f"not a place of the region: {found}")
    return moved((0, 1, 0), item.pose, side, 0, sum(depth))
