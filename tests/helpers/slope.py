"""A network of one weight, which trains in a moment, and ways to kill its training."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from harness.baselines.cnn_gru.baseline import CnnGruRecipe
from harness.training.job import Trained
from harness.training.recipe import load_recipe
from harness.training.steps import Data, Losses
from harness.training.trainer import train_network

_SETTINGS = "epochs=3 patience=3 batch_size=2 learning_rate=0.05 weight_decay=0.0 precision=float32 checkpoint_minutes=60 seed=0"
TRAINING = load_recipe("cnn-gru", CnnGruRecipe, [f"training.{one}" for one in _SETTINGS.split()]).training
ITEMS: list[Any] = [1.0, 2.0, 3.0, 4.0, 5.0]


class Slope(nn.Module):  # type: ignore[misc]
    """Learns that y = 3 x, with dropout, from one decision an item."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Linear(1, 1, bias=False)
        self.weight.weight.data[:] = 0.5
        self.dropout = nn.Dropout(0.5)

    @property
    def clipped(self) -> list[nn.Module]:
        return [self.weight]

    def forward(self, x: Tensor) -> Losses:
        return Losses((self.weight(self.dropout(x)) - 3 * x).square().flatten(), torch.ones(len(x)))


class Killed(Exception):
    """Stands for a kill in these tests."""


def collate(items: Sequence[float]) -> Tensor:
    return torch.tensor(items)[:, None]


def dying(batches: int) -> Callable[[Sequence[float]], Tensor]:
    """A collator that makes this many batches and then raises Killed."""
    made = 0

    def make(items: Sequence[float]) -> Tensor:
        nonlocal made
        made += 1
        if made > batches:
            raise Killed
        return collate(items)

    return make


def fit(folder: Path, network: Any = None, making: Any = collate, items: Any = ITEMS, **changes: Any) -> tuple[Trained, Any]:
    network = network or Slope()
    kept: list[tuple[int, Any]] = []

    def keep(best: Any, trained: Trained) -> None:
        kept.append((int(trained.best["epoch"]), {name: value.clone() for name, value in best.state_dict().items()}))

    return train_network(network, Data(items, [1.0, 2.0], making, int), TRAINING.model_copy(update=changes), folder, keep), kept


def curve(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "curve.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in lines]
