"""Learning rates by step: each schedule's shape, its warmup and its end."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.training.recipe import Training
from tests.unit.test_baseline_training import TRAINING

SCHEDULES = ("constant", "inverse-square-root", "linear", "cosine")


def training(**changes: Any) -> Training:
    return Training.model_validate(TRAINING.model_dump() | {"learning_rate": 0.1, **changes})


@given(st.sampled_from(SCHEDULES), st.integers(0, 30), st.integers(1, 100))
def test_the_rate_rises_evenly_and_never_afterwards(schedule: str, warmup: int, more: int) -> None:
    how, steps = training(schedule=schedule, warmup=warmup), 2 * warmup + more
    rates = [how.rate(step, steps) for step in range(steps)]
    assert all(0 < rate <= 0.1 + 1e-12 for rate in rates)
    assert rates[:warmup] == pytest.approx([0.1 * (step + 1) / warmup for step in range(warmup)])
    assert rates[warmup:] == sorted(rates[warmup:], reverse=True)
    assert max(rates) == pytest.approx(0.1, rel=0.5 if warmup == 0 else 1e-9)


def test_a_warmup_is_no_longer_than_half_of_a_short_training() -> None:
    assert training(schedule="linear", warmup=100).rate(2, 6) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        ("constant", [0.05, 0.1, 0.1, 0.1, 0.1, 0.1]),
        ("inverse-square-root", [0.05, 0.1, *(0.1 * math.sqrt(2 / step) for step in (3, 4, 5, 6))]),
        ("linear", [0.05, 0.1, 0.1, 0.075, 0.05, 0.025]),
        ("cosine", [0.05, 0.1, 0.1, *(0.05 * (1 + math.cos(math.pi * n / 4)) for n in (1, 2, 3))]),
    ],
)
def test_the_rates_are_those_of_the_formulas(schedule: str, rates: list[float]) -> None:
    assert [training(schedule=schedule, warmup=2).rate(step, 6) for step in range(6)] == pytest.approx(rates)
