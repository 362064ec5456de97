"""Which items a training run uses."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice, zip_longest
from random import Random
from typing import TypeVar

from harness.corpora import load
from harness.corpora.item import Item, data_set
from harness.errors import UsageError
from harness.simulators.games import validation_items
from harness.tasks.registry import TASKS

T = TypeVar("T")
_SIMULATED = 0.1
"""The size of dev as a share of train's, if all of dev is simulated."""


def spread(items: Sequence[T], count: int) -> list[T]:
    """At most `count` items, evenly spread over the sequence, in its order; deterministic."""
    count = min(count, len(items))
    return [items[i * len(items) // count] for i in range(count)]


def first_steps(items: Sequence[Item], count: int) -> list[Item]:
    """At most `count` items for formats in which an answer builds on earlier ones: the first steps of some drawing procedures.

    The procedures are spread over the sequence and give equally many steps.
    """
    procedures: dict[str, list[Item]] = {}
    for item in items:
        procedures.setdefault(item.cluster, []).append(item)
    taken = spread(list(procedures.values()), max(1, count // 4))
    waves = chain.from_iterable(zip_longest(*taken))
    chosen = {item.id for item in islice((item for item in waves if item), count)}
    return [item for item in items if item.id in chosen]


def subset(items: Sequence[Item], count: int | None, seed: int, flag: str = "training.train_items=") -> list[Item]:
    """`count` items for a learning curve, in their order; all of them for None. Raises UsageError, which begins with `flag` and
    `count`, if there are fewer.

    Whole drawing procedures or games are taken in the random order of the seed, and the last one is cut short: with one seed, a
    smaller part lies within a larger one.
    """
    if count is None:
        return list(items)
    if count > len(items):
        raise UsageError(f"{flag}{count}: there are {len(items)} items to train on")
    clusters = list(dict.fromkeys(item.cluster for item in items))
    Random(f"{seed}/part").shuffle(clusters)
    place = {cluster: number for number, cluster in enumerate(clusters)}
    chosen = {item.id for item in sorted(items, key=lambda item: place[item.cluster])[:count]}
    return [item for item in items if item.id in chosen]


def dev_set(train: Iterable[Item], validation: Iterable[Item], seed: int) -> list[Item]:
    """The validation items of the data sets that are trained on, in the proportions of train (BAP v2, 12.3), set by set.

    A data set without any among `validation` has its corpus's dev split or, if it is a building game, as many simulated ones as
    it needs; others are left out. There are as many as the splits allow, whole games drawn at random: the paper leaves both open.
    Raises UsageError, in one line, if there are none, and for validation items of a data set that is not trained on.
    """
    wanted, parts = Counter(map(data_set, train)), dict[str, list[Item]]()
    for item in validation:
        parts.setdefault(data_set(item), []).append(item)
    if others := sorted(parts.keys() - wanted.keys()):
        raise UsageError(f"--dev-data: there are no train items of {others[0]}: leave its validation split out")
    parts |= {name: load(name, "dev") for name in wanted if name in TASKS and name not in parts}
    share = min((len(part) / wanted[name] for name, part in parts.items()), default=_SIMULATED)
    sizes = {name: round(share * count) or 1 for name, count in wanted.items()}
    parts = {name: parts.get(name) or validation_items(name, size) for name, size in sizes.items()}
    if not any(parts.values()):
        raise UsageError(f"--dev-data: there are train items of {min(wanted)}, but none to validate on: add its validation split")
    return [item for name, part in parts.items() for item in subset(part, sizes[name], seed)]
