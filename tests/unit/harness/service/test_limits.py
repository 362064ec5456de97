"""Requests and tokens a minute: when they are used up, when they are there again, and how tokens are counted."""

from __future__ import annotations

import pytest

from harness.service.limits import Limits, Tally


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_requests_of_a_minute_come_back_one_by_one_and_each_key_has_its_own() -> None:
    clock = Clock()
    limits = Limits(requests=3, clock=clock)
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


def test_tokens_are_owed_where_an_answer_took_more_than_was_left() -> None:
    clock = Clock()
    limits = Limits(tokens=600, clock=clock)
    assert limits.admit("a") is None
    limits.charge("a", 800)
    reached = limits.admit("a")
    assert reached is not None
    assert reached[0] == "tokens"
    assert 20 < reached[1] < 21
    limits.charge("a", -700)
    assert limits.admit("a") is None


def test_without_limits_everything_is_admitted() -> None:
    limits = Limits()
    limits.charge("a", 1e9)
    assert all(limits.admit("a") is None for _ in range(1000))
    assert not limits.counts_tokens


def counted(asked: int, *pieces: bytes) -> float:
    tally = Tally(asked)
    for piece in pieces:
        tally.see(piece)
    return tally.tokens


def test_tokens_are_those_of_the_answers_usage_wherever_it_is_cut() -> None:
    answer = b'{"choices":[{"text":"so \\"total_tokens\\": 1"}],"usage":{"total_tokens":19,"completion_tokens":12}}'
    for place in range(len(answer) + 1):
        cut = answer[:place], answer[place:]
        # A number that is cut in two is counted when it is whole.
        assert counted(400, *cut) == 19
    assert counted(400, *(answer[place : place + 1] for place in range(len(answer)))) == 19


def test_without_usage_tokens_are_reckoned_by_events_and_bytes() -> None:
    assert counted(400, b"data: {}\n\ndata: {}\n\n", b"data: [DONE]\n\n") == 100 + 3
    assert counted(400, b"x" * 40) == 100 + 10
    assert counted(400) == 100
