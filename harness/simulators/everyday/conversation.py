"""One conversation: what stands there at first, one to four requests, and what is done after each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate, chain
from typing import Any, NamedTuple

from harness.corpora.item import Executed, Item, Turn, Utterance
from harness.everyday.requests import plain, sentences
from harness.simulators.everyday.talk import Maker, Request, Talk
from harness.simulators.possible import attempt

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


def conversation(talk: Talk, situation: Situation, name: str, split: str) -> list[Item]:
    """The turns of one conversation, in order. Ids are `<name>/<turn>`."""
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
    rng, person = talk.rng, talk.person
    about = bool(talk.colors or talk.steps) and rng.random() < _FOLLOWS
    earlier = {plain(turn.text) for turn in history if isinstance(turn, Utterance)}
    opening, following = situation.opening.drawn(talk), situation.following.drawn(talk)
    for order in chain(following, opening) if about else chain(opening, following):
        text = person.typed(order.text if order.bare else person.request(order.text, follows=any(talk.steps)))
        if plain(text) in earlier or plain(text) in sentences():
            continue
        actions = talk.take(order)
        if actions is not None:
            yield text, actions
