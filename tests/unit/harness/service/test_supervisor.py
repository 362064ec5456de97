"""When vLLM is restarted, after which pauses, and when the supervisor gives up."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import EngineError
from harness.service import supervisor as module
from harness.service.supervisor import LONGEST_PAUSE, MOST, Supervisor


class Clock:
    """A clock that advances only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


class Server:
    """Runs for some seconds and ends."""

    def __init__(self, clock: Clock, runs: float, starts: bool = True) -> None:
        self.clock, self.runs, self.starts, self.stopped = clock, runs, starts, 0

    def __enter__(self) -> Server:
        return self

    def wait_until_ready(self) -> None:
        self.clock.now += 40
        if not self.starts:
            raise EngineError("no memory")

    def wait(self) -> None:
        self.clock.now += self.runs
        raise EngineError("it was killed")

    def stop(self) -> None:
        self.stopped += 1


def supervised(clock: Clock, servers: list[Server]) -> tuple[Supervisor, list[bool], list[str]]:
    left = list(servers)
    made: list[bool] = []
    said: list[str] = []

    def make(again: bool) -> Any:
        made.append(again)
        return left.pop(0)

    return Supervisor(make, said.append), made, said


def test_it_is_restarted_after_longer_and_longer_pauses_and_then_given_up(clock: Clock) -> None:
    servers = [Server(clock, runs=1) for _ in range(MOST + 1)]
    supervisor, made, said = supervised(clock, servers)
    states: list[str] = [supervisor.state]
    with supervisor:
        supervisor.begin()
        states.append(supervisor.state)
        with pytest.raises(EngineError, match="vLLM ended 6 times within 10 minutes: it was killed"):
            supervisor.watch()
    assert [*states, supervisor.state] == ["starting", "up", "down"]
    assert made == [False, *[True] * MOST]
    assert clock.slept == [1, 2, 4, 8, 16]
    assert [server.stopped for server in servers] == [1] * len(servers)
    assert said[:2] == ["it was killed; starting it again in 1 s", "vLLM is up again, 40 s after it was started"]


def test_a_failed_restart_counts_as_an_end_and_a_failed_first_start_is_final(clock: Clock) -> None:
    servers = [Server(clock, 1), Server(clock, 1, starts=False), Server(clock, 1)]
    supervisor, _, said = supervised(clock, servers)
    supervisor.begin()
    with pytest.raises(IndexError):
        supervisor.watch()
    assert clock.slept == [1, 2, 4]
    assert said[1] == "no memory; starting it again in 2 s"
    first, _, _ = supervised(clock, [Server(clock, 1, starts=False)])
    with pytest.raises(EngineError, match="no memory"):
        first.begin()


def test_clients_are_told_to_retry_when_vllm_is_likely_up(clock: Clock) -> None:
    supervisor, _, _ = supervised(clock, [Server(clock, 1)])
    assert supervisor.retry_after == 60
    supervisor.begin()
    with pytest.raises(IndexError):
        supervisor.watch()
    assert supervisor.state == "restarting"
    assert supervisor.retry_after == 40  # A start takes 40 s and the pause 1 s; one second has passed.
    clock.now += 100
    assert supervisor.retry_after == 1
    assert LONGEST_PAUSE == 30
