"""Copies of an engine in separate processes; the GPUs and vLLM are stand-ins, the processes are real."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.cli import main
from harness.engines.engine import Sampling
from harness.engines.vllm import replicas
from harness.engines.vllm.replicas import ReplicatedEngine, replica_gpus
from harness.errors import EngineError, UsageError
from prompts.rendered import Rendered
from tests.helpers import ROOT


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicas, "ENGINE", "tests.helpers.echo_engine:EchoEngine")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
def engine(tiny_base: Path) -> Iterator[ReplicatedEngine]:
    with closing(ReplicatedEngine(str(tiny_base), ["4", "6"], options={})) as engine:
        yield engine


def prompts(*words: str) -> list[Rendered]:
    """A prompt for each word NAME or NAME:TOKEN; equal tokens are equal beginnings."""
    parts = (word.partition(":") for word in words)
    return [Rendered(name, (), "", (int(token or 1), 2)) for name, _, token in parts]


def texts(engine: ReplicatedEngine, *words: str) -> list[str]:
    return [answer.text for answer in engine.generate(prompts(*words), Sampling())]


@pytest.mark.parametrize(
    ("count", "options", "groups"),
    [
        (1, {}, []),
        (4, {}, ["0", "1", "2", "3"]),
        (4, {"data_parallel_size": 1}, []),
        (4, {"data_parallel_size": 2}, ["0", "1"]),
        (5, {"tensor_parallel_size": 2}, ["0,1", "2,3"]),
        (4, {"tensor_parallel_size": 2, "pipeline_parallel_size": 2}, []),
        (4, {"distributed_executor_backend": "ray"}, []),
    ],
)
def test_as_many_copies_as_fit(
    count: int, options: dict[str, object], groups: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "visible_gpus", lambda: [str(number) for number in range(count)])
    assert replica_gpus(options) == groups
    with pytest.raises(UsageError, match=f"--data-parallel-size 9 needs .* GPUs, and {count} are visible: give"):
        replica_gpus({"data_parallel_size": 9, "tensor_parallel_size": 2})


def test_prompts_are_divided_and_answered_in_order(engine: ReplicatedEngine) -> None:
    assert (engine.context_length, engine.batch_size, engine.independent) == (2048, 20, False)
    reported: list[int] = []
    engine.report = reported.append
    # Prompts with the same beginning go to the same copy as far as equal shares allow.
    assert texts(engine, "a:9", "b", "c:9", "d", "e") == ["6 a 1", "4 b 1", "6 c 1", "4 d 1", "6 e 1"]
    assert reported[-1] == 5
    assert texts(engine) == []
    assert texts(engine, "one") == ["6 one 2"]


def test_a_failure_of_one_copy_is_one_error_and_one_that_dies_is_named(engine: ReplicatedEngine) -> None:
    with pytest.raises(EngineError, match="as it was told"):
        texts(engine, "slow", "slow", "fail:3", "slow:4")
    assert texts(engine, "x", "y") == ["4 x 2", "6 y 2"]
    with pytest.raises(EngineError, match="the vLLM on GPU 6 ended"):
        texts(engine, "slow", "die:3")


def test_harness_prompt_uses_every_gpu_and_says_so(
    tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(replicas, "visible_gpus", lambda: ["0", "1", "2"])
    assert main(["prompt", "--base", str(tiny_base), "--limit", "6", "--name", "r", "--no-cache"]) == 0
    assert "engine vllm on 3 GPUs (3 copies), model" in capsys.readouterr().out.splitlines()[0]
    answers = Path("runs/r/predictions.jsonl").read_text()
    assert all(f'"{gpu} hexagons/' in answers for gpu in "012")
