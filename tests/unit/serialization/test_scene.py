from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.augmentation.colors import permute_colors
from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.worlds.minecraft import COLORS, Action, Pose, Structure
from serialization.contexts import in_frame
from serialization.scene import anchors, parts
from tests.helpers.blocks import structures
from tests.helpers.scored import built_probe


def among(structure: Structure, last: Action | None = None, yaw: float = 0.0) -> MinecraftItem:
    """An item with a structure, whose builder stands at 0 1 -3."""
    history: tuple[Turn, ...] = (Utterance("Architect", "go on"),)
    history = (Executed((last,)), *history) if last else history
    return built_probe(before=structure, history=history, pose=Pose(0.5, 1.0, -2.5, yaw, 0.0))


TOWER = [(0, y, 0, "red") for y in (1, 2, 3)]
ROW = [(x, 1, 4, "blue") for x in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("blocks", "names"),
    [
        (TOWER, ["red tower 3"]),
        (ROW, ["blue row 4 right"]),
        ([(0, 1, z, "red") for z in (0, 1)], ["red row 2 behind"]),
        ([(x, y, 0, "red") for x in (0, 1) for y in (1, 2, 3)], ["red wall 2 right 3 down"]),
        ([(x, 1, z, "red") for x in (0, 1) for z in (1, 2, 3)], ["red floor 2 right 3 behind"]),
        ([(x, y, z, "red") for x in (0, 1) for y in (1, 2) for z in (1, 2)], ["red box 2 right 2 down 2 behind"]),
        ([*TOWER, (0, 4, 0, "blue")], ["blue", "red tower 3"]),
        ([*TOWER, (1, 1, 0, "red"), (2, 1, 0, "red")], ["red tower 3", "red row 2 right"]),
    ],
)
def test_parts_are_called_what_they_are(blocks: list[tuple[int, int, int, str]], names: list[str]) -> None:
    item = among(Structure.of(blocks), Action("place", "red", 0, 4, 0))
    assert [f"{part.color} {part.name}".strip() for part in parts(item)] == names


def test_the_nearest_parts_come_first_and_can_be_pointed_to() -> None:
    item = among(Structure.of(TOWER + ROW), Action("place", "blue", 4, 1, 4))
    assert [part.color for part in parts(item)] == ["blue", "red"]
    assert anchors(item) == {"ahead": (0, 1, -2), "A": (4, 1, 4), "A end": (1, 1, 4), "B": (0, 3, 0), "B end": (0, 1, 0)}
    assert anchors(among(Structure(), yaw=90.0)) == {"ahead": (-1, 1, -3)}
    outside = replace(item, pose=Pose(0.5, 1.0, 5.5, 0.0, 0.0))
    assert "ahead" not in anchors(outside), "a block cannot be there"


@given(structures, st.floats(-360, 360), st.permutations(COLORS))
def test_every_block_is_in_one_part_however_it_is_turned_or_colored(structure: Structure, yaw: float, colors: list[str]) -> None:
    item = among(structure, Action("place", "red", 1, 1, 1), yaw)
    found = parts(item)
    volumes = [[abs(a - b) + 1 for a, b in zip(part.first, part.end, strict=True)] for part in found]
    assert sum(x * y * z for x, y, z in volumes) == len(structure)
    assert all(structure.color_at(*cell) == part.color for part in found for cell in (part.first, part.end))
    seen = parts(in_frame(item, "builder"))  # type: ignore[arg-type]
    assert [part[:2] for part in seen] == [part[:2] for part in found]
    recolored = permute_colors(item, dict(zip(COLORS, colors, strict=True)))
    assert [part[1:] for part in parts(recolored)] == [part[1:] for part in found]  # type: ignore[arg-type]
