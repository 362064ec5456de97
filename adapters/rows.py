"""Training rows: an item's prompt and answer as tokens, with the loss on the answer and its stop token only; and the
packs of a whole training, in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adapters.labels import Ints, Packing
from adapters.packing import PackPlan, Packs, plan_packs
from harness.augmentation.colors import permute_colors, random_colors
from harness.corpora.item import Item
from harness.training.curriculum import stages
from prompts.render import Renderer
from prompts.rendered import TrainingRow
from prompts.shots import Shots

if TYPE_CHECKING:
    from adapters.recipe import FinetuneRecipe, FinetuneTraining


class _Row(NamedTuple):
    item: int
    """The index of the item that it was made from."""
    id: str
    tokens: Ints
    """The prompt's and the answer's."""
    prompt_length: int


class TrainingRows(Sequence[TrainingRow]):
    """The rows that fit, the rows of a procedure or game next to each other, in the order of their first rows."""

    def __init__(self, rows: Iterable[tuple[TrainingRow, str]], longest: int) -> None:
        """`rows` holds each row with its procedure or game. Rows of more than `longest` tokens are dropped, because a row that is
        cut would teach half an answer."""
        clusters: dict[str, list[_Row]] = {}
        self.dropped = 0
        """The number of rows that are too long."""
        for number, (row, cluster) in enumerate(rows):
            if len(row) > longest:
                self.dropped += 1
                continue
            tokens = np.array(row.token_ids, np.int32)
            clusters.setdefault(cluster, []).append(_Row(number, row.id, tokens, len(row.prompt_ids)))
        self._rows = [*chain.from_iterable(clusters.values())]
        self.groups = [range(*ends) for ends in pairwise(accumulate(map(len, clusters.values()), initial=0))]
        """The numbers of each procedure's or game's rows."""
        self.size = sum(len(row.tokens) for row in self._rows)
        """The number of tokens in all rows, beginnings that rows share included each time."""

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: Any) -> Any:
        _, name, tokens, prompt_length = self._rows[number]
        ids = tuple(tokens.tolist())
        return TrainingRow(name, ids[:prompt_length], ids[prompt_length:])

    def item(self, number: int) -> int:
        """The index, from 0, of the item that the row was made from."""
        return self._rows[number].item


def make_rows(
    items: Sequence[Item], renderer: Renderer, pool: Shots, shots: int, max_length: int, recolor: str | None = None
) -> TrainingRows:
    """A row for each item that takes at most `max_length` tokens. With `recolor`, a seed, each cluster's colors are permuted at
    random."""

    def row(item: Item) -> tuple[TrainingRow, str]:
        examples = tuple(pool.arrange(pool.choose(item, shots))) if shots else ()
        return renderer.training_row(item if recolor is None else recolored(item, recolor), examples), item.cluster

    return TrainingRows(map(row, items), max_length)


def recolored(item: Item, seed: str) -> Item:
    """The item in other colors, which are the same in its whole procedure or game."""
    return permute_colors(item, random_colors(item.task, Random(f"{seed}/{item.cluster}")))


def plan_epoch(
    rows: TrainingRows,
    epoch: int,
    training: FinetuneTraining,
    longest: int,
    packing: Packing = Packing.TREE,
) -> list[PackPlan]:
    """The packs of all rows, with groups and then packs shuffled by the seed. `longest` and `packing` are as in `plan_packs`."""
    random = Random(f"{training.seed}/rows/{epoch}")
    groups = list(rows.groups)
    random.shuffle(groups)
    plans = list(plan_packs(rows, groups, training.tokens, longest, packing, training.per_device_train_batch_size))
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
) -> TrainPacks:
    """What a training on these items reads. The packs of later epochs are planned when these begin."""
    training = recipe.training
    rows = _epoch_rows(items, recipe, renderer, pool, 0)
    plans = plan_epoch(rows, 0, training, renderer.budget, packing)
    begun = _curriculum_plans(items, rows, training, renderer, packing)
    wanted = (training.max_steps or 0) * training.accumulation
    wanted = wanted or max(training.accumulation, len(begun) + round(training.epochs * len(plans)))

    def later(epoch: int) -> list[PackPlan]:
        again = _epoch_rows(items, recipe, renderer, pool, epoch) if training.recolor else rows
        return plan_epoch(again, epoch, training, renderer.budget, packing)

    packs = Packs(begun + plans, wanted - wanted % training.accumulation, later)
    return TrainPacks(rows, packs, len(begun), sum(plan.tokens for plan in plans))


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
    plans = (plan_packs(rows, ([n] for n in stage), training.tokens, length, packing, most) for stage in curriculum)
    return list(chain.from_iterable(plans))
