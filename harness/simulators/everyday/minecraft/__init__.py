"""What a block builder is asked, and how often."""

from __future__ import annotations

from random import Random

from harness.corpora.item import Item
from harness.simulators.everyday.conversation import Requests, Situation, conversation
from harness.simulators.everyday.following import ANYTIME, AT_FIRST
from harness.simulators.everyday.minecraft.building import BuildingTalk
from harness.simulators.everyday.minecraft.figures import FIGURES
from harness.simulators.everyday.minecraft.ground import GROUND, GROUND_LATER
from harness.simulators.everyday.minecraft.relations import RELATIONS
from harness.simulators.everyday.minecraft.structures import STRUCTURES
from harness.simulators.everyday.talk import Request
from harness.worlds.minecraft import HEIGHT, SIDE


def off_the_ground(b: BuildingTalk) -> Request:
    n, m = b.rng.randint(2 * SIDE, 50), b.rng.randint(HEIGHT + 1, 40)
    return Request("cannot", b.say("off", color=b.color(), n=str(n), m=str(m)))


def cannot_build(b: BuildingTalk) -> Request:
    return Request("cannot", b.say("cannot build", color=b.color()))


_SITUATION = Situation(
    opening=Requests(FIGURES, STRUCTURES, GROUND, AT_FIRST, {off_the_ground: 2, cannot_build: 1}),
    following=Requests(ANYTIME, GROUND_LATER, RELATIONS),
    standing=Requests(FIGURES, STRUCTURES, GROUND),
)


def building(rng: Random, number: int, split: str) -> list[Item]:
    """The turns of one conversation. Ids are `minecraft-everyday/<split>/<number>/<turn>`."""
    return conversation(BuildingTalk(rng), _SITUATION, f"minecraft-everyday/{split}/{number}", split)
