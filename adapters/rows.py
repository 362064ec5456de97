"""Training rows: an item's prompt and answer as tokens, with the loss on the answer and its stop token only."""

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise
from random import Random
from typing import Any, NamedTuple

import numpy as np

from adapters.labels import Ints
from harness.augmentation.colors import permute_colors, random_colors
from harness.corpora.item import Item
from prompts.render import Renderer
from prompts.rendered import TrainingRow
from prompts.shots import Shots


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
