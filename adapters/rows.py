"""Training rows: an item's prompt and answer as tokens, with the loss on the answer and its stop token only; and the
packs of a whole training, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adapters.packing import Ints, Packing, PackPlan, Packs, plan_packs
from adapters.row_cache import RowSource, cached_rows
from harness.augmentation.colors import permute_colors, random_colors
from harness.corpora.item import Item
from harness.training.curriculum import stages
from prompts.render import Renderer
from prompts.rendered import TrainingRow
from prompts.shots import Shots

if TYPE_CHECKING:
    from adapters.recipe import FinetuneRecipe, FinetuneTraining


class TrainingRows(Sequence[TrainingRow]):
    """The rows of a table (`adapters.row_cache`) that fit, the rows of a procedure or game next to each other.

    The table stays a memory-mapped file; only a few numbers per row are kept here.
    """

    def __init__(self, table: Any, longest: int) -> None:
        """Rows of more than `longest` tokens are dropped, since a cut one would teach half an answer."""
        import pyarrow.compute as pc

        self._table = table
        lengths = pc.list_value_length(table.column("tokens")).to_numpy()
        fits = lengths <= longest
        # By clusters, in the order of their first rows.
        clusters = table.column("cluster").filter(fits).combine_chunks().dictionary_encode().indices.to_numpy()
        order = np.argsort(clusters, kind="stable")
        self._numbers = np.flatnonzero(fits)[order]
        self._prompt_lengths = table.column("prompt_length").to_numpy()[self._numbers]
        self._starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
        self.size = int(lengths[fits].sum())
        """The number of tokens in all rows, beginnings that rows share included each time."""
        self.dropped = int((~fits).sum())
        """The number of rows that are too long."""

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, number: Any) -> Any:
        tokens, prompt_length = self.read(number)
        ids = tuple(tokens.tolist())
        return TrainingRow(self.id(number), ids[:prompt_length], ids[prompt_length:])

    def read(self, number: int) -> tuple[Ints, int]:
        """As `adapters.packing.Read`."""
        return self._value("tokens", number).values.to_numpy(), self._prompt_lengths[number].item()

    def id(self, number: int) -> str:
        return str(self._value("id", number))

    def item(self, number: int) -> int:
        """The index, from 0, of the item that the row was made from."""
        return int(self._numbers[number])

    def _value(self, column: str, number: int) -> Any:
        return self._table.column(column)[self._numbers[number].item()]

    @property
    def groups(self) -> list[range]:
        """The numbers of each procedure's or game's rows."""
        return [range(*ends) for ends in pairwise([*self._starts.tolist(), len(self)])]


def make_rows(
    items: Sequence[Item],
    renderer: Renderer,
    pool: Shots,
    shots: int,
    max_length: int,
    workers: int | None = None,
    recolor: str | None = None,
) -> TrainingRows:
    """A row for each item that takes at most `max_length` tokens.

    With `recolor`, a seed, each cluster's colors are permuted at random. Rows made before come from the cache
    (`adapters.row_cache`); `workers` processes make the others.
    """
    chosen = [tuple(pool.arrange(pool.choose(item, shots))) for item in items] if shots else [()] * len(items)
    asked = [_asked(item, examples, recolor) for item, examples in zip(items, chosen, strict=True)]
    return TrainingRows(cached_rows(asked, renderer, workers), max_length)


def _asked(item: Item, shots: tuple[Item, ...], recolor: str | None) -> RowSource:
    if recolor is not None:
        item = permute_colors(item, random_colors(item.task, Random(f"{recolor}/{item.cluster}")))
    return RowSource(item, shots)


@dataclass(frozen=True, slots=True)
class WeightedSource:
    """The items of a source, by their indices among all train items. Each epoch takes round(weight * items) of them."""

    items: range
    weight: float


def drawn(rows: TrainingRows, sources: Sequence[WeightedSource], epoch: int, seed: int) -> list[range]:
    """The groups of an epoch: every group outside the sources, and from each source as many rows as its weight asks for, to the
    nearest whole group. The result depends on the arguments alone."""
    if not sources:
        return rows.groups
    groups = {rows.item(group.start): group for group in rows.groups}
    taken = [group for item, group in groups.items() if not any(item in source.items for source in sources)]
    for number, source in enumerate(sources):
        own = [group for item, group in groups.items() if item in source.items]
        size = sum(map(len, own))
        whole, left = divmod(round(source.weight * size), max(1, size))
        taken += own * whole
        for group in Random(f"{seed}/draw/{number}/{epoch}").sample(own, len(own)):
            if len(group) < 2 * left:
                taken.append(group)
                left -= len(group)
    return taken


def plan_epoch(
    rows: TrainingRows,
    epoch: int,
    training: FinetuneTraining,
    longest: int,
    packing: Packing = Packing.TREE,
    sources: Sequence[WeightedSource] = (),
) -> list[PackPlan]:
    """The packs of the groups that `drawn` returns, with groups and then packs shuffled by the seed.

    `longest` and `packing` are as in `plan_packs`, `sources` as in `drawn`.
    """
    random = Random(f"{training.seed}/rows/{epoch}")
    groups = drawn(rows, sources, epoch, training.seed)
    random.shuffle(groups)
    plans = list(plan_packs(rows.read, groups, training.tokens, longest, packing, training.per_device_train_batch_size))
    random.shuffle(plans)
    return plans


class TrainPacks(NamedTuple):
    """What a training reads: a curriculum's stages, if there is one, then `training.epochs` of all rows."""

    rows: TrainingRows
    """The first epoch's rows."""
    packs: Packs
    """The packs of the whole run, in order."""
    staged: int
    """How many of them belong to the stages."""
    tokens: int
    """The number of tokens in the first epoch's packs."""


