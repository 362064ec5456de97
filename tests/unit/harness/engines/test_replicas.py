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
from tests.helpers.tiny import build_tiny_model


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicas, "ENGINE", "tests.helpers.echo_engine:EchoEngine")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("base"), context_length=4096)


@pytest.fixture
def engine(base: Path) -> Iterator[ReplicatedEngine]:
    with closing(ReplicatedEngine(str(base), ["4", "6"], options={})) as engine:
        yield engine


def prompt(name: str, first: int = 1) -> Rendered:
    return Rendered(name, (), "", (first, 2))


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
    prompts = [prompt("a", 9), prompt("b", 1), prompt("c", 9), prompt("d", 1), prompt("e", 1)]
    answers = [answer.text for answer in engine.generate(prompts, Sampling())]
    # Prompts with the same beginning go to the same copy as far as equal shares allow.
    assert answers == ["6 a 1", "4 b 1", "6 c 1", "4 d 1", "6 e 1"]
    assert reported[-1] == 5
    assert list(engine.generate([], Sampling())) == []
    assert [answer.text for answer in engine.generate([prompt("one")], Sampling())] == ["6 one 2"]


def test_a_failure_of_one_copy_is_one_error_and_the_engine_goes_on(engine: ReplicatedEngine) -> None:
    with pytest.raises(EngineError, match="as it was told"):
        list(engine.generate([prompt("slow"), prompt("slow"), prompt("fail", 3), prompt("slow", 4)], Sampling()))
    assert [answer.text for answer in engine.generate([prompt("x"), prompt("y")], Sampling())] == ["4 x 2", "6 y 2"]


def test_a_copy_that_dies_is_named(engine: ReplicatedEngine) -> None:
    with pytest.raises(EngineError, match="the vLLM on GPU 6 ended"):
        list(engine.generate([prompt("slow"), prompt("die", 3)], Sampling()))


def test_harness_prompt_uses_every_gpu_and_says_so(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(replicas, "visible_gpus", lambda: ["0", "1", "2"])
    assert main(["prompt", "--base", str(base), "--limit", "6", "--name", "r", "--no-cache"]) == 0
    assert "engine vllm on 3 GPUs (3 copies), model" in capsys.readouterr().out.splitlines()[0]
    answers = Path("runs/r/predictions.jsonl").read_text()
    assert all(f'"{gpu} hexagons/' in answers for gpu in "012")
