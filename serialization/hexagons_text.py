"""The two text formats of HEXAGONS: `triplets` and `grouped`. Both name a set of actions, at most one a tile.

`triplets` is the paper's and counts rows and columns from 0; `grouped` is ours and counts them from 1, as instructions do.
Parsers return the actions sorted by row and column; where a tile is named twice, the last one counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from harness.worlds.hexagons import CODES, COLORS, COLUMNS, ROWS, Paint, on_board
from serialization.constraint import Constraint
from serialization.parsed import MAX_CHARS, NOTHING, Discarded, Parsed, discard, scan

_COLOR = f"({'|'.join(COLORS)})"
_TRIPLET = re.compile(r"(?<![\w-])(-?\d{1,6})[ \t]{1,4}(-?\d{1,6})[ \t]{1,4}([A-Za-z]{2,12})(?!\w)")
TRIPLETS_REGEX = f"({NOTHING}|[0-9] (1[0-7]|[0-9]) {_COLOR}(, [0-9] (1[0-7]|[0-9]) {_COLOR})*)"

_ROW, _COLUMN = "(10|[1-9])", "(1[0-8]|[1-9])"
_ROW_LIST = f"{_ROW}(-{_ROW})?(,{_ROW}(-{_ROW})?)*"
_COLUMN_LIST = f"{_COLUMN}(-{_COLUMN})?(,{_COLUMN}(-{_COLUMN})?)*"
_GROUP = f"{_COLOR}: {_COLUMN_LIST} {_ROW_LIST}(; ({_COLOR}: )?{_COLUMN_LIST} {_ROW_LIST})*"
GROUPED_REGEX = f"({NOTHING}|{_GROUP})"
_LIST = r"\d{1,3}(?:-\d{1,3})?(?:,\d{1,3}(?:-\d{1,3})?)*"
_READ_GROUP = re.compile(rf"(?:([A-Za-z]{{2,12}}):[ \t]*)?({_LIST})[ \t]{{1,4}}({_LIST})")

TRIPLETS_CONSTRAINT = Constraint("regex", TRIPLETS_REGEX)
GROUPED_CONSTRAINT = Constraint("regex", GROUPED_REGEX)


def canonical(actions: Iterable[Paint]) -> tuple[Paint, ...]:
    """At most one action a tile (the last one), sorted by row and column."""
    return tuple(sorted({action.tile: action for action in actions}.values()))


def check_paint(row: int, column: int, color: str) -> Paint | str:
    """The action, or the reason why there is none."""
    if not on_board(row, column):
        return "off the board"
    return Paint(row, column, color) if color in CODES else "unknown color"


def write_triplets(actions: Sequence[Paint]) -> str:
    """`0 4 red, 0 5 blue`: 0-based row, column, color (the target of the paper's T5 model, section 6.2)."""
    return ", ".join(f"{a.row} {a.column} {a.color}" for a in canonical(actions)) or NOTHING


def parse_triplets(text: str) -> Parsed:
    parsed = scan(text, _TRIPLET, lambda m: check_paint(int(m[1]), int(m[2]), m[3].lower()))
    return parsed._replace(actions=canonical(parsed.actions))


def _ranges(numbers: Sequence[int]) -> str:
    """`0,2-5` for 0, 2, 3, 4, 5: ascending numbers with every run of three or more as a range."""
    pieces: list[str] = []
    start = 0
    for i, n in enumerate(numbers):
        if i + 1 == len(numbers) or numbers[i + 1] != n + 1:
            run = numbers[start : i + 1]
            pieces += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(k) for k in run]
            start = i + 1
    return ",".join(pieces)


def write_grouped(actions: Sequence[Paint]) -> str:
    """`red: 3,5 1-10; 7 2; blue: 1 1`: for each color, columns that share the same rows, then those rows, counted from 1.

    Every column of a piece goes with every row of it. Colors come in the order of the release's codes, pieces of one color by
    their first column.
    """
    rows: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for action in canonical(actions):
        rows[action.color][action.column + 1].append(action.row + 1)
    groups: list[str] = []
    for color in sorted(rows, key=CODES.__getitem__):
        columns: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for column in sorted(rows[color]):
            columns[tuple(rows[color][column])].append(column)
        pieces = [f"{_ranges(shared)} {_ranges(tiles)}" for tiles, shared in columns.items()]
        groups += [f"{color}: {pieces[0]}", *pieces[1:]]
    return "; ".join(groups) or NOTHING


def _numbers(text: str, size: int) -> tuple[set[int], bool]:
    """The indices, from 0, that a list such as `1,3-6` names by numbers in 1..size, and whether it names others too."""
    found: set[int] = set()
    outside = False
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        low, high = sorted((int(first), int(last or first)))
        found.update(range(max(low, 1) - 1, min(high, size)))
        outside = outside or low < 1 or high > size
    return found, outside


def parse_grouped(text: str) -> Parsed:
    actions: list[Paint] = []
    discarded: list[Discarded] = []
    color = ""
    for piece in re.split(r"[;\n]", text[:MAX_CHARS]):
        piece = piece.strip(" \t\r.`")
        if not piece or piece.lower() == NOTHING:
            continue
        match = _READ_GROUP.fullmatch(piece)
        if match is None:
            discarded.append(discard(piece, "not a group"))
            continue
        color = (match[1] or color).lower()
        if color not in CODES:
            discarded.append(discard(piece, "unknown color" if color else "no color"))
            continue
        columns, columns_outside = _numbers(match[2], COLUMNS)
        rows, rows_outside = _numbers(match[3], ROWS)
        if columns_outside or rows_outside:
            discarded.append(discard(piece, "partly off the board" if columns and rows else "off the board"))
        actions += [Paint(row, column, color) for row in rows for column in columns]
    if len(text) > MAX_CHARS:
        discarded.append(discard(text[MAX_CHARS:], f"beyond the first {MAX_CHARS:,} characters"))
    return Parsed(canonical(actions), tuple(discarded))