def train_packs(
    items: Sequence[Item],
    recipe: FinetuneRecipe,
    renderer: Renderer,
    pool: Shots,
    packing: Packing = Packing.TREE,
    sources: Sequence[WeightedSource] = (),
) -> TrainPacks:
    """What a training on these items reads. The packs of later epochs are planned when these begin."""
    training = recipe.training
    rows = _epoch_rows(items, recipe, renderer, pool, 0)
    plans = plan_epoch(rows, 0, training, renderer.budget, packing, sources)
    begun = _curriculum_plans(items, rows, training, renderer, packing)
    wanted = (training.max_steps or 0) * training.accumulation
    wanted = wanted or max(training.accumulation, len(begun) + round(training.epochs * len(plans)))
    again = partial(_epoch_rows, items, recipe, renderer, pool) if training.recolor else None
    later = partial(_later_epoch, rows, again, training, renderer.budget, packing, sources)
    packs = Packs(begun + plans, wanted - wanted % training.accumulation, later)
    return TrainPacks(rows, packs, len(begun), sum(plan.tokens for plan in plans))


def _later_epoch(
    first: TrainingRows,
    again: Callable[[int], TrainingRows] | None,
    training: FinetuneTraining,
    longest: int,
    packing: Packing,
    sources: Sequence[WeightedSource],
    epoch: int,
) -> list[PackPlan]:
    """The packs of the first epoch's rows, or of the rows that `again` makes for this epoch."""
    return plan_epoch(again(epoch) if again else first, epoch, training, longest, packing, sources)


def _epoch_rows(items: Sequence[Item], recipe: FinetuneRecipe, renderer: Renderer, pool: Shots, epoch: int) -> TrainingRows:
    recolor = f"{recipe.training.seed}/{epoch}" if epoch else None
    return make_rows(items, renderer, pool, recipe.shots, renderer.budget, recolor=recolor)


def _curriculum_plans(
    items: Sequence[Item], rows: TrainingRows, training: FinetuneTraining, renderer: Renderer, packing: Packing
) -> list[PackPlan]:
    """The packs of the curriculum's stages; none without a curriculum."""
    if not (training.curriculum and rows):
        return []
    learned = [items[rows.item(n)] for n in range(len(rows))]
    most, length = training.per_device_train_batch_size, renderer.budget
    curriculum = stages(learned, training.curriculum, training.seed, renderer.history_tokens)
    plans = (plan_packs(rows.read, ([n] for n in stage), training.tokens, length, packing, most) for stage in curriculum)
    return list(chain.from_iterable(plans))
