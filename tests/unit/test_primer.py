from __future__ import annotations

import hashlib
import math
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.corpora.item import Executed, HexagonsItem, MinecraftItem, Utterance
from harness.corpora.primer import hexagons_words, minecraft_words, primer
from harness.corpora.wording import NUMBERS, ORDINALS, listing, ordinal_digits, phrase
from harness.errors import UsageError
from harness.worlds.hexagons import COLUMNS, ROWS, Board
from harness.worlds.minecraft import COLORS, Structure

seeds = st.integers(0, 10**6)
TALK = {"greeting", "hello", "announce", "praise", "check", "lead", "which", "color", "where"}


@cache
def hexagons(count: int = 2000, seed: int = 0) -> list[HexagonsItem]:
    return list(primer("hexagons", count, seed))


def minecraft(count: int = 2000, seed: int = 0) -> list[MinecraftItem]:
    return list(primer("minecraft", count, seed))


@settings(max_examples=30)
@given(seeds)
def test_gold_actions_lead_from_the_board_before_to_the_board_after(seed: int) -> None:
    for item in hexagons(30, seed):
        assert item.before.apply(item.actions) == (item.after, ())
        assert item.actions == item.before.diff(item.after)
        assert bool(item.actions) == (set(item.meta["frame"].split("+")) != {"remark"})


@settings(max_examples=30)
@given(seeds)
def test_gold_actions_can_be_carried_out_one_after_the_other(seed: int) -> None:
    for item in minecraft(30, seed):
        assert item.actions
        assert item.before.apply(item.actions, limited=True) == (item.after, ())
        assert item.before != item.after
        for action in item.actions:
            assert action.color in COLORS


@settings(max_examples=20)
@given(seeds, st.sampled_from(["hexagons", "minecraft"]))
def test_the_history_holds_every_earlier_turn(seed: int, task: str) -> None:
    blank = Board() if task == "hexagons" else Structure()
    earlier = None
    for item in primer(task, 40, seed):
        done = [turn for turn in item.history if isinstance(turn, Executed)]
        assert len(done) <= 4
        if earlier is None or earlier.cluster != item.cluster:
            assert (done, item.before) == ([], blank)
        else:
            assert item.history[: len(earlier.history)] == earlier.history
            pose = earlier.pose if isinstance(earlier, MinecraftItem) else None
            assert (done[-1], item.before) == (Executed(earlier.actions, pose), earlier.after)
        if task == "minecraft":
            assert isinstance(item.history[-1], Utterance)
        earlier = item


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_ids_say_procedure_and_step_and_are_unique(task: str) -> None:
    items = list(primer(task, 300, 3))
    assert len({item.id for item in items}) == len(items) == 300
    pattern = r"hexagons-strokes/train/\d+/[1-5]" if task == "hexagons" else r"minecraft-random/\d+/[1-5]"
    assert all(re.fullmatch(pattern, item.id) and item.split == "train" for item in items)


def test_seeds_differ_and_a_longer_run_starts_like_a_shorter_one() -> None:
    assert hexagons(50, 1) != hexagons(50, 2)
    assert hexagons(80, 1)[:50] == hexagons(50, 1)


def test_an_unknown_task_is_refused() -> None:
    with pytest.raises(UsageError, match="chess"):
        primer("chess", 1, 0)


def test_two_processes_make_the_same_items() -> None:
    code = (
        "import hashlib; from harness.corpora.primer import primer;"
        "print(hashlib.sha256(repr([list(primer(t, 400, 7)) for t in ('hexagons', 'minecraft')]).encode()).hexdigest())"
    )
    digests = [hashlib.sha256(repr([hexagons(400, 7), minecraft(400, 7)]).encode()).hexdigest()]
    for salt in ("1", "2"):
        made = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": salt}, capture_output=True, check=True
        )
        digests.append(made.stdout.decode().strip())
    assert len(set(digests)) == 1


