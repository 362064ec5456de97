"""One conversation: what stands there at first, one to four requests, and what is done after each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate, chain
from random import Random
from typing import Any, NamedTuple

from harness.corpora.item import Executed, Item, Turn, Utterance
from harness.everyday.requests import plain, sentences
from harness.simulators import attempt
from harness.simulators.everyday.following import ANYTIME, AT_FIRST
from harness.simulators.everyday.hexagons import areas
from harness.simulators.everyday.hexagons import figures as drawn
from harness.simulators.everyday.hexagons import relations as about_drawn
from harness.simulators.everyday.hexagons.drawing import DrawingTalk
from harness.simulators.everyday.minecraft import figures as built
from harness.simulators.everyday.minecraft import relations as about_built
from harness.simulators.everyday.minecraft import structures
from harness.simulators.everyday.minecraft.building import BuildingTalk
from harness.simulators.everyday.talk import Maker, Request, Talk

_TURNS = (50, 27, 14, 9)
"""How often a conversation has one to four turns, in percent."""
_BEGUN = 0.3
"""The share of conversations that begin with something drawn or built."""
_FOLLOWS = 0.8
"""The share of requests that are about what stands there, where something does."""
_TRIES = 40


class Requests:
    """Makers of requests with their weights."""

    def __init__(self, *weights: Mapping[Maker, int]) -> None:
        makers = {make: weight for some in weights for make, weight in some.items()}
        self._makers, self._weights = tuple(makers), tuple(accumulate(makers.values()))

    def drawn(self, talk: Talk) -> Iterator[Request]:
        """Orders, as long as there is hope that one can be carried out."""
        for _ in range(_TRIES):
            make = talk.rng.choices(self._makers, cum_weights=self._weights)[0]
            if order := attempt(make, talk):
                yield order


class Situation(NamedTuple):
    """What can be asked at first, what of something that stands there, and what may stand there first."""

    opening: Requests
    following: Requests
    standing: Requests


_DRAWING = Situation(
    opening=Requests(areas.AREAS, drawn.FIGURES, AT_FIRST, areas.CANNOT),
    following=Requests(ANYTIME, areas.AREAS_LATER, about_drawn.RELATIONS),
    standing=Requests(drawn.FIGURES, areas.AREAS),
)
_BUILDING = Situation(
    opening=Requests(built.FIGURES, structures.STRUCTURES, built.GROUND, AT_FIRST, built.CANNOT),
    following=Requests(ANYTIME, built.GROUND_LATER, about_built.RELATIONS),
    standing=Requests(built.FIGURES, structures.STRUCTURES, built.GROUND),
)


def drawing(rng: Random, number: int, split: str) -> list[Item]:
    """The turns of one conversation with a drawing board. Ids are `hexagons-everyday/<split>/<number>/<turn>`."""
    return _conversation(DrawingTalk(rng), _DRAWING, f"hexagons-everyday/{split}/{number}", split)


def building(rng: Random, number: int, split: str) -> list[Item]:
    """The turns of one conversation with a block builder. Ids are `minecraft-everyday/<split>/<number>/<turn>`."""
    return _conversation(BuildingTalk(rng), _BUILDING, f"minecraft-everyday/{split}/{number}", split)


def _conversation(talk: Talk, situation: Situation, name: str, split: str) -> list[Item]:
    rng = talk.rng
    if rng.random() < _BEGUN:
        _begin(talk, situation.standing)
    items: list[Item] = []
    history: tuple[Turn, ...] = ()
    for number in range(1, 1 + rng.choices(range(1, 5), _TURNS)[0]):
        before = talk.state
        made = next(_answered(talk, situation, history), None)
        if made is None:
            break
        text, actions = made
        order = talk.orders[-1]
        fields = {"before": before, "actions": actions, "after": talk.state, "group": name, "cluster": name}
        meta = {"kind": order.kind, "program": order.program}
        items.append(talk.item(f"{name}/{number}", text, history, split=split, meta=meta, **fields))
        history = (*history, Utterance(talk.speaker, text), Executed(actions, talk.pose))
    return items


def _begin(talk: Talk, standing: Requests) -> None:
    """Makes one to three things, of which nothing is said."""
    for _ in range(talk.rng.choice((1, 1, 1, 2, 2, 3))):
        next((order for order in standing.drawn(talk) if order.noun and talk.take(order) is not None), None)
    talk.forget()


def _answered(talk: Talk, situation: Situation, history: tuple[Turn, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Requests in the person's words, each with its actions, carried out when it is taken."""
    about = bool(talk.colors or talk.steps) and talk.rng.random() < _FOLLOWS
    earlier = {plain(turn.text) for turn in history if isinstance(turn, Utterance)}
    opening, following = situation.opening.drawn(talk), situation.following.drawn(talk)
    for order in chain(following, opening) if about else chain(opening, following):
        text = talk.typed(order.text if order.bare else talk.request(order.text, follows=any(talk.steps)))
        if plain(text) in earlier or plain(text) in sentences():
            continue
        actions = talk.take(order)
        if actions is not None:
            yield text, actions
