"""The builder models' networks and batches.

A network has a text encoder and a decoder, whose states are combined with the world in a `WorldHead`. A batch holds the tensors
of all steps of several items.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from harness.baselines.shared_cells import share
from harness.baselines.world_head import WorldHead, WorldShape
from harness.baselines.world_state import VECTOR, Floats, gold_grids, gold_labels, perspective, vectors
from harness.corpora.item import MinecraftItem
from harness.training.steps import Losses
from serialization.words import h3_tokens

LONGEST = 512
"""Only this many last words of a history are read; the corpora's longest history has 231."""


class BuilderBatch(NamedTuple):
    """Items with all their teacher-forced steps, item after item."""

    tokens: Tensor
    """Shape (items, longest text), padded with 0."""
    lengths: Tensor
    """The lengths of the texts, at least 1."""
    actions: Tensor
    """The decoder's inputs, shape (items, most steps, 11): zeros, then the gold actions."""
    item: Tensor
    """The index of each step's item."""
    position: Tensor
    """The index of each step in its item."""
    labels: Tensor
    """The gold label of each step."""
    cells: Tensor
    """The channels of each input row of the tables of `shared_cells`, shape (rows, channels); the tables' fields follow."""
    whole: int
    around: tuple[Tensor, ...]
    shown: Tensor


class BuilderNetwork(nn.Module):  # type: ignore[misc]
    """The base of the builder models, which computes losses and logits; a subclass turns texts and actions into states."""

    decoder: WorldHead

    def states(self, batch: BuilderBatch) -> Tensor:
        """The decoder's states at all steps, shape (items, most steps, width)."""
        raise NotImplementedError

    def begin(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        """The state before the first action: tensors whose first dimension is the items."""
        raise NotImplementedError

    def advance(self, known: tuple[Tensor, ...], inputs: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The decoder's next states, shape (items, width), and the updated state; `inputs` are the last actions, (items, 11)."""
        raise NotImplementedError

    def forward(self, batch: BuilderBatch) -> Losses:
        logits = self.logits(batch)
        each = functional.cross_entropy(logits, batch.labels, reduction="none")
        sums = torch.zeros(len(batch.tokens), device=each.device).index_add(0, batch.item, each)
        return Losses(sums, torch.bincount(batch.item, minlength=len(sums)))

    def logits(self, batch: BuilderBatch) -> Tensor:
        """The labels' scores, shape (steps, 7624)."""
        states = self.states(batch)
        world = self.decoder.see_shared(batch.cells, batch.whole, batch.around, batch.shown)
        return self.decoder.choose(world, states[batch.item, batch.position])


class WordIndex(Protocol):
    """Turns a history's words into indices."""

    def numbers(self, words: Iterable[str]) -> list[int]: ...


def read_text(item: MinecraftItem, words: WordIndex) -> list[int]:
    """The word indices of an item's history (H3): what the network reads of the game so far."""
    return words.numbers(h3_tokens(item)[-LONGEST:] or [""])


def read_texts(items: Sequence[MinecraftItem], words: WordIndex) -> tuple[torch.Tensor, torch.Tensor]:
    """The word indices of the items' histories (H3), padded with 0 to shape (items, longest), and their lengths.

    A history without words is read as one empty word.
    """
    texts = [torch.tensor(read_text(item, words)) for item in items]
    return pad_sequence(texts, batch_first=True), torch.tensor([len(text) for text in texts])


class BuilderCollator:
    """Makes batches for a network."""

    def __init__(self, shape: WorldShape, words: WordIndex) -> None:
        self.shape, self.words = shape, words

    def history(self, item: MinecraftItem) -> int:
        """The number of tokens of the game history that the network reads."""
        return len(read_text(item, self.words))

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
    """The perspective coordinates of all cells, shape (items, 3, 1089), if the network uses them."""
    if shape.perspective == "none":
        return None
    return perspective([item.pose for item in items], indices=shape.perspective == "indices")


def _inputs(labels: Sequence[Sequence[int]]) -> Floats:
    """The decoder's inputs: at each step the previous gold action; zeros at the first step and in padding."""
    inputs = np.zeros((len(labels), max(map(len, labels)), VECTOR), np.float32)
    for row, own in zip(inputs, labels, strict=True):
        row[1 : len(own)] = vectors(np.array(own[:-1], np.int64))
    return inputs
