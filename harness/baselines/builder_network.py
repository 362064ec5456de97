"""The builder models' networks and batches.

A network has a text encoder and a decoder. Both models share the head (Jayannavar et al. 2020, section 5; BAP v2, section 2.6):
it encodes the world by 3-d convolutions and, with a decoder's state, scores the next action. A batch holds the tensors of all
steps of several items.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple, Protocol

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, cat, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from harness.baselines.world_state import CELLS, KINDS, VECTOR, Floats, gold_grids, gold_labels, perspective, vectors
from harness.corpora.item import MinecraftItem
from harness.training.steps import Losses
from harness.util.settings import Positive, Strict
from harness.worlds.minecraft import SHAPE
from serialization.words import h3_tokens


class WorldShape(Strict):
    """The sizes of a world head."""

    filters: Positive
    """The channels of the world's size-3 convolutions; size-1 convolutions between two of them have half as many."""
    world_layers: Positive
    """The number of size-3 convolutions."""
    head_layers: Annotated[int, Field(ge=2)]
    """The number of size-1 convolutions from state and world to actions, each with half as many channels as the one before."""
    stop_layers: Annotated[int, Field(ge=2)]
    """The number of layers from the cells' strongest features to `STOP`, each half as wide as the one before."""
    perspective: Literal["none", "coordinates"]
    """Whether cells carry their coordinates in the builder's view."""

    @property
    def channels(self) -> int:
        return KINDS + 1 + (3 if self.perspective != "none" else 0)


