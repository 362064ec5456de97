"""The layers of the HEXAGONS tile classifier, and the tile offsets that their attention uses."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from pydantic import model_validator
from torch import Tensor, nn
from torch.nn import functional

from harness.util.settings import Count, Fraction, Positive, Strict
from harness.worlds.hexagons import COLUMNS, ROWS, to_cube

_REACH = COLUMNS - 1
"""The largest difference of two tiles in either cube coordinate, x or z."""
OFFSETS = (2 * _REACH + 1) ** 2
COORDINATES = 4
_DRAWN = 4.0
"""The initial weight with which each head attends to numbers that equal its coordinate; there are four kinds of heads."""


class DebertaShape(Strict):
    """The sizes of the parts besides the encoder. The variant `paper` uses only `chunk` and `dropout`."""

    width: Positive
    heads: Positive
    text_layers: Count
    """The number of transformer layers on top of the encoder's states."""
    tile_layers: Positive
    """The number of layers in which tiles attend to the text and, in `joint`, to each other."""
    dropout: Fraction
    chunk: Positive
    """The number of a batch's texts (180 an item) that are encoded at a time."""

    @model_validator(mode="after")
    def _divides(self) -> DebertaShape:
        if self.width % (2 * self.heads):
            raise ValueError(f"width {self.width} is not a multiple of twice the heads, {self.heads}")
        return self


class Layer(nn.Module):  # type: ignore[misc]
    """A pre-norm transformer layer: self-attention (`own`), cross-attention to the text (`cross`), feed-forward."""

    def __init__(self, sizes: DebertaShape, *, own: bool, cross: bool) -> None:
        super().__init__()
        width = sizes.width
        self.own = Attention(width, sizes.heads) if own else None
        self.cross = Attention(width, sizes.heads) if cross else None
        self.forward_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(
        self, states: Tensor, *, own: Tensor | None = None, text: Tensor | None = None, cross: Tensor | None = None
    ) -> Tensor:
        """The states after the layer; `own` and `cross` are the attentions' masks or biases."""
        if self.own is not None:
            states = states + self.dropout(self.own(states, None, own))
        if self.cross is not None:
            states = states + self.dropout(self.cross(states, text, cross))
        return states + self.dropout(self.feed_forward(self.forward_norm(states)))


class Attention(nn.Module):  # type: ignore[misc]
    """Attention of normalized states to `seen`, or to themselves if that is None."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, states: Tensor, seen: Tensor | None, mask: Tensor | None) -> Tensor:
        states = self.norm(states)
        seen = states if seen is None else seen
        query, key, value = (
            of(to).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for of, to in ((self.query, states), (self.key, seen), (self.value, seen))
        )
        if mask is not None and mask.is_floating_point():
            mask = mask.to(query.dtype)
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.out(attended.transpose(1, 2).flatten(2))


class Comparison(nn.Module):  # type: ignore[misc]
    """Attention biases from tiles to tokens that compare numbers with coordinates.

    For each head, a token draws more or less attention from a tile because its number equals, is below or is above one of the
    tile's coordinates. The weights depend on the token's state, because a 3 may be the number of a column or of a row.
    """

    def __init__(self, sizes: DebertaShape) -> None:
        super().__init__()
        self.heads = sizes.heads
        table = comparisons()
        self.weigh = nn.Linear(sizes.width, sizes.heads * table.shape[-1])
        nn.init.normal_(self.weigh.weight, std=0.02)
        nn.init.zeros_(self.weigh.bias)
        with torch.no_grad():
            for head, weights in enumerate(self.weigh.bias.view(sizes.heads, -1)):
                weights[head % COORDINATES] = _DRAWN
        self.register_buffer("table", torch.from_numpy(table), persistent=False)

    def forward(self, text: Tensor, numbers: Tensor, mask: Tensor, tiles: Tensor) -> Tensor:
        """Attention biases, shape (texts, heads, tiles, tokens)."""
        weights = self.weigh(text).unflatten(-1, (self.heads, -1))
        table = self.table.to(weights.dtype)[tiles][:, numbers]
        drawn = torch.einsum("tbnf,bnhf->bhtn", table, weights)
        return drawn.masked_fill(~mask[:, None, None, :], -1e4)


def comparisons() -> Any:
    """For each tile and number, whether each of the tile's four coordinates equals the number, is below it, or is above it (four
    entries each): float32 of 0 and 1, shape (180, 19, 12).

    The coordinates, counted from 1, are row, column, row from the bottom, and column from the right. The number 0, for tokens
    without a number, has only zeros.
    """
    row, column = np.divmod(np.arange(ROWS * COLUMNS), COLUMNS)
    coordinates = np.stack([row + 1, column + 1, ROWS - row, COLUMNS - column], axis=-1)[:, None]
    numbers = np.arange(COLUMNS + 1)[:, None]
    table = np.concatenate([coordinates == numbers, coordinates < numbers, coordinates > numbers], axis=-1)
    return (table & (numbers > 0)).astype(np.float32)


def offsets() -> Any:
    """The indices of the offsets on the hexagonal grid from each tile to each other one: int64, shape (180, 180).

    Two pairs of tiles share an index if the same moves lead from the first tile to the second.
    """
    cube = np.array([to_cube((row, column)) for row in range(ROWS) for column in range(COLUMNS)])
    x, z = (cube[None, :] - cube[:, None] + _REACH).transpose(2, 0, 1)
    return x * (2 * _REACH + 1) + z
