"""The networks of the HEXAGONS tile classifier: an instruction is 180 decisions, one a tile ("Draw Me a Flower", section 6).

A decision is one of 9 classes: 0 for no action, otherwise 1 + the code of the tile's new color, which may be white.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from pydantic import model_validator
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from harness.baselines.encoders import EncoderNetwork
from harness.training.steps import Losses
from harness.util.settings import Count, Fraction, Positive, Strict
from harness.worlds.hexagons import COLORS, COLUMNS, ROWS, TILES, to_cube

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
    """The number of layers in which tiles attend to the text and to each other."""
    dropout: Fraction
    chunk: Positive
    """The number of a batch's texts (180 an item) that are encoded at a time."""

    @model_validator(mode="after")
    def _divides(self) -> "DebertaShape":
        if self.width % (2 * self.heads):
            raise ValueError(f"width {self.width} is not a multiple of twice the heads, {self.heads}")
        return self


class Layer(nn.Module):  # type: ignore[misc]
    """A pre-norm transformer layer: self-attention, cross-attention to the text (if `cross`), feed-forward."""

    def __init__(self, sizes: DebertaShape, *, cross: bool) -> None:
        super().__init__()
        width = sizes.width
        self.own = Attention(width, sizes.heads)
        self.cross = Attention(width, sizes.heads) if cross else None
        self.forward_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(self, states: Tensor, *, own: Tensor, text: Tensor | None = None, cross: Tensor | None = None) -> Tensor:
        """The states after the layer; `own` and `cross` are the attentions' masks or biases."""
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

    def forward(self, text: Tensor, numbers: Tensor, mask: Tensor) -> Tensor:
        """Attention biases, shape (texts, heads, tiles, tokens)."""
        weights = self.weigh(text).unflatten(-1, (self.heads, -1))
        table = self.table.to(weights.dtype)[:, numbers]
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


NO_ACTION = 0
CLASSES = 1 + len(COLORS)
FARTHEST = 8
"""Instructions this many or more steps back share an embedding."""
_SMOOTH = 4
"""The loss of an item is divided by its number of gold actions plus this, because the number may be 0."""
_GROUPS = 4
"""The number of groups of similar lengths in which a frozen encoder reads a batch's texts."""


class TileBatch(NamedTuple):
    """Some items, each with its instructions as one text."""

    tokens: Tensor
    """Shape (items, longest text)."""
    mask: Tensor
    """True for tokens, False for padding."""
    numbers: Tensor
    """For each token, the number that its word names, or 0."""
    colors: Tensor
    """For each token, 1 + the code of the color that its word names, or 0."""
    turns: Tensor
    """For each token, how many steps back its instruction is: 0 for the current one, at most `FARTHEST`."""
    places: Tensor
    """For each token, its index in its instruction."""
    board: Tensor
    """The color codes before the step, shape (items, 180); all white if the context shows no board."""
    labels: Tensor
    """Shape (items, 180)."""


class TileTexts(NamedTuple):
    """Some items, each with 180 texts, one a tile."""

    tokens: Tensor
    """Shape (items, 180, longest text)."""
    mask: Tensor
    labels: Tensor
    """Shape (items, 180)."""


