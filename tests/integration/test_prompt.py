"""`harness prompt` on a real vLLM: killed in the middle and started again, it ends with the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.corpora import load
from harness.corpora.item import MinecraftItem
from harness.worlds.minecraft import Action
from tests.helpers.tiny import build_tiny_model

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

HARNESS = Path(sys.executable).parent / "harness"


def command(base: Path, name: str) -> list[str | Path]:
    options = ("--base", base, "--task", "hexagons", "--split", "train", "--shots", "2", "--name", name)
    return [HARNESS, "prompt", *options, "--batch-size", "3", "--max-new-tokens", "200", "--json"]


def lines(folder: Path, name: str) -> list[str]:
    path = folder / "runs" / name / "predictions.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def test_killed_and_started_again_it_ends_with_the_same_bytes(tmp_path: Path) -> None:
    base = build_tiny_model(tmp_path / "base", context_length=4096)
    environment = {k: v for k, v in os.environ.items() if k != "HARNESS_DATA"}
    whole = subprocess.run(command(base, "whole"), cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert whole.returncode == 0, whole.stderr
    assert json.loads(whole.stdout)["items"] == len(lines(tmp_path, "whole")) == 18

    process = subprocess.Popen(
        command(base, "killed"), cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 300
    while len(lines(tmp_path, "killed")) < 4 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the run was over before it could be killed"
    assert 0 < len(lines(tmp_path, "killed")) < 18

    again = subprocess.run(command(base, "killed"), cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "are already answered" in again.stderr
    first, second = (tmp_path / "runs" / name / "predictions.jsonl" for name in ("whole", "killed"))
    assert first.read_bytes() == second.read_bytes()
    assert json.loads(again.stdout) == json.loads(whole.stdout)


def test_constrained_decoding_keeps_to_the_grammar_whatever_the_model(tmp_path: Path) -> None:
    base = build_tiny_model(tmp_path / "base", context_length=4096)
    environment = {k: v for k, v in os.environ.items() if k != "HARNESS_DATA"}
    for task, name in (("hexagons", "grouped"), ("minecraft", "lines"), ("hexagons", "json")):
        options = (
            "--base",
            base,
            "--task",
            task,
            "--format",
            name,
            "--constrain",
            "format",
            "--limit",
            "4",
            "--max-new-tokens",
            "64",
        )
        done = subprocess.run(
            [HARNESS, "prompt", *options, "--name", f"{task}-{name}"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        for record in map(json.loads, lines(tmp_path, f"{task}-{name}")):
            # Only the piece that the token limit cut may be thrown away.
            assert len(record["discarded"]) <= (1 if record["finish_reason"] == "length" else 0), record


def test_feasible_answers_can_be_carried_out_whatever_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    base = build_tiny_model(tmp_path / "base", context_length=4096)
    environment = {k: v for k, v in os.environ.items() if k != "HARNESS_DATA"}
    items = {item.id: item for item in load("minecraft", "dev") if isinstance(item, MinecraftItem)}
    shared = ("--base", base, "--task", "minecraft", "--temperature", "1", "--max-new-tokens", "96", "--limit", "6")
    for name in ("moves", "calls"):
        options = (*shared, "--constrain", "feasible", "--format", name, "--name", name)
        done = subprocess.run([HARNESS, "prompt", *options], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        records = [json.loads(line) for line in lines(tmp_path, name)]
        assert any(record["actions"] for record in records)
        for record in records:
            assert len(record["discarded"]) <= (1 if record["finish_reason"] == "length" else 0), record
            whole = [Action(*action) for action in record["actions"]]
            # The last action may be what the token limit left of another one.
            whole = whole[:-1] if record["finish_reason"] == "length" else whole
            assert items[record["id"]].before.apply(whole).ignored == ()
