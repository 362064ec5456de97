"""The sample's building games as short scripts, and the world states that a log of them would hold.

A script line is `A` or `B` and what the Architect or the Builder says, `@ x y z yaw pitch` for a new pose of the builder,
`+ color x y z` for a block placed and `- x y z` for one removed.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from harness.worlds.minecraft import COLORS, Action, Pose, Structure


class Game(NamedTuple):
    split: str
    target: str
    script: str


GAMES = (
    Game(
        "train",
        "C901",
        """
        @ 0.62 1.0 -3.9 2.4 21.5
        A hi builder, this one is a little flag
        B hello! ready when you are
        A start with a tower of four blue blocks in the middle
        + blue 0 1 0
        + blue 0 2 0
        + blue 0 3 0
        + blue 0 4 0
        @ 0.31 2.8 -4.2 -3.1 8.0
        B like this?
        A yes. now on the right side of the top block put two red ones in a line, going right
        + red -1 4 0
        + red -2 4 0
        A and the same under those, two more reds, so the flag is two high
        + red -1 3 0
        + red -2 3 0
        B should the flag have other colors too?
        A just one yellow, it goes on the very top of the tower
        + yellow 0 5 0
        A that's it, nice work
        """,
    ),
    Game(
        "train",
        "C902",
        """
        @ 0.4 1.0 4.6 178.2 24.0
        A hey, today we make a bench
        A first a row of 3 green blocks on the ground near the center, from left to right as you look at it
        + green -1 1 0
        + green 0 1 0
        + green 1 1 0
        A good. now two purple blocks stacked on the left end
        + purple -1 2 0
        + purple -1 3 0
        B ok
        A do the same thing on the right end
        B also purple?
        A yup
        + purple 1 2 0
        + purple 1 3 0
        @ 0.9 1.9 4.3 185.7 16.3
        A oops, the arms are too tall. take away the top block of each one
        - -1 3 0
        - 1 3 0
        A now one orange block behind the middle green one
        + orange 0 1 -1
        B it has a back now :)
        """,
    ),
    Game(
        "train",
        "C903",
        """
        @ -4.7 1.0 0.8 -88.4 18.2
        A this is a small bridge, part of it hangs in the air
        B cool, where do i start?
        A put one yellow block on the ground in the center
        + yellow 0 1 0
        A stack two more yellow on it
        + yellow 0 2 0
        + yellow 0 3 0
        @ -4.1 2.6 1.9 -83.0 6.4
        A next to the top yellow, on its right, add three orange in a row going right
        + orange 0 3 1
        + orange 0 3 2
        + orange 0 3 3
        A now there is a red block above the last orange one, with one empty space between them
        B so it floats?
        A yes, use any block as a support and take it out after
        @ -3.6 3.4 3.1 -91.5 2.0
        B ok
        + green 0 4 3
        + red 0 5 3
        - 0 4 3
        A perfect. finally get rid of the lowest yellow block
        - 0 1 0
        """,
    ),
    Game(
        "train",
        "C904",
        """
        @ 1.9 1.0 -4.8 14.5 23.0
        A ok this one is flat at first. build a 3x3 square of purple blocks on the ground in the middle
        + purple 1 1 -1
        + purple 0 1 -1
        + purple -1 1 -1
        + purple 1 1 0
        + purple 0 1 0
        + purple -1 1 0
        + purple 1 1 1
        + purple 0 1 1
        + purple -1 1 1
        B does it stay filled in?
        A no, good question. take out the middle one
        - 0 1 0
        A then put a green block on top of each corner of the square
        + green 1 2 -1
        + green -1 2 -1
        + green -1 2 1
        + green 1 2 1
        A could you go to the other side please
        @ 0.6 1.0 6.4 181.3 19.0
        B i'm there
        A make a flat blue L: start with one in front of the middle purple block on your side
        A then two more to the right of it, and one coming towards you from the last
        + blue 0 1 2
        + blue 1 1 2
        + blue 2 1 2
        + blue 2 1 3
        A great job
        """,
    ),
    Game(
        "val",
        "C905",
        """
        @ 5.2 1.0 0.7 91.8 17.0
        A hello! we're making stairs that go up to the left
        A place one orange block on the ground in the center
        + orange 0 1 0
        A to the left of it make an orange tower of 2
        + orange 0 1 1
        + orange 0 2 1
        B and then one of 3?
        A exactly, left of that again
        + orange 0 1 2
        + orange 0 2 2
        + orange 0 3 2
        @ 4.4 2.2 2.9 95.0 5.5
        A great, last thing. swap the top block of the tallest one for a blue one
        - 0 3 2
        + blue 0 3 2
        B stairs!
        """,
    ),
    Game(
        "val",
        "C906",
        """
        @ 0.5 1.0 -8.1 -1.7 15.0
        A we are building the letter T, standing up
        B which colors?
        A mostly red
        A so first a column of three red, in the middle of the row one step in from the edge closest to you
        + red 0 1 -4
        + red 0 2 -4
        + red 0 3 -4
        A on top of that one more red, and one red on each side of the new block, left and right
        + red 0 4 -4
        + red 1 4 -4
        + red -1 4 -4
        @ 0.3 2.4 -8.6 3.6 -4.0
        A now make the arms longer, one yellow on the left end and one green on the right end
        + yellow 2 4 -4
        + green -2 4 -4
        B the colors look nice
        A haha yes but i mixed them up, the left one has to be green and the right one yellow, sorry
        B np
        - 2 4 -4
        + green 2 4 -4
        - -2 4 -4
        + yellow -2 4 -4
        """,
    ),
    Game(
        "test",
        "C907",
        """
        @ 1.3 1.0 5.4 172.6 16.0
        A hi there
        B hi! what is it this time?
        A two towers and something on top. build a blue tower of 3 in the center first
        + blue 0 1 0
        + blue 0 2 0
        + blue 0 3 0
        A leave two spaces to the right of it and build the same tower again, only in yellow
        + yellow 3 1 0
        + yellow 3 2 0
        + yellow 3 3 0
        @ 2.1 2.7 5.0 180.9 9.0
        B like that?
        A perfect. join the top blocks of the towers with green
        + green 1 3 0
        + green 2 3 0
        @ 0.8 1.0 5.7 176.0 18.5
        A in front of the bottom blue block place a purple one
        + purple 0 1 1
        """,
    ),
    Game(
        "test",
        "C908",
        """
        @ -5.4 1.0 0.2 -94.0 17.5
        A let's go, this one has a floating piece
        A on the ground put 4 red in a line going away from you, right through the middle
        + red -1 1 0
        + red 0 1 0
        + red 1 1 0
        + red 2 1 0
        B done
        A the one closest to you gets a yellow block on its left side
        + yellow -1 1 -1
        A the one farthest from you too, but on its right. same color
        + yellow 2 1 1
        @ -4.2 2.0 0.9 -87.3 12.0
        A now a blue block that floats above the second red, counting from you, with one empty space in between
        + blue 0 2 0
        + blue 0 3 0
        - 0 2 0
        B here?
        A yes! now remove both yellow blocks again, i read the picture wrong
        - -1 1 -1
        - 2 1 1
        B happens
        A thanks, we're done
        """,
    ),
)


def observations(game: Game, start: datetime) -> tuple[dict[str, object], Structure]:
    """The log of a game, one world state an event, and the structure it ends in."""
    structure, chat, pose, states = Structure(), ["<Builder> Mission has started."], Pose(0.5, 1.0, -5.5, 0.0, 10.0), []
    listed: list[tuple[int, int, int]] = []  # in the order of placing, as the logs list them
    clock, lines = start, [line.strip() for line in game.script.strip().splitlines()]
    for line in ["", *lines]:
        kind, _, rest = line.partition(" ")
        if kind == "@":
            pose = Pose(*map(float, rest.split()))
            continue
        if kind in ("A", "B"):
            chat.append(f"<{'Architect' if kind == 'A' else 'Builder'}> {rest}")
        elif kind in ("+", "-"):
            action = _action(kind, rest, structure)
            structure, ignored = structure.apply([action], limited=True)
            assert not ignored, f"{game.target}: {line}"
            listed = [*listed, action.cell] if kind == "+" else [cell for cell in listed if cell != action.cell]
        states.append(_state(chat, listed, structure, pose, clock))
        clock += timedelta(seconds=7 if kind in ("A", "B") else 2)
    return {"WorldStates": states, "NumFixedViewers": 0, "TimeElapsed": (clock - start).total_seconds()}, structure


def _action(kind: str, rest: str, structure: Structure) -> Action:
    *color, x, y, z = rest.split()
    cell = int(x), int(y), int(z)
    return Action("place", color[0], *cell) if kind == "+" else Action("remove", structure.color_at(*cell), *cell)


def _state(
    chat: list[str], listed: list[tuple[int, int, int]], structure: Structure, pose: Pose, clock: datetime
) -> dict[str, object]:
    left = structure.inventory()
    return {
        "BuilderPosition": {"X": pose.x, "Y": pose.y, "Z": pose.z, "Yaw": pose.yaw, "Pitch": pose.pitch},
        "BuilderInventory": [
            {"Index": index, "Type": f"cwc_minecraft_{color}_rn", "Quantity": left[color]}
            for index, color in enumerate(COLORS)
            if left[color]
        ],
        "ChatHistory": list(chat),
        "Timestamp": f"{clock:%Y-%m-%d %H:%M:%S}",
        "BlocksInGrid": [
            {
                "PerspectiveCoordinates": None,
                "AbsoluteCoordinates": {"X": x, "Y": y, "Z": z},
                "Type": f"cwc_minecraft_{structure.color_at(x, y, z)}_rn",
            }
            for x, y, z in listed
        ],
        "ScreenshotPath": None,
    }


def configuration(structure: Structure) -> str:
    """A target as the corpus writes it: one element a line, x and z displaced by 100."""
    return "".join(
        f'<DrawBlock type="cwcmod:cwc_minecraft_{block.color}_rn" x="{block.x + 100}" y="{block.y}" z="{block.z + 100}"/>\n'
        for block in structure.blocks()
    )
