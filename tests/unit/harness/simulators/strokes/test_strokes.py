"""Simulated drawings of simple strokes: what is said is what is painted, by an independent reading of the words."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.corpora.item import Executed, HexagonsItem
from harness.corpora.wording import NUMBERS, ORDINALS, listing, ordinal_digits, phrase
from harness.simulators.strokes.words import FRAMES
from harness.worlds.hexagons import COLUMNS, ROWS, Board
from tests.helpers.simulated import simple

seeds = st.integers(0, 10**6)


@cache
def hexagons(count: int = 2000, seed: int = 0) -> list[HexagonsItem]:
    return [item for item in simple("hexagons", count, seed) if isinstance(item, HexagonsItem)]


@settings(max_examples=30)
@given(seeds)
def test_gold_actions_lead_from_the_board_before_to_the_board_after(seed: int) -> None:
    for item in hexagons(30, seed):
        assert item.before.apply(item.actions) == (item.after, ())
        assert item.actions == item.before.diff(item.after)
        assert bool(item.actions) == (set(item.meta["frame"].split("+")) != {"remark"})


@settings(max_examples=20)
@given(seeds)
def test_the_history_holds_every_earlier_turn(seed: int) -> None:
    earlier = None
    for item in hexagons(40, seed):
        done = [turn for turn in item.history if isinstance(turn, Executed)]
        assert len(done) <= 4
        if earlier is None or earlier.cluster != item.cluster:
            assert (done, item.before) == ([], Board())
        else:
            assert item.history[: len(earlier.history)] == earlier.history
            assert (done[-1], item.before) == (Executed(earlier.actions), earlier.after)
        earlier = item


def test_ids_say_procedure_and_step_and_are_unique() -> None:
    items = hexagons(300, 3)
    assert len({item.id for item in items}) == len(items) == 300
    assert all(re.fullmatch(r"hexagons-strokes/train/\d+/[1-5]", item.id) and item.split == "train" for item in items)


def test_seeds_differ_and_a_longer_run_starts_like_a_shorter_one() -> None:
    assert hexagons(50, 1) != hexagons(50, 2)
    assert hexagons(80, 1)[:50] == hexagons(50, 1)


def test_many_frames_all_of_them_used() -> None:
    assert sum(map(len, FRAMES.values())) >= 40
    assert {frame for item in hexagons(6000) for frame in item.meta["frame"].split("+")} == FRAMES.keys()


def test_texts_hold_no_leftover_markup() -> None:
    for item in hexagons(2000, 5):
        assert item.instruction == item.instruction.strip()
        assert not re.search(r"[\[\]{}|]|  |None|\ba orange| [,.]", item.instruction), item.instruction


def test_actions_a_step_are_about_as_many_as_in_the_release() -> None:
    counts = sorted(len(item.actions) for item in hexagons(4000))
    assert 5 <= counts[2000] <= 7
    assert 15 <= counts[3600] <= 25
    assert 40 <= counts.count(0) <= 160


# An independent reading of the simplest sentences. Tiles are compared by their pixel centers, not by the world's own geometry.


ORDINAL = rf"(?:\d+(?:st|nd|rd|th)|{'|'.join(ORDINALS[1:])})"
NUMBER = rf"(?:\d+|{'|'.join(reversed(NUMBERS))})"
COLUMN = re.compile(
    r"(?P<left>left ?most|far left)(?= column)|(?P<right>right ?most|far right|last)(?= column)"
    rf"|(?P<back>{ORDINAL}) column from the right|(?P<nth>{ORDINAL}) column|column (?:# )?(?P<n>{NUMBER})"
)
TILE = re.compile(
    r"(?P<top>top|topmost|top most) T\b|(?P<last>bottom|bottom most|last) T\b"
    rf"|(?P<back>{ORDINAL}) T from the bottom|T in row (?P<row>{NUMBER})|(?P<nth>{ORDINAL}) T\b|T (?P<n>{NUMBER})"
)
WAY = re.compile(r"\b(up|upper|upward|down|lower|downward)\b(?:(?: and)?(?: to the)? (left|right))?")


def number(word: str) -> int:
    digits = re.match(r"\d+", word)
    return int(digits[0]) if digits else NUMBERS.index(word) if word in NUMBERS else ORDINALS.index(word)


def plain(text: str) -> str:
    """The text in small letters with T for a tile."""
    return re.sub(r"\b(tile|hexagon|hex|cell|spot)\b", "T", text.lower())


def read_tile(text: str) -> tuple[int, int] | None:
    """The tile that a text names first, by its place in a column (0-based row and column); None if it cannot be read."""
    tile, column = TILE.search(plain(text)), COLUMN.search(plain(text))
    if not tile or not column:
        return None
    t, c = tile.groupdict(), column.groupdict()
    up = number(t["back"]) if t["back"] else 1 if t["last"] else 0
    row = ROWS + 1 - up if up else 1 if t["top"] else number(t["row"] or t["nth"] or t["n"])
    back = number(c["back"]) if c["back"] else 1 if c["right"] else 0
    return row - 1, (COLUMNS + 1 - back if back else 1 if c["left"] else number(c["nth"] or c["n"])) - 1


def pixel(tile: tuple[int, int]) -> tuple[float, float]:
    return 1.5 * tile[1], math.sqrt(3) * (tile[0] + 0.5 * (tile[1] % 2))


def of_frame(frame: str) -> list[HexagonsItem]:
    return [item for item in hexagons(8000, 11) if item.meta["frame"] == frame]


def test_a_tile_is_where_its_words_say() -> None:
    several = re.compile(r"tiles|hexes|hexagons|cells|spots|columns")
    items = [item for item in of_frame("cells") if len(item.actions) == 1 and not several.search(item.instruction)]
    read = [(read_tile(item.instruction), item) for item in items]
    assert len(items) > 200
    assert sum(tile is not None for tile, _ in read) > 0.95 * len(items)
    for tile, item in read:
        assert tile in (None, item.actions[0].tile), item.instruction
        assert item.actions[0].color in item.instruction.lower()


def test_a_ring_is_the_six_tiles_nearest_to_its_center() -> None:
    read = Counter[bool]()
    for item in of_frame("ring"):
        by_top = re.search(r"(its|the) top T is", plain(item.instruction))
        named = read_tile(item.instruction[item.instruction.lower().index("top") + 4 :] if by_top else item.instruction)
        read[named is not None] += 1
        if named is None:
            continue
        center = (named[0] + 1, named[1]) if by_top else named
        distances = {(r, c): math.dist(pixel((r, c)), pixel(center)) for r in range(ROWS) for c in range(COLUMNS)}
        ring = {tile for tile, distance in distances.items() if 0 < distance < 1.8}
        color = item.actions[0].color
        assert len(ring) == 6
        assert {paint.tile for paint in item.actions} == {tile for tile in ring if item.before[tile] != color}, item.instruction
    assert read[True] > 0.95 * read.total() > 60


def test_a_diagonal_runs_the_way_its_words_say() -> None:
    checked = Counter[str]()
    for item in of_frame("diagonal"):
        start = read_tile(item.instruction)
        way = WAY.search(re.sub(r"T down (of|in)", r"T \1", plain(item.instruction)))
        if start is None or way is None or len(item.actions) < 3 or item.actions[0].tile == item.actions[-1].tile:
            continue
        (x, y), far = pixel(start), max((pixel(paint.tile) for paint in item.actions), key=lambda p: math.dist(p, pixel(start)))
        vertical, sideways = -1 if way[1] in ("up", "upper", "upward") else 1, {"left": -1, None: 0, "right": 1}[way[2]]
        direction = math.atan2(vertical * (0.5 if sideways else 1), sideways * math.sqrt(3) / 2)
        assert math.atan2(far[1] - y, far[0] - x) == pytest.approx(direction), item.instruction
        for paint in item.actions:
            if paint.tile != start:
                px, py = pixel(paint.tile)
                assert math.atan2(py - y, px - x) == pytest.approx(direction), item.instruction
        checked[f"{vertical} {sideways}"] += 1
    assert len(checked) == 6
    assert min(checked.values()) > 10


def test_words() -> None:
    assert [ordinal_digits(n) for n in (1, 2, 3, 4, 11, 12, 13, 18)] == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "12th",
        "13th",
        "18th",
    ]

    class First:
        """A generator whose every draw is the first, and whose every fraction is 0.9."""

        def choice(self, options: list[str]) -> str:
            return options[0]

        def random(self) -> float:
            return 0.9

    assert listing(First(), ["a"]) == "a"  # type: ignore[arg-type]
    assert listing(First(), ["a", "b", "c"]) == "a, b and c"  # type: ignore[arg-type]
    assert phrase(First(), ["[paint|color] a {color} tile [|x] ."], color="orange") == "paint an orange tile."  # type: ignore[arg-type]
