"""Training rows: an item's prompt and answer as tokens, with the loss on the answer and its stop token only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from harness.corpora.item import Item
from harness.errors import UsageError
from prompts.render import Renderer
from prompts.rendered import TrainingRow
from prompts.shots import ShotPool

GROUP = 50
"""Batches among which rows are sorted by length: enough to waste little on padding, few enough to stay mixed."""


def part_of(items: Sequence[Item], count: int | None, seed: int, asked: str = "training.train_items=") -> list[Item]:
    """`count` items for a learning curve, in their order; all of them for None. Raises UsageError, which begins with how they
    were asked for, if there are not so many.

    Whole drawing procedures or games in a random order of the seed, the last one cut short: with one seed, a smaller part lies
    within a larger one.
    """
    if count is None:
        return list(items)
    if count > len(items):
        raise UsageError(f"{asked}{count}: there are {len(items)} items to train on")
    clusters = list(dict.fromkeys(item.cluster for item in items))
    Random(f"{seed}/part").shuffle(clusters)
    place = {cluster: number for number, cluster in enumerate(clusters)}
    chosen = {item.id for item in sorted(items, key=lambda item: place[item.cluster])[:count]}
    return [item for item in items if item.id in chosen]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that fit, and how many were dropped because they did not."""

    kept: tuple[TrainingRow, ...]
    dropped: int

    def order(self, batch_size: int, batches: int, seed: int) -> list[int]:
        """The rows of `batches` batches one after the other, as indices: each epoch goes through all rows in another random
        order, in which rows of like length share a batch. It depends on the arguments alone, so a resumed run keeps to it.
        """
        random, order, left = Random(f"{seed}/rows"), list[int](), list[int]()
        lengths = [len(row.prompt_ids) + len(row.completion_ids) for row in self.kept]
        while len(order) < batch_size * batches:
            epoch = left + random.sample(range(len(lengths)), len(lengths))
            groups = (epoch[i : i + GROUP * batch_size] for i in range(0, len(epoch), GROUP * batch_size))
            grouped = [index for group in groups for index in sorted(group, key=lengths.__getitem__)]
            chunks = [grouped[i : i + batch_size] for i in range(0, len(grouped), batch_size)]
            left = chunks.pop() if len(chunks[-1]) < batch_size else []
            random.shuffle(chunks)
            order += [index for chunk in chunks for index in chunk]
        return order[: batch_size * batches]

    def dataset(self) -> Any:
        """In order, with the columns that TRL's SFTTrainer takes: `input_ids` and `completion_mask`, 1 where the loss is."""
        from datasets import Dataset

        return Dataset.from_dict(
            {
                "input_ids": [[*row.prompt_ids, *row.completion_ids] for row in self.kept],
                "completion_mask": [[0] * len(row.prompt_ids) + [1] * len(row.completion_ids) for row in self.kept],
            }
        )


def make_rows(items: Sequence[Item], renderer: Renderer, pool: ShotPool, shots: int, max_length: int) -> Rows:
    """One row an item, in order; a row of more than `max_length` tokens is dropped, for a cut one would teach half an answer."""
    rows = [renderer.training_row(item, pool.choose(item, shots)) for item in items]
    kept = tuple(row for row in rows if len(row.prompt_ids) + len(row.completion_ids) <= max_length)
    return Rows(kept, len(rows) - len(kept))
