"""A small reader of instructions that name tiles by columns and by places in them, written without the generator's code.

It knows numbers and words, counts from all four sides, and asks nothing of the board.
"""

from __future__ import annotations

import re
from typing import Any

COLORS = ("white", "black", "yellow", "green", "red", "blue", "purple", "orange")
_WORDS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen"),
    *("fifteen", "sixteen", "seventeen", "eighteen"),
)
_NTHS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
    *("thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth"),
)
_NTH = rf"(?:\d+(?:st|nd|rd|th)|{'|'.join(sorted(_NTHS, key=len, reverse=True))})"
_N = rf"(?:\d+\b|(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b)"
_LIST = r"(?:(?:, | and |, and ){0})*"

#: T is a tile, TS are tiles. The first that fits at the earliest place is taken; groups hold the numbers.
_ROWS = {
    "cell": rf"T in row (?P<a>{_N}), column #?(?P<b>{_N})",
    "alternate": r"every other T,? starting (?:at the top|from the top|with the (?P<a>first|second|1st|2nd))",
    "first": rf"the (?:top|first|upper) (?P<a>{_N}) TS",
    "last": rf"the (?:bottom|last) (?P<a>{_N}) TS",
    "range": rf"(?:the (?P<a>{_NTH}) (?:through|to) (?P<b>{_NTH}) TS|TS (?P<c>{_N})(?:-| to | through )(?P<d>{_N}))",
    "list": rf"(?:the (?P<a>{_NTH}{_LIST.format(_NTH)}) TS\b|TS (?P<b>{_N}{_LIST.format(_N)}))",
    "back": rf"(?P<a>{_NTH}) T from the bottom",
    "top": r"top ?(?:most)? T\b",
    "bottom": r"(?:bottom ?(?:most)?|last) T\b",
    "one": rf"(?:(?P<a>{_NTH}) T\b|T (?P<b>{_N}))",
}
_COLUMNS = {
    "all": r"(?:every|each) column(?! from)|all (?:the )?columns|each of the 18 columns",
    "span": rf"every column from (?P<a>{_N}) to (?P<b>{_N})",
    "odd": r"(?:all|the) odd[ -]?(?:numbered)? columns",
    "even": r"(?:all|the) even[ -]?(?:numbered)? columns",
    "alternate": r"every other column,? starting with the (?P<a>first|second|1st|2nd)",
    "first": rf"the first (?P<a>{_N}) columns",
    "range": rf"columns (?P<a>{_N})(?:-| to | through )(?P<b>{_N})",
    "list": rf"(?:columns (?P<a>{_N}{_LIST.format(_N)})|the (?P<b>{_NTH}{_LIST.format(_NTH)}) columns)",
    "back": rf"(?P<a>{_NTH}) column from the right",
    "left": r"(?:left ?most|far left) column",
    "right": r"(?:right ?most|far right|last) column",
    "one": rf"(?:(?P<a>{_NTH}) column\b|column #? ?(?P<b>{_N}))",
}


def _patterns(kind: str, named: dict[str, str]) -> list[tuple[str, re.Pattern[str]]]:
    return [(f"{kind} {name}", re.compile(pattern)) for name, pattern in named.items()]


_MENTIONS = [
    *_patterns("rows", {"cell": _ROWS["cell"]}),
    *_patterns("columns", _COLUMNS),
    *_patterns("rows", _ROWS),
    ("color", re.compile(rf"\b(?P<a>{'|'.join(COLORS)})\b")),
]


def number(word: str) -> int:
    digits = re.match(r"\d+", word)
    return int(digits[0]) if digits else 1 + (_WORDS.index(word) if word in _WORDS else _NTHS.index(word))


def _numbers(words: str) -> list[int]:
    return [number(word) for word in re.split(r", and | and |, ", words)]


def plain(text: str) -> str:
    """Small letters, T for a tile and TS for tiles, columns for vertical rows, one spelling."""
    text = text.lower().replace("vertical row", "column").replace("colour", "color")
    text = re.sub(r"\b(?:hexes|(?:tile|hexagon|cell|spot|space|dot|boxe)s)\b", "TS", text)
    return re.sub(r"\b(?:tile|hexagon|hex|cell|spot|space|dot|box)\b", "T", text)


def mentions(text: str) -> list[tuple[str, Any]]:
    """What a text in plain form mentions, in order: ("rows", rows), ("columns", columns), ("cell", tile), ("color", color)."""
    found: list[tuple[str, Any]] = []
    at = 0
    while True:
        best = None
        for rank, (name, pattern) in enumerate(_MENTIONS):
            match = pattern.search(text, at)
            if match and (best is None or (match.start(), rank) < best[:2]):
                # A longer reading that begins a little earlier ("the first three tiles") wins over one inside it.
                best = (match.start(), rank, name, match)
        if best is None:
            return found
        at = best[3].end()
        found.append(_read(best[2], best[3]))


