"""`harness finetune llama-grpo` on a tiny random Llama and the shipped sample: a run, one that resumes, and two processes."""

import json
import shutil
from pathlib import Path

import pytest

from adapters.registry import WEIGHTS_FILE
from tests.helpers.finetuning import torchrun, train

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

# Answers are so short that some hold only blanks and stops, which cost nothing; the others do, so there is something to learn.
QUICK = (
    "training.learning_rate=0.01", "training.evaluations=2", "training.dev_f1_items=2", "training.max_new_tokens=1",
    "training.max_length=2048", "lora.r=8", "grpo.num_generations=16", "grpo.generation_batch_size=32",
    "grpo.per_device_train_batch_size=16", "grpo.beta=0.1",
)  # fmt: skip


def learn(base: Path, folder: Path, name: str, launcher: tuple[str, ...] = ()) -> str:
    settings = [word for override in QUICK for word in ("--set", override)]
    return train(folder, launcher, "llama-grpo", "--base", str(base), "--max-steps", "4", "--name", name, *settings)


@pytest.fixture(scope="module")
def alone(base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The run of one process, and its output."""
    folder = tmp_path_factory.mktemp("alone")
    return folder / "runs/g", learn(base, folder, "g")


def curve(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / "curve.jsonl").read_text().splitlines()]


def test_a_run_and_one_that_resumes_end_alike(alone: tuple[Path, str], base: Path, tmp_path: Path) -> None:
    run, shown = alone
    assert "4 steps of 2 prompts with 16 answers each" in shown
    assert [point["step"] for point in curve(run)] == [0, 2, 4]
    assert {"reward", "entropy", "dev_f1"} <= curve(run)[-1].keys()
    said = json.loads((run / "adapter/harness.json").read_text())
    assert said["tokens"] > 4 * 32 * 50
    assert said["effect"], "nothing was trained"
    assert not (run / "adapter/ref").exists()
    resumed = shutil.copytree(run, tmp_path / "runs/g")
    shutil.rmtree(resumed / "checkpoints/checkpoint-4")
    shutil.rmtree(resumed / "adapter")
    assert "resuming from" in learn(base, tmp_path, "g")
    assert (resumed / "adapter" / WEIGHTS_FILE).read_bytes() == (run / "adapter" / WEIGHTS_FILE).read_bytes()


def test_two_processes_share_the_steps(base: Path, tmp_path: Path) -> None:
    printed = learn(base, tmp_path, "two", torchrun(2))
    assert printed.count("is in runs/two/adapter") == 1
    assert [point["step"] for point in curve(tmp_path / "runs/two")] == [0, 2, 4]
