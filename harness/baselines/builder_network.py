"""The builder models' networks: a text encoder, and a decoder whose states meet the world in a `WorldHead`."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from harness.baselines.world_head import WorldHead
from harness.training.steps import Losses


class BuilderBatch(NamedTuple):
    """Items with all their teacher-forced steps, item after item."""

    tokens: Tensor
    """Shape (items, longest text), padded with 0."""
    lengths: Tensor
    """Lengths of the texts, at least 1."""
    actions: Tensor
    """The decoder's inputs, shape (items, most steps, 11): zeros, then the gold actions."""
    item: Tensor
    """The item of each step."""
    position: Tensor
    """The place of each step in its item."""
    labels: Tensor
    """The gold label of each step."""
    cells: Tensor
    """The input's channels for each row of the tables of `shared_cells`, whose fields follow; shape (rows, channels)."""
    whole: int
    around: tuple[Tensor, ...]
    shown: Tensor


class BuilderNetwork(nn.Module):  # type: ignore[misc]
    """Teacher forcing and single steps are shared; a subclass turns texts and actions into states."""

    decoder: WorldHead

    def states(self, batch: BuilderBatch) -> Tensor:
        """The decoder's states at all steps, shape (items, most steps, width)."""
        raise NotImplementedError

    def begin(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        """The state before the first action: tensors with the items first."""
        raise NotImplementedError

    def advance(self, known: tuple[Tensor, ...], inputs: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The next states, shape (items, width), from the last actions, shape (items, 11), and the updated state."""
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