def test_many_frames_all_of_them_used() -> None:
    for words, items, talk in ((hexagons_words, hexagons(6000), set()), (minecraft_words, minecraft(3000), TALK)):
        assert sum(map(len, words.FRAMES.values())) >= 60
        assert {frame for item in items for frame in item.meta["frame"].split("+")} == words.FRAMES.keys() - talk


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_texts_hold_no_leftover_markup(task: str) -> None:
    for item in primer(task, 2000, 5):
        texts = (
            [item.instruction] if isinstance(item, HexagonsItem) else [t.text for t in item.history if isinstance(t, Utterance)]
        )
        for text in texts:
            assert text == text.strip()
            assert not re.search(r"[\[\]{}|]|  |None|\ba orange| [,.]", text), text


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


SIDES = {
    "right": r"(?:to the right of|right of|on the right side of|on the right of)",
    "left": r"(?:to the left of|left of|on the left side of|on the left of)",
    "up": r"(?:on top of|above|on)",
    "down": r"(?:under|below|underneath|beneath)",
    "near": r"(?:in front of|to the front of)",
    "far": r"behind",
}


def axes(yaw: float) -> dict[str, tuple[float, float, float]]:
    """The builder's directions in the world. At a yaw the gaze is (-sin, cos) in (x, z), and the right hand (-cos, -sin)."""
    snapped = math.radians(90 * round(yaw / 90))
    sin, cos = math.sin(snapped), math.cos(snapped)
    right, far = (-cos, 0.0, -sin), (-sin, 0.0, cos)
    back = {"left": tuple(-v for v in right), "near": tuple(-v for v in far)}
    return {"right": right, "far": far, "up": (0.0, 1.0, 0.0), "down": (0.0, -1.0, 0.0), **back}


def test_a_block_is_on_the_side_that_its_words_say() -> None:
    sides = Counter[str]()
    for item in minecraft(8000, 4):
        text = item.history[-1].text.lower()
        found = re.search(rf"({'|'.join(SIDES.values())}) the ({'|'.join(COLORS)}) (?:block|brick|cube|one)", text)
        if item.meta["frame"] != "relate" or not found:
            continue
        named = [block for block in item.before.blocks() if block.color == found[2]]
        if len(named) != 1:  # "the red block closest to you" names one of several
            continue
        side = next(side for side, words in SIDES.items() if re.fullmatch(words, found[1]))
        expected = [a + round(d) for a, d in zip(named[0][:3], axes(item.pose.yaw)[side], strict=True)]
        assert list(item.actions[0].cell) == expected, (text, item.pose)
        sides[side] += 1
    assert min(sides.values()) > 4
    assert sides.keys() == SIDES.keys()


def test_the_outermost_block_is_removed() -> None:
    sides = {"rightmost": "right", "leftmost": "left", "topmost": "up", "lowest": "down"}
    checked = Counter[str]()
    for item in minecraft(8000, 9):
        found = re.search(rf"the ({'|'.join(sides)}) ({'|'.join(COLORS)})", item.history[-1].text.lower())
        if item.meta["frame"] != "remove" or not found:
            continue
        axis = axes(item.pose.yaw)[sides[found[1]]]
        colored = [block[:3] for block in item.before.blocks() if block.color == found[2]]
        along = {cell: sum(a * b for a, b in zip(cell, axis, strict=True)) for cell in colored}
        assert [action.cell for action in item.actions] == [max(along, key=lambda cell: along[cell])]
        checked[found[1]] += 1
    assert checked.keys() == sides.keys()


@settings(max_examples=15)
@given(seeds)
def test_the_builder_looks_at_the_build_from_outside_its_blocks(seed: int) -> None:
    for item in minecraft(25, seed):
        pose = item.pose
        assert item.before.color_at(math.floor(pose.x), math.floor(pose.y), math.floor(pose.z)) is None
        assert -90 <= pose.pitch <= 90
        assert -360 <= pose.yaw <= 360
        gaze = math.degrees(math.atan2(-math.sin(math.radians(pose.yaw)), math.cos(math.radians(pose.yaw))))
        targets = [block[:3] for block in item.before.blocks()] or [(0, 1, 0)]
        bearings = [math.degrees(math.atan2(x + 0.5 - pose.x, z + 0.5 - pose.z)) for x, _, z in targets]
        assert min(abs((bearing - gaze + 180) % 360 - 180) for bearing in bearings) < 1


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
