"""`harness prompt` on a real vLLM: killed in the middle and started again, it ends with the same bytes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.finetuning import environment
from tests.helpers.tiny import build_tiny_model

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

KILLS = (0, 1, 8)
"""The number of further answers after which the run is killed; at 0, its folder has just been made."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("base") / "base", context_length=4096)


class Prompting:
    """`harness prompt` on 18 items, three at a time."""

    def __init__(self, folder: Path, base: Path, name: str) -> None:
        options = ("--base", str(base), "--task", "hexagons", "--split", "train", "--shots", "2", "--name", name)
        more = ("--batch-size", "3", "--max-new-tokens", "200", "--no-cache", "--json")
        self.command = [sys.executable, "-m", "harness.cli", "prompt", *options, *more]
        self.how: dict[str, Any] = {"cwd": folder, "env": environment()}
        self.predictions = folder / "runs" / name / "predictions.jsonl"

    def answers(self) -> int:
        return self.predictions.read_bytes().count(b"\n") if self.predictions.exists() else 0

    def finished(self) -> Any:
        """The scores that it prints at its end."""
        done = subprocess.run(self.command, **self.how, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def killed(self, answers: int) -> None:
        """Starts it and kills it once its folder exists and holds so many more answers."""
        wanted = self.answers() + answers
        process = subprocess.Popen(self.command, **self.how, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.predictions.parent.exists() or self.answers() < wanted:
            assert process.poll() is None
            time.sleep(0.002)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        assert self.answers() < 18


def test_killed_three_times_it_ends_with_the_same_bytes(base: Path, tmp_path: Path) -> None:
    whole, killed = (Prompting(tmp_path, base, name) for name in ("whole", "killed"))
    scores = whole.finished()
    assert scores["items"] == whole.answers() == 18
    for answers in KILLS:
        killed.killed(answers)
    assert killed.finished() == scores
    assert killed.predictions.read_bytes() == whole.predictions.read_bytes()
