"""The part that the builder models share: the world through 3-d convolutions, and from it and a state to the next action.

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
    """Channels of the world's size-3 convolutions; size-1 convolutions between two of them have half as many."""
    world_layers: Positive
    """Convolutions of size 3."""
    head_layers: Annotated[int, Field(ge=2)]
    """Convolutions of size 1 from state and world to actions, each with half as many channels as the one before."""
    stop_layers: Annotated[int, Field(ge=2)]
    """From the cells' strongest features to `STOP`, each half as wide as the one before."""
    perspective: Literal["none", "coordinates", "indices"]
    """Whether cells have their coordinates from the builder's view; "indices" repeats the released code's mistake."""

    @property
    def channels(self) -> int:
        return KINDS + 1 + (3 if self.perspective != "none" else 0)


class WorldHead(nn.Module):  # type: ignore[misc]
    """From a decoder's state, `width` numbers, and the current world to the next action.

    `before` are further modules, which a subclass uses: a checkpoint's optimizer counts them in this order, before the head's.
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
        """The head's first layer on whole grids of shape (grids, channels, 1089): (grids, 1089, its width)."""
        seen = channels.reshape(len(channels), -1, *SHAPE)
        for layer in self.world:
            seen = layer(seen).relu()
        return self._first(seen.flatten(2).transpose(1, 2))

    def see_shared(self, cells: Tensor, whole: int, around: Sequence[Tensor], shown: Tensor) -> Tensor:
        """The same from the tables of `shared_cells.share`, whose rows of the input are `cells`."""
        tables, seen = iter(around), cells
        for layer in self.world:
            weight = layer.weight.permute(0, 2, 3, 4, 1).flatten(1)
            if layer.kernel_size == (1, 1, 1):
                seen = functional.linear(seen, weight, layer.bias).relu()
                continue
            table = next(tables)
            # Rows are the cells of grids with the channels last: nothing is moved.
            grids = seen[: whole * CELLS].view(whole, *SHAPE, -1).permute(0, 4, 1, 2, 3)
            grids = layer(grids).permute(0, 2, 3, 4, 1).reshape(whole * CELLS, -1)
            bordered = functional.pad(seen, (0, 0, 1, 0))
            changed = bordered.index_select(0, table.flatten()).view(len(table), weight.shape[1])
            seen = cat([grids, functional.linear(changed, weight, layer.bias)]).relu()
        seen = self._first(seen)
        return seen.index_select(0, shown.flatten() - 1).view(*shown.shape, -1)

    def _first(self, seen: Tensor) -> Tensor:
        """The part of the head's first layer that looks at the world; the state's is the same for all cells."""
        first = self.head[0]
        weight = first.weight.flatten(1)[:, -seen.shape[-1] :]
        return functional.linear(seen, weight, first.bias)

    def choose(self, world: Tensor, states: Tensor) -> Tensor:
        """Scores of the 7,624 labels, from what `see` gives and the decoder's states, shape (grids, width)."""
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
    """Linear layers (Xavier-uniform weights, no bias at first) with ReLU between them, and after the last one too if `last`."""
    layers: list[nn.Module] = []
    for pair in pairwise(widths):
        linear = nn.Linear(*pair)
        nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*(layers if last else layers[:-1]))
