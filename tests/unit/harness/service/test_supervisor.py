"""When vLLM is restarted, after which pauses, and when the supervisor gives up."""

from contextlib import nullcontext
from typing import Any

import pytest

from harness.errors import EngineError
from harness.service import supervisor as module
from harness.service.supervisor import MOST, Supervisor


class Clock:
    """A clock that advances only by sleeping, and with the servers."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.monotonic = lambda: self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


class Server(nullcontext[Any]):
    """Runs for a second and ends."""

    def __init__(self, clock: Clock, starts: bool = True) -> None:
        super().__init__(self)
        self.clock, self.starts, self.stopped = clock, starts, 0

    def wait_until_ready(self) -> None:
        self.clock.now += 40
        if not self.starts:
            raise EngineError("no memory")

    def wait(self) -> None:
        self.clock.now += 1
        raise EngineError("it was killed")

    def stop(self) -> None:
        self.stopped += 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def supervised(servers: list[Server]) -> tuple[Supervisor, list[bool], list[str]]:
    left, made, said = iter(servers), list[bool](), list[str]()

    def make(again: bool) -> Any:
        made.append(again)
        return next(left)

    return Supervisor(make, said.append), made, said


def test_it_is_restarted_after_longer_and_longer_pauses_and_then_given_up(clock: Clock) -> None:
    servers = [Server(clock) for _ in range(MOST + 1)]
    supervisor, made, said = supervised(servers)
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
    supervisor, _, said = supervised([Server(clock), Server(clock, starts=False), Server(clock)])
    supervisor.begin()
    with pytest.raises(StopIteration):
        supervisor.watch()
    assert clock.slept == [1, 2, 4]
    assert said[1] == "no memory; starting it again in 2 s"
    with pytest.raises(EngineError, match="no memory"):
        supervised([Server(clock, starts=False)])[0].begin()
