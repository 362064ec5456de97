"""A naive rule-based baseline for HEXAGONS, modeled on the one of "Draw Me a Flower" (Lachmy et al. 2022, section 6.1).

It reads only the current instruction. In each sentence it collects the mentions of columns ("the second column from the
right"), of tiles ("tiles 3 through 5", "the top two hexes") and of colors. Each mention of tiles is combined with the nearest
columns and the nearest color of its sentence and painted there. A sentence that lacks one of the three paints nothing.

The paper does not say which words and forms its patterns know. Ours were chosen among seven variants by action F1 and EM on the
train split alone: numbers, lists and ranges next to any noun for a tile (14.26, 10.86), also counted from the right and the
bottom (16.07, 12.23), also "the last column" and the like (19.15, 14.49), also "the top three tiles" (22.23, 16.87; chosen).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from harness.corpora.item import HexagonsItem, Item
from harness.corpora.wording import NUMBERS, ORDINALS
from harness.runs.answering import Answer, Predictor
from harness.tasks.registry import tasks_in
from harness.worlds.hexagons import COLORS, COLUMNS, ROWS, Paint

_TILES = ("tile", "hexagon", "hex", "cell", "spot", "space", "block", "square", "box", "row", "position", "slot")
"""People's words for a tile; a "row" of a column is one, too."""
_SKIPPED = ("a", "the", "of", "number", "no", "far", "most", "#")
"""Words that are ignored because they occur within mentions."""


class RuleWord(NamedTuple):
    """A word in the form that the patterns use."""

    letter: str
    """O: ordinal, N: cardinal, C: column, T: tile, K: color, ",": and, "-": through, f: from, t: top, b: bottom, l: left,
    r: right, e: last, ".": end of a sentence, x: anything else."""
    number: int = 0
    color: str = ""


def _known() -> dict[str, RuleWord]:
    words = {word: RuleWord("O", n) for n, word in enumerate(ORDINALS) if n}
    words |= {word: RuleWord("N", n) for n, word in enumerate(NUMBERS) if n}
    words |= {color: RuleWord("K", color=color) for color in COLORS}
    letters = {
        "C": ["column", "columns", "col", "cols"],
        "T": [form for noun in _TILES for form in (noun, f"{noun}s", f"{noun}es")],
        ",": [",", "and", "or", "&"],
        "-": ["-", "–", "through", "thru", "to", "until"],
        "f": ["from"],
        "t": ["top", "topmost", "uppermost", "highest"],
        "b": ["bottom", "bottommost", "lowest"],
        "l": ["left", "leftmost"],
        "r": ["right", "rightmost"],
        "e": ["last", "final"],
        ".": [".", ";", "!", "?", "\n"],
    }
    return words | {word: RuleWord(letter) for letter, group in letters.items() for word in group}


_KNOWN = _known()
_TOKEN = re.compile(r"[a-z]+|[0-9]+(?:st|nd|rd|th)?|[,&#–;.!?\n-]")
_DIGITS = re.compile(r"([0-9]{1,3})(st|nd|rd|th)?")


def placed_words(text: str) -> Iterator[tuple[tuple[int, int], RuleWord]]:
    """The words of any text, each with its character span (start, end). Case is ignored, skipped words are left out."""
    for match in _TOKEN.finditer(text.lower()):
        if match[0] not in _SKIPPED:
            yield match.span(), _read(match[0])


def _read(token: str) -> RuleWord:
    if digits := _DIGITS.fullmatch(token):
        return RuleWord("O" if digits[2] else "N", int(digits[1]))
    return _KNOWN.get(token, RuleWord("x"))


def list_numbers(words: Iterable[RuleWord]) -> list[int]:
    """The numbers of a list such as "2, 4 and 6 through 8". A range that ends below its start or above 18 is two numbers."""
    numbers: list[int] = []
    through = False
    for word in words:
        if word.letter in "ON":
            ranges = through and numbers and numbers[-1] < word.number <= COLUMNS
            numbers += range(numbers[-1] + 1, word.number + 1) if ranges else [word.number]
        through = word.letter == "-"
    return numbers