class Classifier(EncoderNetwork):
    """The base of both networks: an encoder, possibly frozen, and the loss of `logits`, shape (items, 180, 9)."""

    per_action = False
    """Whether an item's loss is divided by its number of gold actions, so that a step with 100 of them does not weigh as much as
    20 steps with 5, which matches F1. Otherwise it is divided by 180, its number of tiles."""

    def encode(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """The tokens' states, shape (texts, tokens, width of the encoder)."""
        if not self.frozen:
            states: Tensor = self.encoder(input_ids=tokens, attention_mask=mask.long()).last_hidden_state
            return states
        with torch.no_grad():
            return self._encode_by_length(tokens, mask)

    def _encode_by_length(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """`encode` in groups of texts of similar lengths; otherwise padding would take most of the time."""
        lengths = mask.sum(1)
        states = torch.zeros(*tokens.shape, self.encoder.config.hidden_size, device=tokens.device)
        for texts in lengths.argsort().chunk(_GROUPS):
            own, longest = mask[texts].long(), int(lengths[texts].max())
            encoded = self.encoder(input_ids=tokens[texts, :longest], attention_mask=own[:, :longest]).last_hidden_state
            states[texts, :longest] = encoded.to(states.dtype)
        return states

    def logits(self, batch: Any) -> Tensor:
        raise NotImplementedError

    def forward(self, batch: Any) -> Losses:
        logits = self.logits(batch)
        each = functional.cross_entropy(logits.flatten(0, 1), batch.labels.flatten(), reduction="none")
        sums = each.view(-1, TILES).sum(1)
        if not self.per_action:
            return Losses(sums, torch.full_like(sums, TILES))
        actions = (batch.labels != NO_ACTION).sum(1)
        return Losses(sums / (actions + _SMOOTH), torch.ones_like(sums))


class TextPerTile(Classifier):
    """The variant `paper`: 180 texts an item, each classified from its first token's state, as DebertaForSequenceClassification
    does (the paper's footnote 4)."""

    def __init__(self, encoder: Any, sizes: DebertaShape) -> None:
        super().__init__(encoder)
        self.chunk = sizes.chunk
        width = encoder.config.hidden_size
        self.pool = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Dropout(sizes.dropout))
        self.head = nn.Linear(width, CLASSES)

    def logits(self, batch: TileTexts) -> Tensor:
        tokens, masks = batch.tokens.flatten(0, 1), batch.mask.flatten(0, 1)
        chunks = zip(tokens.split(self.chunk), masks.split(self.chunk), strict=True)
        first = torch.cat([self._first(*chunk) for chunk in chunks])
        return self.head(self.pool(first)).view(*batch.labels.shape, CLASSES).float()

    def _first(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """The states of a chunk's first tokens. In training, activations are recomputed for the gradients to save memory."""
        longest = int(mask.sum(1).max())
        tokens, mask = tokens[:, :longest], mask[:, :longest]
        if self.frozen or not torch.is_grad_enabled():
            return self.encode(tokens, mask)[:, 0]
        return checkpoint(lambda *chunk: self.encode(*chunk)[:, 0], tokens, mask, use_reentrant=False)


class TileQueries(Classifier):
    """The variant `joint`: the text is encoded once, and 180 queries, one a tile, attend to its states and to each other, with a
    bias for each offset on the hexagonal grid.

    Encoding once is possible because a tile's coordinates are in its query and not in the text. `board`: whether a query contains
    the color of its tile before the step.

    Two facts are built in because learning them would take far more than a few thousand instructions: how a word's number
    compares with a tile's coordinates (`Comparison`), and which words name colors.
    """

    per_action = True

    def __init__(self, encoder: Any, sizes: DebertaShape, *, board: bool) -> None:
        super().__init__(encoder)
        width, states, words = sizes.width, encoder.config.hidden_size, encoder.get_input_embeddings().embedding_dim
        self.word_norm = nn.LayerNorm(words)
        self.text = nn.Linear(states + words, width)
        self.turn = _embedding(FARTHEST + 1, width)
        self.text_layers = nn.ModuleList(Layer(sizes, cross=False) for _ in range(sizes.text_layers))
        self.text_norm = nn.LayerNorm(width)
        self.row, self.column = _embedding(ROWS, width), _embedding(COLUMNS, width)
        self.color = nn.Embedding(1 + len(COLORS), width, padding_idx=0)
        nn.init.normal_(self.color.weight[1:], std=0.5)
        self.before = nn.Linear(width, width) if board else None
        self.tile_layers = nn.ModuleList(Layer(sizes, cross=True) for _ in range(sizes.tile_layers))
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(sizes.heads, OFFSETS)) for _ in range(sizes.tile_layers))
        self.comparisons = nn.ModuleList(Comparison(sizes) for _ in range(sizes.tile_layers))
        self.norm, self.none, self.paint = nn.LayerNorm(width), nn.Linear(width, 1), nn.Linear(width, width)
        self.dropout = nn.Dropout(sizes.dropout)
        self.register_buffer("offsets", torch.from_numpy(offsets()), persistent=False)
        frequencies = torch.exp(torch.arange(width // 2) * (-math.log(10_000) / (width // 2)))
        self.register_buffer("frequencies", frequencies, persistent=False)

    def logits(self, batch: TileBatch) -> Tensor:
        text, queries = self._read(batch), self._queries(batch.board)
        for layer, bias, compare in zip(self.tile_layers, self.biases, self.comparisons, strict=True):
            cross = compare(text, batch.numbers, batch.mask)
            queries = layer(queries, own=bias[:, self.offsets], text=text, cross=cross)
        normed = self.norm(queries)
        colors = functional.linear(self.paint(normed), self.color.weight[1:]) / math.sqrt(queries.shape[-1])
        return torch.cat([self.none(normed), colors], dim=-1).float()

    def _read(self, batch: TileBatch) -> Tensor:
        """The text's states, shape (items, tokens, width)."""
        angles = batch.places[..., None] * self.frequencies
        places = torch.cat([angles.sin(), angles.cos()], dim=-1)
        # Word vectors are added because a sentence encoder's states blur which number stands where.
        words = self.word_norm(self.encoder.get_input_embeddings()(batch.tokens))
        text = self.text(torch.cat([self.encode(batch.tokens, batch.mask), words], dim=-1))
        states = self.dropout(text + self.turn(batch.turns) + places + self.color(batch.colors))
        for layer in self.text_layers:
            states = layer(states, own=batch.mask[:, None, None, :])
        return self.text_norm(states)

    def _queries(self, board: Tensor) -> Tensor:
        """The tiles' queries, shape (items, 180, width), for a batch's `board`."""
        places = (self.row.weight[:, None] + self.column.weight).flatten(0, 1)
        shown = self.before(self.color(1 + board)) if self.before is not None else 0
        return self.dropout((places + shown).expand(len(board), -1, -1))


def _embedding(count: int, width: int) -> nn.Embedding:
    """An embedding with small initial values; with torch's default, tiles learn far later to attend to words that name them."""
    embedding = nn.Embedding(count, width)
    nn.init.normal_(embedding.weight, std=0.02)
    return embedding
