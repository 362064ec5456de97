"""Slots, requests and tokens a minute: their owners, their exhaustion, and the counting of tokens."""

from __future__ import annotations

import pytest

from harness.service import limits as module
from harness.service.limits import Limits, Slots, Usage, UsageReader


class Clock:
    now = 0.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "monotonic", lambda: clock.now)
    return clock


def test_requests_a_minute_are_replenished_one_by_one_and_counted_for_each_key(clock: Clock) -> None:
    limits = Limits(requests=3)
    assert [limits.admit("a") for _ in range(4)] == [None, None, None, ("requests", 20.0)]
    assert limits.admit("b") is None
    clock.now = 19.0
    reached = limits.admit("a")
    assert reached is not None
    assert reached[1] == pytest.approx(1.0)
    clock.now = 20.0
    assert limits.admit("a") is None
    assert limits.admit("a") is not None
    clock.now = 10_000.0
    assert [limits.admit("a") is None for _ in range(4)] == [True, True, True, False]


def test_tokens_are_owed_if_an_answer_took_more_than_were_left(clock: Clock) -> None:
    limits = Limits(tokens=600)
    assert limits.admit("a") is None
    limits.charge("a", 800)
    reached = limits.admit("a")
    assert reached is not None
    assert reached[0] == "tokens"
    assert 20 < reached[1] < 21
    limits.charge("a", -700)
    assert limits.admit("a") is None


def told(stream: bool, hidden: bool, *pieces: bytes) -> tuple[int | None, bytes]:
    """The number of tokens read from an answer, and the bytes that the client gets."""
    usage = Usage(0)
    reader = UsageReader(usage, stream=stream, hidden=hidden)
    passed = b"".join(map(reader.feed, pieces)) + reader.end()
    return usage.total, passed


SAYING = b'data: {"choices":[{"delta":{"content":"so \\"usage\\":{\\"total_tokens\\": 1}"}}],"usage":null}\n\n'
COUNT = b'data: {"choices":[],"usage":{"total_tokens":19,"completion_tokens":12}}\n\n'


def test_tokens_are_those_of_the_usage_that_vllm_reports_wherever_the_answer_is_cut() -> None:
    answer = b'{"choices":[{"text":"\\"usage\\":{\\"total_tokens\\": 1}"}],"usage":{"total_tokens":19,"completion_tokens":12}}'
    stream = SAYING + COUNT + b"data: [DONE]\n\n"
    for place in range(len(stream) + 1):
        assert told(False, False, answer[:place], answer[place:]) == (19, answer)
        assert told(True, False, stream[:place], stream[place:]) == (19, stream)
        assert told(True, True, stream[:place], stream[place:]) == (19, SAYING + b"data: [DONE]\n\n")


@pytest.mark.parametrize("answer", [b"", b"nonsense", b"[1]", b'{"usage":3}', b'{"usage":{"total_tokens":-5}}', b"[" * 10_000])
def test_an_answer_without_usage_is_estimated_by_its_bytes(answer: bytes) -> None:
    usage = Usage(400)
    reader = UsageReader(usage, stream=False, hidden=False)
    reader.feed(answer)
    reader.end()
    assert usage.tokens == (400 + len(answer)) / 4


def test_a_key_cannot_take_the_slots_of_another() -> None:
    slots = Slots(8, 2)
    assert [slots.take("user") for _ in range(7)] == [True] * 6 + [False]
    assert [slots.take("admin") for _ in range(3)] == [True, True, False]
    slots.give_back("user")
    assert slots.take("admin")
    assert not slots.take("user")
    assert slots.used == 8
