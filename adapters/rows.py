"""Training rows: an item's prompt and answer as tokens, with the loss on the answer and its stop token only; and their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from random import Random
from types import MappingProxyType

from adapters.packing import Pack, Packing, pack_rows
from adapters.row_cache import Asked, cached_rows
from harness.augmentation.colors import permute_colors, random_colors, recolor_text
from harness.corpora.item import Item
from prompts.render import Renderer
from prompts.rendered import TrainingRow
from prompts.shots import Shots

Group = tuple[TrainingRow, ...]
"""The rows of a drawing procedure or a game."""


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """The rows that fit, by procedure or game, and how many were dropped because they did not."""

    groups: tuple[Group, ...]
    dropped: int

    @property
    def kept(self) -> tuple[TrainingRow, ...]:
        return tuple(chain.from_iterable(self.groups))


def make_rows(
    items: Sequence[Item],
    renderer: Renderer,
    pool: Shots,
    shots: int,
    max_length: int,
    answers: Mapping[str, str] = MappingProxyType({}),
    workers: int | None = None,
) -> TrainingRows:
    """One row per item, in order; a row of more than `max_length` tokens is dropped, since a cut one would teach half an answer.

    `answers` holds target answers by item id; other items get what the format writes for their gold actions. Rows made before
    come from the cache (`adapters.row_cache`), `workers` processes make others.
    """
    asked = [Asked(item, tuple(pool.arrange(pool.choose(item, shots))), answers.get(item.id)) for item in items]
    groups: dict[str, list[TrainingRow]] = {}
    dropped = 0
    for item, row in zip(items, cached_rows(asked, renderer, workers), strict=True):
        if len(row) <= max_length:
            groups.setdefault(item.cluster, []).append(row)
        else:
            dropped += 1
    return TrainingRows(tuple(map(tuple, groups.values())), dropped)


def recolored(
    items: Sequence[Item], answers: Mapping[str, str], epoch: int, seed: int
) -> tuple[Sequence[Item], Mapping[str, str]]:
    """Items and answers of an epoch: unchanged in the first one (0), then with each cluster's colors permuted at random."""
    if epoch == 0:
        return items, answers
    colors: dict[str, dict[str, str]] = {}
    for item in items:
        if item.cluster not in colors:
            colors[item.cluster] = random_colors(item.task, Random(f"{seed}/{epoch}/{item.cluster}"))
    texts = {i.id: recolor_text(answers[i.id], colors[i.cluster]) for i in items if i.id in answers}
    return [permute_colors(item, colors[item.cluster]) for item in items], texts


@dataclass(frozen=True, slots=True)
class WeightedSource:
    """The items of a source, by their ids, of which each epoch takes round(weight * items)."""

    ids: frozenset[str]
    weight: float


def drawn(groups: Sequence[Group], sources: Sequence[WeightedSource], epoch: int, seed: int) -> list[Group]:
    """The groups of an epoch: every group outside the sources, and from each source as many rows as its weight asks for, to the
    nearest whole group. They depend on the arguments alone."""
    weighted = frozenset(chain.from_iterable(source.ids for source in sources))
    taken = [group for group in groups if group[0].id not in weighted]
    for number, source in enumerate(sources):
        own = [group for group in groups if group[0].id in source.ids]
        size = sum(map(len, own))
        whole, left = divmod(round(source.weight * size), max(1, size))
        taken += own * whole
        for group in Random(f"{seed}/draw/{number}/{epoch}").sample(own, len(own)):
            if len(group) < 2 * left:
                taken.append(group)
                left -= len(group)
    return taken


def epochs(
    make: Callable[[int], TrainingRows],
    most: int,
    longest: int,
    seed: int,
    packing: Packing = Packing.TREE,
    sources: Sequence[WeightedSource] = (),
    rows: int | None = None,
) -> Iterator[list[Pack]]:
    """Endless epochs: the packs of what is drawn of `make(epoch)`, with clusters and then packs shuffled by the seed.

    `most`, `longest`, `packing` and `rows` are those of `pack_rows`, `sources` those of `drawn`.
    """
    for epoch in count():
        random = Random(f"{seed}/rows/{epoch}")
        groups = drawn(make(epoch).groups, sources, epoch, seed)
        random.shuffle(groups)
        packs = list(pack_rows(groups, most, longest, packing, rows))
        random.shuffle(packs)
        yield packs
