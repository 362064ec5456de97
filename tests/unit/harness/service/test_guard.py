"""Slots and requests a minute: whose they are, when they run out, and when there are some again."""

import pytest

from harness.service import guard
from harness.service.guard import Rate, Slots


def test_requests_a_minute_are_replenished_one_by_one_and_counted_for_each_key(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(guard, "monotonic", lambda: now)
    rate = Rate(3)
    assert [rate.admit("a") for _ in range(4)] == [0, 0, 0, 20]
    assert rate.admit("b") == 0
    now = 19.0
    assert rate.admit("a") == pytest.approx(1)
    now += rate.admit("a")
    assert rate.admit("a") == 0
    assert rate.admit("a") > 0
    now = 10_000.0
    assert [rate.admit("a") == 0 for _ in range(4)] == [True, True, True, False]


def test_a_key_cannot_take_the_slots_of_another() -> None:
    slots = Slots(8, 2)
    assert [slots.take("user") for _ in range(7)] == [True] * 6 + [False]
    assert [slots.take("admin") for _ in range(3)] == [True, True, False]
    slots.give_back("user")
    assert slots.take("admin")
    assert not slots.take("user")
    assert slots.used == 8
