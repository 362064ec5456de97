"""The HEXAGONS format `grouped`, which is ours: `red: 3,5 1-10; 7 2`, for each color the columns that share the same rows.

Rows and columns count from 1, as instructions do. The parser returns the actions sorted by row and column; if a tile is
named twice, its last color counts.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.worlds.hexagons import CODES, COLORS, COLUMNS, ROWS, Paint, canonical
from serialization.formats.answer import BLANK, GAP, NOTHING, Constraint, Discarded, Parsed, answer_in, discard, undecorated
from serialization.program.literal import by_color, by_rows

_COLOR = f"({'|'.join(COLORS)})"
_COMMA = rf"{BLANK},{BLANK}"
_LIST = r"\d{1,3}(?:-\d{1,3})?(?:,\d{1,3}(?:-\d{1,3})?)*"
_READ_GROUP = re.compile(rf"(?:([A-Za-z]{{2,12}}):[ \t]*)?({_LIST})[ \t]{{1,4}}({_LIST})")
_PIECE_END = re.compile(rf"[;\n]|,(?={BLANK}(?:{'|'.join(COLORS)}){BLANK}:)", re.IGNORECASE)

# The same groups in looser notation, as people write them.
_SPAN = rf"\d{{1,3}}(?:{BLANK}(?:-|to){BLANK}\d{{1,3}})?"
_SPANS = rf"{_SPAN}(?:{BLANK}(?:,{BLANK}and|,|&|and){BLANK}{_SPAN})*"
_HEAD = rf"(?:([a-z]{{2,12}}){BLANK}:{BLANK})?"
_WORD = rf"(col(?:umn)?s?|rows?){BLANK}:?{BLANK}[(\[]?"
_REST = rf"[)\]]?(?:{BLANK}(?:[.!]{GAP}[a-z]|\([a-z]|#|//|-{GAP}[a-z]).*)?"
_BARE_GROUP = re.compile(rf"{_HEAD}({_SPANS}){GAP}({_SPANS}){_REST}", re.IGNORECASE)
_NAMED_GROUP = re.compile(
    rf"{_HEAD}{_WORD}({_SPANS})[)\]]?{BLANK}(?:,|and|,{BLANK}and|x)?{BLANK}{_WORD}({_SPANS}){_REST}", re.IGNORECASE
)
_BRACKETED_GROUP = re.compile(rf"{_HEAD}[(\[]({_SPANS})[)\]]{BLANK}x?{BLANK}[(\[]({_SPANS}){_REST}", re.IGNORECASE)
_LONE_COLOR = re.compile(rf"([a-z]{{2,12}}){BLANK}:", re.IGNORECASE)
_PAIR = re.compile(rf"\d{{1,3}}{_COMMA}\d{{1,3}}")


def constraint() -> Constraint:
    row, column = "(10|[1-9])", "(1[0-8]|[1-9])"
    group = f"{column}(-{column})?(,{column}(-{column})?)* {row}(-{row})?(,{row}(-{row})?)*"
    return Constraint("regex", f"({NOTHING}|{_COLOR}: {group}(; ({_COLOR}: )?{group})*)")


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


def write(actions: Sequence[Paint], first: int = 1) -> str:
    """`red: 3,5 1-10; 7 2; blue: 1 1`: for each color, columns that share the same rows, then those rows, counted from `first`.

    Every column of a piece is combined with every row of it. Colors are in the order of the release's codes, the pieces of one
    color in the order of their first column.
    """
    groups: list[str] = []
    for color, tiles in by_color(actions):
        pieces = [f"{_ranges(columns)} {_ranges(rows)}" for rows, columns in by_rows(tiles, first).items()]
        groups += [f"{color}: {pieces[0]}", *pieces[1:]]
    return "; ".join(groups) or NOTHING


def _numbers(text: str, size: int, start: int) -> tuple[set[int], bool]:
    """The 0-based indices of a list such as `1,3-6`, whose numbers count from `start`, and whether some are out of range."""
    indices: set[int] = set()
    outside = False
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        low, high = sorted((int(first), int(last or first)))
        indices.update(range(max(low - start, 0), min(high - start, size - 1) + 1))
        outside = outside or low < start or high - start >= size
    return indices, outside


class _Group(NamedTuple):
    """A color (None: the previous group's color) and the lists of columns and rows, which are empty for a color alone."""

    color: str | None
    columns: str
    rows: str


def _read_group(piece: str) -> _Group | str:
    """The group in a piece of an answer, or the reason why there is none."""
    if match := _READ_GROUP.fullmatch(piece):
        return _Group(match[1], match[2], match[3])
    if match := _BARE_GROUP.fullmatch(piece):
        return _Group(match[1], _tidy(match[2]), _tidy(match[3]))
    if match := _NAMED_GROUP.fullmatch(piece):
        lists = {match[2][0].lower(): _tidy(match[3]), match[4][0].lower(): _tidy(match[5])}
        return _Group(match[1], lists["c"], lists["r"]) if len(lists) == 2 else "columns or rows twice"
    if match := _BRACKETED_GROUP.fullmatch(piece):
        if _PAIR.fullmatch(match[2]) and _PAIR.fullmatch(match[3]):
            return "two tiles, or two columns and two rows"
        return _Group(match[1], _tidy(match[2]), _tidy(match[3]))
    if match := _LONE_COLOR.fullmatch(piece):
        return _Group(match[1], "", "")
    return "not a group"


def _tidy(numbers: str) -> str:
    """`3 to 5, and 7` as `3-5,7`."""
    return re.sub(r"[ \t]*(?:,[ \t]*and|,|&|and)[ \t]*", ",", re.sub(r"[ \t]*(?:-|to)[ \t]*", "-", numbers.lower()))


def parse(text: str, first: int = 1) -> Parsed:
    """The tiles of a text whose rows and columns count from `first`."""
    answer = answer_in(text)
    actions: list[Paint] = []
    discarded = list(answer.discarded)
    color = ""
    for piece in _pieces(answer.text):
        group = _read_group(piece)
        if isinstance(group, str):
            discarded.append(discard(piece, group))
            # After words that cannot be read, the color of the numbers that follow is unknown.
            color = "" if re.search("[A-Za-z]", piece) else color
            continue
        color = (group.color or color).lower()
        if color not in CODES:
            discarded.append(discard(piece, "unknown color" if color else "no color"))
        elif group.columns:
            actions += _painted(piece, group, color, first, discarded)
    return Parsed(canonical(actions), tuple(discarded))


def _pieces(text: str) -> Iterator[str]:
    for piece in _PIECE_END.split(text):
        piece = piece.strip(" \t\r.,")
        if piece and not _READ_GROUP.fullmatch(piece):
            piece = undecorated(piece).strip(" \t\r.,")
        if piece and piece.lower() != NOTHING:
            yield piece


def _painted(piece: str, group: _Group, color: str, first: int, discarded: list[Discarded]) -> list[Paint]:
    columns, columns_outside = _numbers(group.columns, COLUMNS, first)
    rows, rows_outside = _numbers(group.rows, ROWS, first)
    if columns_outside or rows_outside:
        discarded.append(discard(piece, "partly off the board" if columns and rows else "off the board"))
    return [Paint(row, column, color) for row in rows for column in columns]
