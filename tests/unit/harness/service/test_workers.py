"""Answers within limits of time, memory, text and workers a client, and no process that outlives the server."""

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.corpora.item import HexagonsItem, MinecraftItem, Utterance
from harness.errors import UsageError
from harness.service import workers as module
from harness.service.workers import LONGEST_TALK, LONGEST_TEXT, MOST_TURNS, AnswerBudget, Unavailable, Workers, read_bounded
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Pose, Structure
from tests.helpers import ROOT, cases
from tests.helpers.misbehaving import answer
from tests.helpers.serving import wait_until


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may start a process slowly."""
    monkeypatch.setattr(module, "WAIT", 120.0)


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    """Two workers and two keys; each key may occupy one worker."""
    with Workers(AnswerBudget(seconds=1.0, megabytes=1_000, workers=2), principals=2) as workers:
        yield workers


@pytest.fixture(scope="module")
def patient() -> Iterator[Workers]:
    """Two workers with a time limit that no test reaches."""
    with Workers(AnswerBudget(seconds=50.0, workers=2), principals=2) as workers:
        yield workers


async def drop(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(("said", "told"), cases(__file__)["refused"])
def test_an_answer_over_its_budget_is_given_up_in_one_line_and_its_worker_replaced(said: str, told: str, two: Workers) -> None:
    with pytest.raises(UsageError, match=told):
        asyncio.run(answer(two, said))
    assert asyncio.run(answer(two, "hello")).notes["process"] != os.getpid()


async def begin(workers: Workers, begun: Path, principal: str = "one") -> asyncio.Task[Any]:
    """An answer that takes long and has begun."""
    task = asyncio.create_task(answer(workers, f"sleep {begun}", principal))
    async with asyncio.timeout(120):
        while not begun.exists():
            await asyncio.sleep(0.01)
    return task


def test_a_long_request_of_one_holder_leaves_room_for_another(patient: Workers, tmp_path: Path) -> None:
    async def both() -> None:
        long = [await begin(patient, tmp_path / "0")]
        long += [asyncio.create_task(answer(patient, f"sleep {tmp_path / str(n)}")) for n in (1, 2)]
        await answer(patient, "hello", "two")
        assert len(list(tmp_path.iterdir())) == 1
        for one in long:
            await drop(one)

    asyncio.run(both())


def test_requests_that_one_key_drops_do_not_cost_another_key_its_worker(patient: Workers, tmp_path: Path) -> None:
    async def attack() -> Any:
        for number in range(3):
            await drop(await begin(patient, tmp_path / str(number)))
        last = await begin(patient, tmp_path / "last")
        other = await answer(patient, "hello", "two")
        await drop(last)
        return other

    before = {child.pid for child in multiprocessing.active_children()}
    assert asyncio.run(attack()).notes["process"] in before


def test_a_worker_that_ended_while_it_was_free_is_replaced(two: Workers) -> None:
    worker = asyncio.run(answer(two, "hello")).notes["process"]
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: worker not in {child.pid for child in multiprocessing.active_children()})
    time.sleep(0.5)  # The pool looks after its processes ten times a second.
    assert asyncio.run(answer(two, "hello")).notes["process"] != worker


def test_a_client_that_waits_too_long_is_told_to_retry(patient: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait() -> None:
        long = await begin(patient, tmp_path / "begun", "three")
        monkeypatch.setattr(module, "WAIT", 0.2)
        with pytest.raises(Unavailable, match="ask again later"):
            await answer(patient, "hello", "three")
        await drop(long)

    asyncio.run(wait())


def test_no_worker_outlives_a_server_that_is_killed(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.helpers.misbehaving", str(tmp_path / "begun")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        worker = Path(f"/proc/{int(process.stdout.readline())}")
        wait_until((tmp_path / "begun").exists)
        process.kill()
    wait_until(lambda: not worker.exists() or "\nState:\tZ" in (worker / "status").read_text())


def characters(item: HexagonsItem | MinecraftItem) -> int:
    return sum(len(turn.text) for turn in item.history if isinstance(turn, Utterance))


def test_a_history_is_read_from_its_last_turns_back() -> None:
    def building(*texts: str) -> MinecraftItem:
        said = tuple(Utterance("Architect", text) for text in texts)
        return MinecraftItem("iglu/dev/game-1", "dev", said, Structure(), Pose(0, 1, 3, 37, 20), (), Structure(), "c1", "game")

    item = read_bounded(building(*(f"{n} " + 500 * "a " for n in range(500))))
    assert 0 < characters(item) <= LONGEST_TALK
    assert isinstance(item.history[-1], Utterance)
    assert item.history[-1].text.startswith("499 ")
    assert len(read_bounded(building(*["a"] * 2000)).history) == MOST_TURNS


@pytest.mark.parametrize("text", [" " * 20_000 + "place", "red," * 20_000, "place" + " \n" * 20_000])
def test_a_text_is_read_without_long_blanks_and_as_far_as_any_goes(text: str) -> None:
    told = (Utterance("Instructor", text),)
    item = read_bounded(HexagonsItem("hexagons/dev/1", "dev", text, told, Board(), (), Board(), "image", "c"))
    assert len(item.instruction) <= LONGEST_TEXT
    assert "   " not in item.instruction
    assert characters(item) <= LONGEST_TEXT
