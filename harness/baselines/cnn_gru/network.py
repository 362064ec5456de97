"""The network of the CNN + GRU builder model (Jayannavar et al. 2020, section 5; BAP v2, section 2.6)."""

from __future__ import annotations

from typing import Annotated, Any

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from harness.baselines.builder_network import BuilderBatch, BuilderNetwork
from harness.baselines.world_head import WorldHead, WorldShape, perceptron
from harness.baselines.world_state import VECTOR
from harness.util.settings import Positive


class CnnGruShape(WorldShape):
    """The network's sizes."""

    words: Positive
    """The width of the word vectors."""
    hidden: Positive
    """The width of both GRUs."""
    action_layers: Annotated[int, Field(ge=1, le=5)]
    """The number of layers on an action's vector of 11 numbers; each layer shortens it by one."""


class CnnGruNetwork(BuilderNetwork):
    """A text encoder and an action decoder. If `vectors` are given, they become the words' vectors and stay frozen."""

    def __init__(self, shape: CnnGruShape, vocabulary: int, vectors: Any = None) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, shape.words, padding_idx=0)
        if vectors is not None:
            self.words.weight = nn.Parameter(torch.as_tensor(vectors), requires_grad=False)
        self.encoder = nn.GRU(shape.words, shape.hidden, batch_first=True)
        actions = perceptron([VECTOR - n for n in range(shape.action_layers + 1)])
        gru = nn.GRU(VECTOR - shape.action_layers, shape.hidden, batch_first=True)
        self.decoder = WorldHead(shape, shape.hidden, action=actions, gru=gru)

    @property
    def clipped(self) -> list[nn.Module]:
        """The modules whose gradients are clipped, each separately."""
        return [self.encoder, self.decoder.gru]

    def read(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """The encoder's last state for each text, shape (items, hidden)."""
        with _full_precision(tokens):
            packed = pack_padded_sequence(self.words(tokens), lengths.cpu(), batch_first=True, enforce_sorted=False)
            return self.encoder(packed)[1][0]

    def states(self, batch: BuilderBatch) -> Tensor:
        with _full_precision(batch.tokens):
            first = self.read(batch.tokens, batch.lengths)
            states, _ = self.decoder.gru(self.decoder.action(batch.actions), first[None])
            return states

    def begin(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        return (self.read(tokens, lengths),)

    def advance(self, known: tuple[Tensor, ...], inputs: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        _, now = self.decoder.gru(self.decoder.action(inputs)[:, None], known[0][None])
        return now[0], (now[0],)


def _full_precision(beside: Tensor) -> Any:
    """A context in which the recurrence runs in float32, whatever the surrounding precision."""
    return torch.autocast(beside.device.type, enabled=False)
