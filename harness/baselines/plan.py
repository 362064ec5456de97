"""What a training run trains on, epoch by epoch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from adapters.curriculum import stages
from harness.baselines.recipe import Training
from harness.corpora.item import Item
from harness.errors import UsageError


class Plan(NamedTuple):
    """The numbers of each epoch's items, and the steps of all epochs, if training is not over before."""

    epochs: list[list[int]]
    steps: int

    def order(self, epoch: int, seed: int) -> list[int]:
        """An epoch's items in the order in which they are trained on, which depends on the seed and the epoch alone."""
        numbers = list(self.epochs[epoch])
        Random(f"{seed}/{epoch}").shuffle(numbers)
        return numbers


def make_plan(items: Sequence[Item], training: Training, processes: int) -> Plan:
    """The stages of the curriculum, if there is one, and then epochs of all items.

    Raises UsageError for fewer items than the curriculum has buckets, and for a warmup without an end.
    """
    first = stages(items, training.curriculum, training.seed) if training.curriculum else []
    epochs = [*first, *[list(range(len(items)))] * training.epochs][: training.epochs]
    plan = Plan(epochs, sum(math.ceil(len(epoch) / (training.batch_size * processes)) for epoch in epochs))
    if training.warmup >= plan.steps:
        raise UsageError(f"training.warmup={training.warmup}: all epochs together have only {plan.steps} steps")
    return plan


def over(training: Training, epoch: int, best_epoch: int) -> bool:
    """Whether training ends after so many epochs, of which that one was the best. Patience begins after the curriculum."""
    began = max(best_epoch, training.curriculum.buckets if training.curriculum else 0)
    return epoch >= training.epochs or epoch - began >= training.patience
