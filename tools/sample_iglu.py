"""The sample's single-turn instructions as short scripts, and the table and worlds that a release of them would hold.

A script begins with the blocks of its start world, `= color x y z`. Then come instructions, `> text`, each with the builder's
pose, `@ x y z yaw pitch`, and what is done: `+ color x y z` for a block placed, `- x y z` for one removed, or `? question`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from math import radians
from typing import NamedTuple

Blocks = dict[tuple[int, int, int], str]

CODES = {"blue": 57, "yellow": 50, "green": 59, "purple": 56, "red": 60, "orange": 89}
COLUMNS = ("GameId", "ClarifyingQuestion", "InitializedWorldPath", "InputInstruction", "IsInstructionClear", "Partition")
GROUND = 62


class Start(NamedTuple):
    game: str
    script: str


STARTS = (
    Start(
        "1-c901",
        """
        > Build a tower of three blue blocks in the middle of the grid.
        @ 0.5 1.0 4.5 180.0 30.0
        + blue 0 1 0
        + blue 0 2 0
        + blue 0 3 0
        > Facing north, put a red block in the northwest corner and a green one in the southeast corner.
        @ 0.5 1.0 4.5 180.0 30.0
        + red -5 1 -5
        + green 5 1 5
        > Make a row of four orange blocks that starts in the center and goes east.
        @ -3.5 1.0 0.5 -90.0 25.0
        + orange 0 1 0
        + orange 1 1 0
        + orange 2 1 0
        + orange 3 1 0
        > Put some blocks down there.
        @ 0.5 1.0 4.5 180.0 30.0
        ? Which color should they be, and how many do you need?
        """,
    ),
    Start(
        "2-c902",
        """
        = purple 0 1 0
        = purple 0 2 0
        = purple 0 3 0
        = yellow 1 1 0
        > Destroy the yellow block.
        @ 0.5 1.0 4.5 180.0 30.0
        - 1 1 0
        > Place a green block on top of the purple tower.
        @ 0.5 1.0 4.5 178.0 20.0
        + green 0 4 0
        > Add two red blocks to the west of the bottom purple block.
        @ 0.5 1.0 -4.5 2.0 25.0
        + red -1 1 0
        + red -2 1 0
        > Replace the yellow block with a blue one.
        @ 0.5 1.0 4.5 181.0 30.0
        - 1 1 0
        + blue 1 1 0
        > Remove the top two blocks of the purple column.
        @ 4.5 1.0 0.5 92.0 20.0
        - 0 3 0
        - 0 2 0
        > Take the orange block away.
        @ 0.5 1.0 4.5 180.0 30.0
        ? There is no orange block. Do you mean the yellow one?
        """,
    ),
    Start(
        "3-c903",
        """
        = red -1 1 0
        = red 0 1 0
        = red 1 1 0
        > Facing south, stack two green blocks on the leftmost red block.
        @ 0.5 1.0 -4.5 0.0 25.0
        + green 1 2 0
        + green 1 3 0
        > Place one purple block in front of each red block as you look north.
        @ 0.5 1.0 4.5 180.0 30.0
        + purple -1 1 1
        + purple 0 1 1
        + purple 1 1 1
        """,
    ),
    Start(
        "1-c904",
        """
        = blue 2 1 2
        = blue 2 2 2
        > Add an orange block on the north side of the bottom blue block.
        @ 2.5 1.0 -3.5 0.0 20.0
        + orange 2 1 1
        > Destroy the highest blue block.
        @ 0.5 1.0 4.5 180.0 30.0
        - 2 2 2
        > Build it up a bit.
        @ 0.5 1.0 4.5 180.0 30.0
        ? How high should it be, and in which color?
        """,
    ),
    Start(
        "1-c919",
        """
        > Facing east, start in the middle and place three yellow blocks in a line toward the east.
        @ -2.5 1.0 0.5 -90.0 20.0
        + yellow 0 1 0
        + yellow 1 1 0
        + yellow 2 1 0
        > Put a purple block in each corner of the grid.
        @ 0.5 1.0 4.5 180.0 30.0
        + purple -5 1 -5
        + purple -5 1 5
        + purple 5 1 -5
        + purple 5 1 5
        """,
    ),
    Start(
        "1-c909",
        """
        = green -2 1 0
        = green -2 2 0
        = green -1 2 0
        > Place a red block on top of each of the highest green blocks.
        @ -0.5 1.0 4.5 180.0 30.0
        + red -2 3 0
        + red -1 3 0
        > Remove the green block that hangs in the air.
        @ -0.5 1.0 -4.5 0.0 20.0
        - -1 2 0
        > Put a blue one next to it.
        @ -0.5 1.0 4.5 180.0 30.0
        ? Next to which green block?
        """,
    ),
    Start(
        "1-c924",
        """
        = orange 0 1 0
        > Put yellow blocks to the east and to the west of the orange block.
        @ 0.5 1.0 4.5 180.0 30.0
        + yellow 1 1 0
        + yellow -1 1 0
        > Facing west, place a tower of two red blocks to the left of the orange block.
        @ 4.5 1.0 0.5 90.0 20.0
        + red 0 1 1
        + red 0 2 1
        """,
    ),
)


class Told(NamedTuple):
    """An instruction: what is asked, the pose, and either the blocks after it or a question."""

    start: Start
    before: Blocks
    text: str
    pose: tuple[float, ...]
    after: Blocks
    question: str


def instructions() -> Iterator[Told]:
    for start in STARTS:
        head, *parts = ("\n" + "\n".join(line.strip() for line in start.script.strip().splitlines())).split("\n> ")
        before: Blocks = {}
        _build(before, head.splitlines())
        for part in parts:
            text, pose, *lines = part.splitlines()
            asked = [line[2:] for line in lines if line.startswith("?")]
            after = dict(before)
            _build(after, lines)
            yield Told(start, before, text, tuple(map(float, pose[2:].split())), after, "".join(asked))


def _build(blocks: Blocks, lines: list[str]) -> None:
    for line in lines:
        sign, *words = line.split() or [""]
        if sign in ("=", "+"):
            blocks[int(words[1]), int(words[2]), int(words[3])] = words[0]
        elif sign == "-":
            del blocks[int(words[0]), int(words[1]), int(words[2])]


def world(blocks: Blocks, pose: tuple[float, ...] | None = None) -> dict[str, object]:
    """A world file; with a pose, one that a builder began there."""
    listed = [[x, y + GROUND, z, CODES[color]] for (x, y, z), color in blocks.items()]
    tape = "0 action start_recover_world_state\n"
    x, y, z, yaw, pitch = pose or (0.5, 1.0, 4.5, 180.0, 0.0)
    stood, looked = [x, y + GROUND, z], [radians(-pitch), radians(180 - yaw)]
    if pose:
        tape += f"1 pos_change ({', '.join(map(str, stood))})\n2 set_look ({', '.join(map(str, looked))})\n"
    avatar = {"pos": stood, "look": looked}
    return {"avatarInfo": avatar, "worldEndingState": {"blocks": listed}, "tape": tape + "3 action finish_recover_world_state\n"}


def files() -> Iterator[tuple[str, object]]:
    """The path and the content of each file: the table's text, or a world."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, told in enumerate(instructions(), start=9001):
        path = f"initial_world_states/builder-data/{told.start.game}/step-2"
        clear = "No" if told.question else "Yes"
        writer.writerow((f"CQ-game-{number}", told.question, path, told.text, clear, "train"))
        yield path, world(told.before)
        if not told.question:
            name = f"game-{number}"
            yield f"target_world_states/builder-data/actionHit/{name}/{name}-step-action", world(told.after, told.pose)
    yield "clarifying_questions_train.csv", table.getvalue()
