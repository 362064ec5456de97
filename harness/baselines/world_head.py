"""The head that the builder models share: it encodes the world by 3-d convolutions and, with a state, scores the next action.

Jayannavar et al. 2020, section 5; BAP v2, section 2.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field
from torch import Tensor, cat, nn
from torch.nn import functional

from harness.baselines.world_state import CELLS, KINDS
from harness.util.settings import Positive, Strict
from harness.worlds.minecraft import SHAPE


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
    perspective: Literal["none", "coordinates", "indices"]
    """Whether cells carry their coordinates in the builder's view; "indices" repeats the released code's mistake."""

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
        return self._first(seen.flatten(2).transpose(1, 2))

    def see_shared(self, cells: Tensor, whole: int, around: Sequence[Tensor], shown: Tensor) -> Tensor:
        """The result of `see`, from the tables of `shared_cells.share`, whose input rows are `cells`."""
        tables, seen = iter(around), cells
        for layer in self.world:
            weight = layer.weight.permute(0, 2, 3, 4, 1).flatten(1)
            if layer.kernel_size == (1, 1, 1):
                seen = functional.linear(seen, weight, layer.bias).relu()
                continue
            table = next(tables)
            # The rows already are the grids' cells with the channels last, so this is a view without a copy.
            grids = seen[: whole * CELLS].view(whole, *SHAPE, -1).permute(0, 4, 1, 2, 3)
            grids = layer(grids).permute(0, 2, 3, 4, 1).reshape(whole * CELLS, -1)
            bordered = functional.pad(seen, (0, 0, 1, 0))
            changed = bordered.index_select(0, table.flatten()).view(len(table), weight.shape[1])
            seen = cat([grids, functional.linear(changed, weight, layer.bias)]).relu()
        seen = self._first(seen)
        return seen.index_select(0, shown.flatten() - 1).view(*shown.shape, -1)

    def _first(self, seen: Tensor) -> Tensor:
        """The world's part of the head's first layer; the state's part is the same for all cells."""
        first = self.head[0]
        weight = first.weight.flatten(1)[:, -seen.shape[-1] :]
        return functional.linear(seen, weight, first.bias)

    def choose(self, world: Tensor, states: Tensor) -> Tensor:
        """The scores of the 7,624 labels, from the result of `see` and the decoder's states, shape (grids, width)."""
        weight = self.head[0].weight.flatten(1)[:, : states.shape[-1]]
        seen = (world + functional.linear(states, weight).to(world.dtype)[:, None]).relu()
        for layer in self.head[1:-1]:
            seen = functional.linear(seen, layer.weight.flatten(1), layer.bias).relu()
        last = self.head[-1]
        actions = functional.linear(seen, last.weight.flatten(1), last.bias)
        return cat([actions.flatten(1), self.stop(seen.max(2).values)], dim=1).float()


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
