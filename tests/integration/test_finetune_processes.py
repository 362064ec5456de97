"""`harness finetune` with several processes: the same curve as with one, and resumption after one of them is killed."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from harness.training.checkpoints import checkpoint_step, last_checkpoint
from tests.helpers.finetuning import begin, torchrun, train

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

# Of three packs in a step, two processes get two and one.
KEYS = (
    "training.evaluations=6", "training.dev_f1_items=2", "training.dev_loss_items=4", "training.max_new_tokens=8",
    "training.tokens=2048", "training.accumulation=3", "training.learning_rate=0.01", "lora.r=8", "lora.dropout=0.0",
)  # fmt: skip
COLUMNS = ("step", "train_loss", "dev_loss", "dev_f1")


def words(base: Path, name: str) -> tuple[str, ...]:
    """The arguments of `harness finetune`."""
    keys = (word for key in KEYS for word in ("--set", key))
    return ("llama-lora", "--base", str(base), "--task", "minecraft", *keys, "--max-steps", "6", "--name", name)


def curve_of(run: Path) -> list[list[float]]:
    points = json.loads((run / "adapter/harness.json").read_text())["curve"]
    return [[point.get(column, 0) for column in COLUMNS] for point in points]


@pytest.fixture(scope="module")
def both(base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The run folder of a training with two processes, and its output."""
    folder = tmp_path_factory.mktemp("both")
    return folder / "runs/whole", train(folder, torchrun(2), *words(base, "whole"))


def test_two_processes_learn_as_one_does(both: tuple[Path, str], base: Path, tmp_path: Path) -> None:
    run, printed = both
    assert printed.count("is in runs/whole/adapter") == printed.count("llama-lora on tiny") == 1
    train(tmp_path, (), *words(base, "alone"))
    together, alone = curve_of(run), curve_of(tmp_path / "runs/alone")
    assert [point[0] for point in together] == [*range(7)]
    for here, there in zip(together, alone, strict=True):
        assert here == pytest.approx(there, rel=1e-3)
    assert len(list((run / "tensorboard").iterdir())) == 1


def saved_steps(run: Path) -> int:
    last = last_checkpoint(run / "checkpoints")
    return checkpoint_step(last) if last else 0


def kill(folder: Path, rank: int, steps: int, *words: str) -> None:
    """Starts two processes in a folder and kills one of them once a checkpoint of so many steps exists."""
    launcher = begin(folder, torchrun(2), *words)
    deadline = time.monotonic() + 280
    while launcher.poll() is None and time.monotonic() < deadline and saved_steps(folder / "runs/killed") < steps:
        time.sleep(0.02)
    children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
    ranked = f"\0RANK={rank}\0".encode()
    (one,) = (child for child in children if ranked in Path(f"/proc/{child}/environ").read_bytes())
    os.kill(int(one), signal.SIGKILL)
    launcher.communicate(timeout=120)
    assert launcher.returncode != 0
    assert not (folder / "runs/killed/adapter").exists()


def test_a_run_resumes_after_either_of_its_processes_is_killed(both: tuple[Path, str], base: Path, tmp_path: Path) -> None:
    for rank, steps in ((1, 1), (0, 3)):
        kill(tmp_path, rank, steps, *words(base, "killed"))
    assert "resuming from" in train(tmp_path, torchrun(2), *words(base, "killed"))
    runs = tmp_path / "runs/killed", both[0]
    assert curve_of(runs[0]) == curve_of(runs[1])
    weights = [(run / "adapter/adapter_model.safetensors").read_bytes() for run in runs]
    assert weights[0] == weights[1]