class WorldHead(nn.Module):  # type: ignore[misc]
    """Scores the next action from a decoder's state, of `width` numbers, and the current world.

    `before` holds further modules for the networks' use. They are registered before the head's because a checkpoint's optimizer
    state depends on this order.
    """

    def __init__(self, shape: WorldShape, width: int, **before: nn.Module) -> None:
        super().__init__()
        for name, module in before.items():
            self.add_module(name, module)
        layers, channels = [], shape.channels
        for number in range(shape.world_layers):
            if number:
                layers.append(nn.Conv3d(shape.filters, shape.filters // 2, 1))
                channels = shape.filters // 2
            layers.append(nn.Conv3d(channels, shape.filters, 3, padding=1))
        self.world = nn.ModuleList(layers)
        widths = [*_halved(width + shape.filters, shape.head_layers), KINDS]
        self.head = nn.ModuleList(nn.Conv3d(*pair, 1) for pair in pairwise(widths))
        self.stop = perceptron([*_halved(CELLS, shape.stop_layers), 1], last=False)

    def see(self, channels: Tensor) -> Tensor:
        """The world's part of the head's first layer, shape (grids, 1089, width), for whole grids, (grids, channels, 1089)."""
        seen = channels.reshape(len(channels), -1, *SHAPE)
        for layer in self.world:
            seen = layer(seen).relu()
        return self._first(seen.flatten(2).transpose(1, 2), self.head[0].bias)

    def see_steps(self, channels: Tensor) -> Tensor:
        """What `see` returns for the grids of one item's steps, with less arithmetic: the first grid is computed whole, of the
        others only their differences from it, within the box of cells that these reach."""
        grids = channels.reshape(len(channels), -1, *SHAPE)
        changed = (grids != grids[0]).any(0).any(0).nonzero()
        if not len(changed):
            return self.see(channels)
        low, high = changed.amin(0).tolist(), (changed.amax(0) + 1).tolist()
        seen, change = grids[:1], (grids[1:] - grids[0])[_box(low, high)]
        for layer in self.world:
            reach = layer.padding[0]
            # With twice the layer's padding, the result has all cells that the differences reach, also some outside the region.
            change = functional.conv3d(change, layer.weight, padding=2 * reach)
            start = [cell - reach for cell in low]
            low = [max(0, cell) for cell in start]
            high = [min(cell + reach, side) for cell, side in zip(high, SHAPE, strict=True)]
            change = change[_box(low, high, start)]
            sums, box = layer(seen), _box(low, high)
            seen = sums.relu()
            change = (sums[box] + change).relu() - seen[box]
        world = self._first(seen.movedim(1, -1), self.head[0].bias).repeat(len(grids), 1, 1, 1, 1)
        world[1:][(slice(None), *box[2:])] += self._first(change.movedim(1, -1))
        return world.flatten(1, 3)

    def _first(self, seen: Tensor, bias: Tensor | None = None) -> Tensor:
        """The world's part of the head's first layer; the state's part is the same for all cells."""
        return functional.linear(seen, self.head[0].weight.flatten(1)[:, -seen.shape[-1] :], bias)

    def choose(self, world: Tensor, states: Tensor) -> Tensor:
        """The scores of the 7,624 labels, from the result of `see` and the decoder's states, shape (grids, width)."""
        weight = self.head[0].weight.flatten(1)[:, : states.shape[-1]]
        seen = (world + functional.linear(states, weight).to(world.dtype)[:, None]).relu()
        for layer in self.head[1:-1]:
            seen = functional.linear(seen, layer.weight.flatten(1), layer.bias).relu()
        last = self.head[-1]
        actions = functional.linear(seen, last.weight.flatten(1), last.bias)
        return cat([actions.flatten(1), self.stop(seen.max(2).values)], dim=1).float()


def _box(low: Sequence[int], high: Sequence[int], start: Sequence[int] = (0, 0, 0)) -> tuple[slice, ...]:
    """The index of the cells from `low` to before `high` in tensors of shape (grids, channels, x, y, z) whose first cell is
    `start`."""
    return slice(None), slice(None), *(slice(a - zero, b - zero) for a, b, zero in zip(low, high, start, strict=True))


def _halved(width: int, count: int) -> list[int]:
    return [width // 2**n for n in range(count)]


def perceptron(widths: Sequence[int], *, last: bool = True) -> nn.Sequential:
    """Linear layers (Xavier-uniform weights, zero biases) with ReLU between them and, if `last`, after the last one, too."""
    layers: list[nn.Module] = []
    for pair in pairwise(widths):
        linear = nn.Linear(*pair)
        nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*(layers if last else layers[:-1]))


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
    channels: Tensor
    """The channels of the grid before each step, shape (steps, channels, 1089)."""


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
        states, channels = self.states(batch), batch.channels
        if channels.device.type == "cpu":
            items = channels.split(batch.item.bincount().tolist())
            world = cat([self.decoder.see_steps(own) for own in items])
        else:  # Where a step's launches take longer than its arithmetic, fewer of them are faster.
            world = self.decoder.see(channels)
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
        item = np.repeat(np.arange(len(items)), steps)
        channels = gold_grids(items).channels()
        if (view := perspective_view(items, self.shape)) is not None:
            channels = np.concatenate([channels, view[item]], axis=1)
        # At each step, the previous gold action; zeros at the first step and in padding.
        actions = np.zeros((len(items), max(steps), VECTOR), np.float32)
        for row, own in zip(actions, labels, strict=True):
            row[1 : len(own)] = vectors(np.array(own[:-1], np.int64))
        tokens, lengths = read_texts(items, self.words)
        return BuilderBatch(
            tokens=tokens,
            lengths=lengths,
            actions=torch.from_numpy(actions),
            item=torch.from_numpy(item),
            position=torch.from_numpy(np.concatenate([np.arange(count) for count in steps])),
            labels=torch.tensor([label for own in labels for label in own]),
            channels=torch.from_numpy(np.ascontiguousarray(channels)),
        )


def perspective_view(items: Sequence[MinecraftItem], shape: WorldShape) -> Floats | None:
    """The perspective coordinates of all cells, shape (items, 3, 1089), if the network uses them."""
    if shape.perspective == "none":
        return None
    return perspective([item.pose for item in items])