_PLACES = {"T": ROWS, "C": COLUMNS}
"""The number of tiles in a column (T) and of columns on the board (C)."""

_MENTION = re.compile(
    r"""(?: (?P<edge> [tbeO]) (?P<count> N) (?=T)                 # the top three tiles, the first two hexes
          | (?P<before> O (?: [,-]+ O)*)                          # the third, fourth and sixth columns
          | (?P<word> [tbe] (?=T) | [elr] (?=C))                  # the last column, the bottom cell
          | (?= [TC] (?P<after> N (?: [,-]+ N (?![TC]))*          # columns 3, 4 and 6 to 8; not the 5 of "column 3, 5 tiles"
                              | O (?: [,-]+ O)* (?![TC])))        # row first
        )
        (?P<noun> [TC]) (?(after) (?P=after)) (?P<side> f[tblr])?  # from the right""",
    re.VERBOSE,
)
"""The pattern of a mention of columns or tiles, over the letters of words."""


class Mention(NamedTuple):
    """A mention of columns, tiles or a color in a sentence, from word `start` to before word `end`."""

    start: int
    end: int
    places: Sequence[int] = ()
    """Columns or tiles, counted from 0."""
    color: str = ""

    def distance(self, other: "Mention") -> int:
        """The number of words between the two mentions; negative if they overlap."""
        return max(other.start - self.end, self.start - other.end)


def paint(instruction: str) -> list[Paint]:
    """The actions of an instruction according to the rules: on the board, sorted, at most one a tile.

    If several mentions paint a tile, the last one wins.
    """
    painted: dict[tuple[int, int], str] = {}
    words = (word for _, word in placed_words(instruction))
    for ends, group in groupby(words, lambda word: word.letter == "."):
        if ends:
            continue
        for row, column, color in _sentence(list(group)):
            painted[row, column] = color
    return [Paint(row, column, painted[row, column]) for row, column in sorted(painted)]


def _sentence(words: Sequence[RuleWord]) -> Iterator[Paint]:
    letters = "".join(word.letter for word in words)
    colors = [Mention(n, n + 1, color=word.color) for n, word in enumerate(words) if word.color]
    mentions: dict[str, list[Mention]] = {"T": [], "C": []}
    for match in _MENTION.finditer(letters):
        mentions[match["noun"]].append(Mention(match.start(), match.end(), _places(match, words)))
    if not (colors and mentions["C"]):
        return
    for tiles in mentions["T"]:
        columns, color = min(mentions["C"], key=tiles.distance), min(colors, key=tiles.distance).color
        yield from (Paint(row, column, color) for column in columns.places for row in tiles.places)


def _places(match: re.Match[str], words: Sequence[RuleWord]) -> list[int]:
    """The columns or tiles of a mention that lie on the board, counted from 0."""
    size, side = _PLACES[match["noun"]], match["side"]
    backwards = side == {"T": "fb", "C": "fr"}[match["noun"]]
    if match["count"]:
        edge, count = words[match.start("edge")], words[match.start("count")].number
        if edge.letter == "O" and edge.number != 1:
            return []
        numbers, backwards = list(range(1, min(count, size) + 1)), backwards or edge.letter in "be"
    elif match["word"]:
        numbers, backwards = [1], backwards or match["word"] in "ber"
    else:
        numbers = list_numbers(words[slice(*match.span("before" if match["before"] else "after"))])
    return [size - n if backwards else n - 1 for n in numbers if 1 <= n <= size]


class Rules(Predictor):
    """See `harness.baselines.Ruled`."""

    tasks = tasks_in("hexagons")
    decoding = ()
    batch_size = 64
    independent = True

    def predictor(self, task: str) -> "Rules":
        return self

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        return [Answer(paint(item.instruction), True) for item in items if isinstance(item, HexagonsItem)]
