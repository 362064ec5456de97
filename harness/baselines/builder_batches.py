"""From items to the builder models' training tensors, all steps of several items at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import torch

from harness.baselines.builder_network import BuilderBatch
from harness.baselines.shared_cells import share
from harness.baselines.world_head import WorldShape
from harness.baselines.world_state import VECTOR, Floats, gold_grids, gold_labels, perspective, vectors
from harness.corpora.item import MinecraftItem
from serialization.words import h3_tokens

LONGEST = 512
"""Words of a history that are read, the last ones; the corpora's longest has 231."""


class WordIndex(Protocol):
    """Turns a history's words into indices."""

    def numbers(self, words: Iterable[str]) -> list[int]: ...


def read_texts(items: Sequence[MinecraftItem], words: WordIndex) -> tuple[torch.Tensor, torch.Tensor]:
    """The word indices of the items' histories (H3), padded with 0 to shape (items, longest), and their lengths.

    A history without a word is one empty word.
    """
    numbers = [words.numbers(h3_tokens(item)[-LONGEST:] or [""]) for item in items]
    lengths = [len(text) for text in numbers]
    padded = np.zeros((len(items), max(lengths)), np.int64)
    for row, text in zip(padded, numbers, strict=True):
        row[: len(text)] = text
    return torch.from_numpy(padded), torch.tensor(lengths)


class BuilderCollator:
    """Makes batches for a network."""

    def __init__(self, shape: WorldShape, words: WordIndex) -> None:
        self.shape, self.words = shape, words

    def __call__(self, items: Sequence[MinecraftItem]) -> BuilderBatch:
        """Raises DataError for an item with an action outside the build region."""
        labels = [gold_labels(item) for item in items]
        steps = [len(own) for own in labels]
        grids = gold_grids(items)
        item = np.repeat(np.arange(len(items)), steps)
        tables = share(grids, steps, self.shape.world_layers, apart=self.shape.perspective != "none")
        cells = grids.channels_at(tables.grids, tables.cells)
        if (view := perspective_view(items, self.shape)) is not None:
            cells = np.concatenate([cells, view[item[tables.grids], :, tables.cells]], axis=1)
        tokens, lengths = read_texts(items, self.words)
        return BuilderBatch(
            tokens=tokens,
            lengths=lengths,
            actions=torch.from_numpy(_inputs(labels)),
            item=torch.from_numpy(item),
            position=torch.from_numpy(np.concatenate([np.arange(count) for count in steps])),
            labels=torch.tensor([label for own in labels for label in own]),
            cells=torch.from_numpy(cells),
            whole=tables.whole,
            around=tuple(torch.from_numpy(rows) for rows in tables.around),
            shown=torch.from_numpy(tables.shown),
        )


def perspective_view(items: Sequence[MinecraftItem], shape: WorldShape) -> Floats | None:
    """The perspective coordinates of all cells, shape (items, 3, 1089), if the network looks at them."""
    if shape.perspective == "none":
        return None
    return perspective([item.pose for item in items], indices=shape.perspective == "indices")


def _inputs(labels: Sequence[Sequence[int]]) -> Floats:
    """The decoder's inputs: at each step the previous gold action; zeros at the first and in padding."""
    inputs = np.zeros((len(labels), max(map(len, labels)), VECTOR), np.float32)
    for row, own in zip(inputs, labels, strict=True):
        row[1 : len(own)] = vectors(np.array(own[:-1], np.int64))
    return inputs
