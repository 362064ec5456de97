"""One conversation: the initial state, one to four requests, and the actions after each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from random import Random
from typing import Any, NamedTuple

from harness.corpora.item import Executed, Item, Turn, Utterance
from harness.everyday.requests import plain, sentences
from harness.simulators import attempt, weighted
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
"""The shares of conversations with one to four turns, in percent."""
_BEGUN = 0.3
"""The share of conversations that begin with something drawn or built."""
_FOLLOWS = 0.8
"""The share of requests that refer to existing things, if there are any."""
_TRIES = 40


Makers = Mapping[Maker, int]
"""Makers of requests with their weights."""


class Situation(NamedTuple):
    """The makers of first requests, of requests about existing things, and of things that exist from the start."""

    opening: Makers
    following: Makers
    standing: Makers


_DRAWING = Situation(
    opening=areas.AREAS | drawn.FIGURES | AT_FIRST | areas.CANNOT,
    following=ANYTIME | areas.AREAS_LATER | about_drawn.RELATIONS,
    standing=drawn.FIGURES | areas.AREAS,
)
_BUILT = built.FIGURES | structures.STRUCTURES | built.GROUND
_BUILDING = Situation(
    opening=_BUILT | AT_FIRST | built.CANNOT,
    following=ANYTIME | built.GROUND_LATER | about_built.RELATIONS,
    standing=_BUILT,
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
        meta = {"kind": talk.orders[-1].kind, "program": talk.orders[-1].program}
        fields = {"before": before, "actions": actions, "after": talk.state, "group": name, "cluster": name, "meta": meta}
        items.append(talk.item(f"{name}/{number}", text, history, split=split, **fields))
        history = (*history, Utterance(talk.speaker, text), Executed(actions, talk.pose))
    return items


def _drawn(talk: Talk, makers: Makers) -> Iterator[Request]:
    """Orders that the state allows, from at most _TRIES attempts."""
    for _ in range(_TRIES):
        if order := attempt(weighted(talk.rng, makers), talk):
            yield order


def _begin(talk: Talk, standing: Makers) -> None:
    """Makes one to three things that no request mentions."""
    for _ in range(talk.rng.choice((1, 1, 1, 2, 2, 3))):
        next((order for order in _drawn(talk, standing) if order.noun and talk.take(order) is not None), None)
    # Forgetting how the things were made turns them into the initial state of the conversation.
    talk.steps, talk.past, talk.orders, talk.last = [], [], [], None


def _answered(talk: Talk, situation: Situation, history: tuple[Turn, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Requests in the person's words, each with its actions, which have been carried out when the request is yielded."""
    about = bool(talk.colors or talk.steps) and talk.rng.random() < _FOLLOWS
    earlier = {plain(turn.text) for turn in history if isinstance(turn, Utterance)}
    opening, following = _drawn(talk, situation.opening), _drawn(talk, situation.following)
    for order in chain(following, opening) if about else chain(opening, following):
        text = talk.typed(order.text if order.bare else talk.request(order.text, follows=any(talk.steps)))
        if plain(text) in earlier or plain(text) in sentences():
            continue
        actions = talk.take(order)
        if actions is not None:
            yield text, actions
