"""`harness experiment` with real trainings of a tiny random Llama on the sample: a row that fails, a kill, and the table."""

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

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

FILE = """
finetune:
  recipe: llama-lora
  base: tiny
  max-steps: 24
  format: grouped
  set: {training: {tokens: 1024, accumulation: 1, evaluations: 24, dev_f1_items: 2, dev_loss_items: 4, max_new_tokens: 8}}
prompt: {limit: 5, engine: transformers, max-new-tokens: 8}
rows:
  - {name: alone, finetune: {context: no-history}}
  - {name: broken, finetune: {context: no-history, set: {training.max_length: 1}}}
  - {name: history, finetune: {context: full-history}}
"""


def start(folder: Path, base: Path) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    (folder / "rows.yaml").write_text(FILE)
    if not (folder / "tiny").exists():
        (folder / "tiny").symlink_to(base)
    words = [sys.executable, "-m", "harness.cli", "experiment", "rows.yaml", "--json"]
    return subprocess.Popen(words, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def scored(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What does not depend on time."""
    return [(line["row"], line["error"], line.get("scores"), line.get("difference")) for line in lines]


def test_a_row_may_fail_and_a_killed_experiment_goes_on(base: Path, tmp_path: Path) -> None:
    killed = start(tmp_path / "killed", base)
    checkpoints = tmp_path / "killed/runs/rows/history/checkpoints"
    while not list(checkpoints.glob("checkpoint-*/trainer_state.json")):
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.02)  # The other 23 steps take little more than a second.
    (child,) = (int(line) for line in Path(f"/proc/{killed.pid}/task/{killed.pid}/children").read_text().split())
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{child}").exists() and "\nState:\tZ" not in Path(f"/proc/{child}/status").read_text():
        assert time.monotonic() < deadline, "the training outlived its parent"
        time.sleep(0.1)

    again = start(tmp_path / "killed", base)
    printed, said = again.communicate(timeout=500)
    assert again.returncode == 1, said
    assert "row 1 of 3, alone: finished before" in said
    assert "resuming from " in said
    assert said.splitlines()[-1] == "Error: 1 of 3 rows failed: broken; the same command tries them again"
    lines = json.loads(printed)
    assert "row is longer than 1 tokens" in lines[1]["error"]
    assert [line["row"] for line in lines if line["error"] is None] == ["alone", "history"]
    assert lines[2]["difference"]["b"] == "alone"
    assert all(number > 0 for key in ("seconds", "tokens") for number in lines[2]["facts"][key])
    table = (tmp_path / "killed/runs/rows/table.md").read_text()
    assert [line.split(" | ")[0] for line in table.splitlines()[2:5]] == ["| alone", "| broken", "| history"]

    whole = start(tmp_path / "whole", base)
    printed, said = whole.communicate(timeout=500)
    assert whole.returncode == 1, said
    assert scored(json.loads(printed)) == scored(lines)
    for file in ("history/dev/predictions.jsonl", "alone/dev/predictions.jsonl"):
        assert (tmp_path / "whole/runs/rows" / file).read_bytes() == (tmp_path / "killed/runs/rows" / file).read_bytes()
