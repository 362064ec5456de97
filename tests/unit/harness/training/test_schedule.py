"""Learning rates by step: each schedule's shape, its warmup and its end."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import get_scheduler

from harness.training.trainer import trainer_arguments
from tests.helpers.slope import TRAINING

SCHEDULES = ("constant", "inverse-square-root", "linear", "cosine")


def rates(steps: int, **changes: Any) -> list[float]:
    """What transformers makes of a recipe's keys."""
    arguments = trainer_arguments(TRAINING.model_copy(update={"learning_rate": 0.1, **changes}), steps, Path("nowhere"))
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=arguments.learning_rate)
    warmup = arguments.get_warmup_steps(steps)
    schedule = get_scheduler(arguments.lr_scheduler_type, optimizer, warmup, steps)
    found = []
    for _ in range(steps):
        found.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    return found


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("warmup", [0, 1, 7])
def test_the_rate_rises_evenly_and_never_afterwards(schedule: str, warmup: int) -> None:
    found = rates(20, schedule=schedule, warmup=warmup)
    assert all(0 <= rate <= 0.1 + 1e-12 for rate in found)
    assert found[:warmup] == pytest.approx([0.1 * step / warmup for step in range(warmup)])
    assert found[warmup:] == sorted(found[warmup:], reverse=True)
    assert found[warmup] == pytest.approx(0.1)


def test_a_warmup_is_no_longer_than_half_of_a_short_training() -> None:
    assert rates(6, schedule="linear", warmup=100)[3] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [0, 0.05, 0.1, 0.1, 0.1, 0.1]),
        ("inverse-square-root", [0, 0.05, *(0.1 * math.sqrt(2 / step) for step in (2, 3, 4, 5))]),
        ("linear", [0, 0.05, 0.1, 0.075, 0.05, 0.025]),
        ("cosine", [0, 0.05, *(0.05 * (1 + math.cos(math.pi * n / 4)) for n in (0, 1, 2, 3))]),
    ],
)
def test_the_rates_are_those_of_the_formulas(schedule: str, expected: list[float]) -> None:
    assert rates(6, schedule=schedule, warmup=2) == pytest.approx(expected)
