"""What a drawing board is asked, and how often."""

from __future__ import annotations

from random import Random

from harness.corpora.item import Item
from harness.simulators.everyday.conversation import Requests, Situation, conversation
from harness.simulators.everyday.following import ANYTIME, AT_FIRST
from harness.simulators.everyday.hexagons.areas import AREAS, AREAS_LATER
from harness.simulators.everyday.hexagons.drawing import DrawingTalk
from harness.simulators.everyday.hexagons.figures import FIGURES
from harness.simulators.everyday.hexagons.relations import RELATIONS
from harness.simulators.everyday.talk import Request
from harness.worlds.hexagons import COLUMNS, ROWS


def off_the_board(d: DrawingTalk) -> Request:
    row, column = d.rng.randint(ROWS + 1, 40), d.rng.randint(COLUMNS + 1, 60)
    slots = {"n": str(row), "m": str(column), "nth": d.nth(row), "mth": d.nth(column)}
    return Request("cannot", d.say("off", color=d.color(), **slots))


def cannot_draw(d: DrawingTalk) -> Request:
    return Request("cannot", d.say("cannot draw", color=d.color()))


_SITUATION = Situation(
    opening=Requests(AREAS, FIGURES, AT_FIRST, {off_the_board: 2, cannot_draw: 1}),
    following=Requests(ANYTIME, AREAS_LATER, RELATIONS),
    standing=Requests(FIGURES, AREAS),
)


def drawing(rng: Random, number: int, split: str) -> list[Item]:
    """The turns of one conversation. Ids are `hexagons-everyday/<split>/<number>/<turn>`."""
    return conversation(DrawingTalk(rng), _SITUATION, f"hexagons-everyday/{split}/{number}", split)
