"""The CNN + GRU as the paper describes it: item by item and step by step, every world encoded separately. Slow and plain."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional

from harness.baselines.vocabulary import Vocabulary
from harness.corpora.item import Executed, MinecraftItem
from harness.worlds.minecraft import Action, Structure
from serialization.words import h3_tokens

COLORS = ("orange", "red", "green", "blue", "purple", "yellow")


def label(action: Action) -> int:
    x, y, z = action.cell
    kind = 6 if action.kind == "remove" else COLORS.index(str(action.color))
    return 7 * ((x + 5) * 99 + (y - 1) * 11 + z + 5) + kind


def vector(action: Action) -> list[float]:
    kinds = [float(action.kind == kind) for kind in ("place", "remove")]
    colors = [float(action.kind == "place" and action.color == color) for color in COLORS]
    return [*kinds, *colors, *map(float, action.cell)]


def world(structure: Structure, done: list[Action], item: MinecraftItem, perspective: str) -> torch.Tensor:
    """A world's channels, shape (channels, 11, 9, 11)."""
    grid = torch.zeros(8 if perspective == "none" else 11, 11, 9, 11)
    weights = {action.cell: 5 - age for age, action in reversed(list(enumerate(reversed(done[-5:]))))}
    yaw, pitch = math.radians(item.pose.yaw), math.radians(item.pose.pitch)
    for x in range(-5, 6):
        for y in range(1, 10):
            for z in range(-5, 6):
                cell = grid[:, x + 5, y - 1, z + 5]
                color = structure.color_at(x, y, z)
                cell[COLORS.index(color) if color else 6] = 1
                cell[7] = weights.get((x, y, z), 0)
                if perspective != "none":
                    at = (x, y, z) if perspective == "coordinates" else (x + 5, y - 1, z + 5)
                    vx, vy, vz = (a - b for a, b in zip(at, item.pose[:3], strict=True))
                    x1, z1 = math.cos(yaw) * vx + math.sin(yaw) * vz, -math.sin(yaw) * vx + math.cos(yaw) * vz
                    y2, z2 = math.cos(pitch) * vy + math.sin(pitch) * z1, -math.sin(pitch) * vy + math.cos(pitch) * z1
                    cell[8:] = torch.tensor([x1, y2, z2]) / 10
    return grid


def worlds(item: MinecraftItem, perspective: str) -> list[torch.Tensor]:
    """The world at each teacher-forced step; every action of the item has a separate world state."""
    done = [a for turn in item.history if isinstance(turn, Executed) for a in turn.actions if isinstance(a, Action)]
    structures = [item.before.apply(item.actions[:n]).structure for n in range(len(item.actions))] + [item.after]
    return [world(s, done + list(item.actions[:n]), item, perspective) for n, s in enumerate(structures)]


def scores(network: Any, seen: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    """The scores of the 7,624 labels for one world and one hidden state."""
    decoder = network.decoder
    features = seen[None]
    for layer in decoder.world:
        features = layer(features).relu()
    features = torch.cat([state.view(1, -1, 1, 1, 1).expand(-1, -1, 11, 9, 11), features], dim=1)
    for layer in decoder.head[:-1]:
        features = layer(features).relu()
    stop = decoder.stop(features.amax(1).flatten(1))
    return torch.cat([decoder.head[-1](features).permute(0, 2, 3, 4, 1).flatten(1), stop], dim=1)[0]


def loss(network: Any, vocabulary: Vocabulary, item: MinecraftItem, perspective: str, seen: list[torch.Tensor]) -> torch.Tensor:
    """The sum of the cross-entropies of the item's steps, `STOP` included; `seen` is the result of `worlds`."""
    decoder = network.decoder
    tokens = torch.tensor([vocabulary.numbers(h3_tokens(item))])
    _, state = network.encoder(network.words(tokens))
    total = torch.zeros(())
    last = torch.zeros(11)
    for n, grid in enumerate(seen):
        _, state = decoder.gru(decoder.action(last)[None, None], state)
        gold = 7623 if n == len(item.actions) else label(item.actions[n])
        total = total + functional.cross_entropy(scores(network, grid, state[0, 0])[None], torch.tensor([gold]))
        last = torch.zeros(11) if n == len(item.actions) else torch.tensor(vector(item.actions[n]))
    return total