def _read(name: str, match: re.Match[str]) -> tuple[str, object]:
    groups = {key: value for key, value in match.groupdict().items() if value}
    values = list(groups.values())
    if name == "color":
        return "color", values[0]
    if name == "rows cell":
        return "cell", (number(values[0]) - 1, number(values[1]) - 1)
    kind, how = name.split()
    size = 10 if kind == "rows" else 18
    if how in ("all",):
        chosen = list(range(1, size + 1))
    elif how in ("odd", "even"):
        chosen = list(range(1 + (how == "even"), size + 1, 2))
    elif how == "alternate":
        chosen = list(range(number(values[0]) if values else 1, size + 1, 2))
    elif how == "first":
        chosen = list(range(1, number(values[0]) + 1))
    elif how == "last":
        chosen = list(range(size + 1 - number(values[0]), size + 1))
    elif how in ("range", "span"):
        chosen = list(range(number(values[0]), number(values[1]) + 1))
    elif how == "list":
        chosen = _numbers(values[0])
    elif how == "back":
        chosen = [size + 1 - number(values[0])]
    elif how in ("top", "left"):
        chosen = [1]
    elif how in ("bottom", "right"):
        chosen = [size]
    else:
        chosen = [number(values[0])]
    return kind, [n - 1 for n in chosen]


def read_zigzag(instruction: str) -> dict[tuple[int, int], str | None]:
    """From one named tile to another, the same place in each column between."""
    (_, rows), (_, first), _, (_, last), *_ = [its for its in mentions(_without_cells(plain(instruction))) if its[0] != "color"]
    color = next(str(value) for kind, value in mentions(plain(instruction)) if kind == "color")
    ((row,), (start,), (end,)) = rows, first, last
    return {(row, column): color for column in range(start, end + 1)}


def _without_cells(text: str) -> str:
    """ "T in row 3, column 4" as "T 3 of column 4"."""
    return re.sub(rf"T in row ({_N}), column", r"T \1 of column", text)


_RUN = re.compile(
    rf"(?:(?:top|first|upper|topmost|next|following)(?: (?P<a>{_N}))? TS?"
    rf"|(?:the (?P<b>{_N}) TS|the T) (?:below|under|after|beneath|underneath)(?: that)?"
    rf"|(?P<rest>rest|all the remaining TS|all the others|everything below)) (?P<color>{'|'.join(COLORS)})"
)


def read_stack(instruction: str) -> dict[tuple[int, int], str | None]:
    """Runs of colors from the top of columns."""
    text = plain(instruction)
    columns = next(value for kind, value in mentions(text) if kind == "columns")
    colors: list[str] = []
    for run in _RUN.finditer(text):
        n = 10 - len(colors) if run["rest"] else number(run["a"] or run["b"] or "1")
        colors += [run["color"]] * n
    return {(row, column): color for column in columns for row, color in enumerate(colors)}


def read_sequence(instruction: str) -> dict[tuple[int, int], str | None]:
    """A list of colors down a column, or across the same tile of columns."""
    said = mentions(re.sub(r"at the top|from the top(?! (?:of|in))", "", plain(instruction)))
    colors = [str(value) for kind, value in said if kind == "color"]
    columns = next(value for kind, value in said if kind == "columns")
    rows = next((value for kind, value in said if kind == "rows"), list(range(10)))
    tiles = [(row, column) for column in columns for row in rows]
    return dict(zip(tiles, colors, strict=True))


def read(instruction: str) -> dict[tuple[int, int], str | None] | None:
    """The tiles (0-based row, column) that an instruction names, with their colors; None if it is not understood.

    A color that is not named is None.
    """
    painted: dict[tuple[int, int], str | None] = {}
    for sentence in re.split(r"[.;] |[.;]$", plain(instruction)):
        found = _sentence(mentions(sentence))
        if found is None:
            return None
        painted |= found
    return painted or None


def _sentence(said: list[tuple[str, object]]) -> dict[tuple[int, int], str | None] | None:
    places = [mention for mention in said if mention[0] != "color"]
    colors = [str(value) for kind, value in said if kind == "color"]
    if not places:
        return {}
    tiles: list[list[tuple[int, int]]] = []
    kinds = [kind for kind, _ in places]
    if set(kinds) == {"columns"}:
        tiles = [[(row, column) for _, columns in places for column in columns for row in range(10)]]  # type: ignore[attr-defined]
    elif kinds.count("columns") == 1 and kinds[0] == "columns" and "cell" not in kinds:
        columns = places[0][1]
        tiles = [[(row, column) for column in columns for row in rows] for _, rows in places[1:]]  # type: ignore[attr-defined]
    else:
        waiting: list[int] | None = None
        for kind, value in places:
            if kind == "cell" and waiting is None:
                tiles.append([value])  # type: ignore[list-item]
            elif kind == "rows" and waiting is None:
                waiting = value  # type: ignore[assignment]
            elif kind == "columns" and waiting is not None:
                tiles.append([(row, column) for column in value for row in waiting])  # type: ignore[attr-defined]
                waiting = None
            else:
                return None
        if waiting is not None:
            return None
    if len(set(colors)) <= 1:
        return {tile: colors[0] if colors else None for group in tiles for tile in group}
    if len(colors) != len(tiles):
        return None
    return {tile: color for group, color in zip(tiles, colors, strict=True) for tile in group}
