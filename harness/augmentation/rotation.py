"""Turned items: building games by quarter turns about the vertical axis, drawing steps by half a turn of the board.

Half a turn maps the HEXAGONS board onto itself: tile (row, column) goes to (9 - row, 17 - column), and rows, columns, lines and
rings stay what they are. Instructions turn, too: top becomes bottom, left becomes right, column 4 becomes column 15. Positions
change, and so does whatever is counted from an unnamed side. So an instruction is turned only if every one of its words is known
to mean the same, or the opposite, on the turned board; all others are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

from harness.corpora.item import Executed, HexagonsItem, MinecraftItem, Turn, Utterance
from harness.corpora.wording import NUMBERS, ORDINALS, ordinal_digits
from harness.worlds.hexagons import COLORS, COLUMNS, ROWS, Board, Paint
from harness.worlds.minecraft import turn_action


def turn_minecraft(item: MinecraftItem, quarters: int) -> MinecraftItem:
    """The item with its structures, pose, actions and history turned by `quarters` times 90 degrees, in the sense of rising yaw.

    All turn about the middle of cell (0, 0), so the blocks stay in the region, which is square, and the builder sees everything
    where it was. (The published augmented data turns the builder about a corner of that cell.)
    """

    def turned(run: Turn) -> Turn:
        if isinstance(run, Utterance):
            return run
        actions: tuple[Any, ...] = run.actions
        return Executed(tuple(turn_action(action, quarters) for action in actions), run.pose and run.pose.turned(quarters))

    before, after = item.before.turned(quarters), item.after.turned(quarters)
    actions, history = tuple(turn_action(action, quarters) for action in item.actions), tuple(map(turned, item.history))
    return replace(item, history=history, before=before, pose=item.pose.turned(quarters), actions=actions, after=after)


def turn_hexagons(item: HexagonsItem) -> HexagonsItem | None:
    """The item with boards, actions and words turned by half a turn, which takes tile i of the 180 to 179 - i.

    Actions are sorted by row and column, as in the release. None if `turn_words` is not sure of the instruction or of an
    earlier one, so that a step and its history always go together.
    """
    instruction = _said(item.instruction, item.actions)
    history: list[Turn] = []
    for turn, done in zip(item.history[::2], item.history[1::2], strict=True):
        if not isinstance(turn, Utterance) or not isinstance(done, Executed):
            return None
        text = _said(turn.text, done.actions)
        if text is None:
            return None
        history += [turn._replace(text=text), Executed(_turned(done.actions))]
    if instruction is None:
        return None
    before, after = (Board(board.cells[::-1, ::-1]) for board in (item.before, item.after))
    actions = _turned(item.actions)
    return replace(item, instruction=instruction, history=tuple(history), before=before, actions=actions, after=after)


def _said(text: str, actions: tuple[Any, ...]) -> str | None:
    return turn_words(text, frozenset(paint.column for paint in actions))


def _turned(actions: tuple[Any, ...]) -> tuple[Paint, ...]:
    paints = (Paint(ROWS - 1 - paint.row, COLUMNS - 1 - paint.column, paint.color) for paint in actions)
    # A stable sort: the last paint on a tile stays the last.
    return tuple(sorted(paints, key=lambda paint: paint.tile))


# --- words ---

_SIDES = {
    "above": "below",
    "highest": "lowest",
    "left": "right",
    "leftmost": "rightmost",
    "leftward": "rightward",
    "leftwards": "rightwards",
    "top": "bottom",
    "topmost": "bottommost",
    "up": "down",
    "upper": "lower",
    "uppermost": "lowermost",
    "upward": "downward",
    "upwards": "downwards",
}
OPPOSITES = {**_SIDES, **{new: old for old, new in _SIDES.items()}, **dict.fromkeys(("under", "underneath", "beneath"), "above")}
"""Words for places and directions, and the words that replace them."""

_SAFE = frozenset(files("harness.augmentation").joinpath("rotated_words.txt").read_text().split()) | frozenset(COLORS)
"""Words that mean the same on the turned board."""

_CELL = r"(?:tiles?|hexagons?|hex(?:es)?|cells?|spots?|spaces?|dots?|blocks?)"
_AXIS = r"(?:columns?|rows?)"
_ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{'|'.join(filter(None, ORDINALS))}|last)"
_NUMBER = rf"(?:\d{{1,2}}|{'|'.join(sorted(NUMBERS[1:], key=len, reverse=True))})"
_AND = r"(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)"
_SIDE = r"(?P<side>left|right|top|bottom)"
_FROM = rf"\s*,?\s*\(?(?:(?:counting|starting|going)\s+)?from\s+(?:the\s+)?(?:far\s+|very\s+)?{_SIDE}(?:\s+(?:side|edge))?"
_ORDINALS = rf"{_ORDINAL}(?:{_AND}{_ORDINAL})*"
_NUMBERS = rf"{_NUMBER}(?:{_AND}{_NUMBER})*"
_COLOR = "|".join(COLORS)

#: Words before left and right that make them sides, not "what remains", "exactly" or "correct".
_SIDEWAYS = r"(?:the|its|top|bottom|upper|lower|up|down|far|to|and|or|from|diagonally|go|going|move|moving)"
_ABUSED = r"(?:over|blank|empty|white|open|off|out|next|above|below|under|beneath|underneath|where|after|away|now|there|here|in)"
_WAY_UP = r"(?:diagonally|straight|go|going|move|moving|directly|and|vertically|tiles?|hexes|spaces?|spots?|cells?|hexagons?)"

_REFUSED = re.compile(
    rf"\b(?:every|each)\s+(?:other|{_ORDINAL})\b|\bon\s+top\b|\bto\s+(?:be\s+)?left\b"
    rf"|\b(?:middle|center)\s+{_AXIS}\b|\b{_CELL}\s+(?:#|number\s+)?{_NUMBER}\b|\bother\s+{_AXIS}\b"
    rf"|\b(?:{_COLOR})(?:\s*[,/]\s*|\s+(?:and|then)\s+|\s*,\s*(?:and|then)\s+)(?:{_COLOR})\b|\bstart(?:ing)?\s+of\b"
)
"""Phrases that count from an unnamed side, or paint in an unstated order."""

Rule = Callable[[re.Match[str]], str | None]


def _swap(word: str) -> str:
    new = OPPOSITES[word.lower()]
    return new.upper() if word.isupper() else new.capitalize() if word[:1].isupper() else new


def _swap_side(match: re.Match[str]) -> str:
    start, end = (place - match.start() for place in match.span("side"))
    return f"{match[0][:start]}{_swap(match['side'])}{match[0][end:]}"


def _swap_last(match: re.Match[str]) -> str:
    return f"{match[1]}{_swap(match[2])}"


def _after(words: str) -> Rule:
    """A rule for a word that is a direction only after certain others."""
    before = re.compile(rf"\b{words}[\s-]+$", re.IGNORECASE)
    return lambda match: _swap(match[0]) if before.search(match.string, 0, match.start()) else None


def _keep(match: re.Match[str]) -> str:
    return match[0]


_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), rule)
    for pattern, rule in (
        (r"[\s.,;:!()]+", _keep),
        (rf"{_ORDINALS}\s+(?:{_CELL}|{_AXIS}|ones?){_FROM}\b", _swap_side),
        (rf"{_ORDINALS}{_FROM}\b", _swap_side),
        (rf"(?:{_CELL}|{_AXIS})\s+{_NUMBERS}{_FROM}\b", _swap_side),
        (rf"({_ORDINAL}\s+(?:{_CELL}\s+)?)(up|down)\b(?!\s+to\b)", _swap_last),
        (rf"steps?\s+{_NUMBERS}\b", _keep),
        (
            rf"{_NUMBER}\s+(?:(?:more|other|consecutive|blank|white|empty|adjacent|diagonal|vertical|{_COLOR})\s+)*"
            rf"(?:{_CELL}|{_AXIS}|lines?|times|circles?|rings?|flowers?|diagonals|sides|more|others)\b",
            _keep,
        ),
        (r"next\s+to\b", _keep),
        (
            rf"next\s+(?:{_NUMBER}\s+)?(?:(?:{_COLOR})\s+)?{_CELL}"
            r"(?=\s+(?:(?:directly|diagonally|straight)\s+)?(?:above|below|beneath|under|up|down|to\s+the\s+(?:left|right))\b)",
            _keep,
        ),
        (r"(?:begin|beginning|start|end)\s+(?:at|with|from|in|on)\b", _keep),
        (r"previous\s+steps?\b", _keep),
        (r"((?:the\s+)?)(top|bottom|left|right)[\s-]most\b", lambda match: f"{match[1]}{_swap(match[2])}most"),
        (rf"(left|right)\b(?!\s+{_ABUSED}\b)", _after(_SIDEWAYS)),
        (r"(up|down)\b(?!\s+(?:to|until|with|the|all)\b)", _after(_WAY_UP)),
        (r"()(up|down)(?=(?:\s+and\s+|[\s-]*)(?:to\s+the\s+)?(?:left|right)\b)", _swap_last),
        (r"()(left|right)(?=\s+(?:to|and)\s+(?:left|right)\b|\s+(?:corner|side|edge|column|half)\b)", _swap_last),
        (rf"()({'|'.join(word for word in OPPOSITES if word not in ('left', 'right', 'up', 'down'))})\b", _swap_last),
    )
)
#: Excludes a column followed by words that name the side to count from in a way that no rule covers.
_SIDED = r"(?!\W*(?:\w+\s+)?(?:from|on|to|toward|towards|at)\b[^.;,]{0,12}\b(?:left|right))"
_BY_NUMBER = rf"(columns?\s+(?:#\s*|number\s+)?)({_NUMBERS})()\b(?!\s*(?:-|to\b|through\b)){_SIDED}"
_COLUMNS = {
    re.compile(rf"()({_ORDINALS})(\s+columns?)\b{_SIDED}", re.IGNORECASE): _ORDINAL,
    re.compile(_BY_NUMBER, re.IGNORECASE): _NUMBER,
}
_ARTICLE = re.compile(rf"\b(a)n?(?=\s+(u)?)(\s+(?:{'|'.join(OPPOSITES)})\b)", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*", re.IGNORECASE)


@lru_cache(maxsize=20_000)
def turn_words(text: str, columns: Collection[int]) -> str | None:
    """An instruction in words for the turned board; None if they are uncertain.

    `columns` are the columns (from 0) that the step paints in: a column number without a side is counted from the left, from 1,
    if the step paints in that column; otherwise the instruction is uncertain.
    """
    if _REFUSED.search(text.lower()):
        return None
    pieces: list[str] = []
    at = 0
    while at < len(text):
        piece, at = _piece(text, at, columns)
        if piece is None:
            return None
        pieces.append(piece)
    return _ARTICLE.sub(lambda match: f"{match[1]}{'n' if match[2] else ''}{match[3]}", "".join(pieces))


def _piece(text: str, at: int, columns: Collection[int]) -> tuple[str | None, int]:
    """The replacement of the words at a position, None if it is uncertain, and the position of the next words."""
    for pattern, rule in _RULES:
        if match := pattern.match(text, at):
            return rule(match), match.end()
    for pattern, one in _COLUMNS.items():
        if match := pattern.match(text, at):
            numbers = _mapped(match[2], one, columns)
            return numbers and f"{match[1]}{numbers}{match[3]}", match.end()
    if (match := _WORD.match(text, at)) and match[0].lower() in _SAFE:
        return match[0], match.end()
    return None, at


def _mapped(numbers: str, one: str, columns: Collection[int]) -> str | None:
    """Column numbers, counted from the left, for the turned board; None if nothing is painted in one of the columns."""
    columns_said = [_number(match[0].lower()) for match in re.finditer(rf"\b{one}\b", numbers, re.IGNORECASE)]
    if not all(n - 1 in columns for n in columns_said):
        return None
    return re.sub(rf"\b{one}\b", lambda match: _opposite(match[0]), numbers, flags=re.IGNORECASE)


def _number(word: str) -> int:
    if word == "last":
        return COLUMNS
    if word in NUMBERS:
        return NUMBERS.index(word)
    return ORDINALS.index(word) if word in ORDINALS else int(re.sub(r"\D", "", word))


def _opposite(word: str) -> str:
    n = COLUMNS + 1 - _number(word.lower())
    if word.isdigit():
        return str(n)
    if word[0].isdigit():
        return ordinal_digits(n)
    words = NUMBERS if word.lower() in NUMBERS else ORDINALS
    new = {"first": "last", "last": "first"}.get(word.lower()) or words[n]
    return new.capitalize() if word[0].isupper() else new
