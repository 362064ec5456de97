"""`harness prompt` on a real vLLM: killed in the middle and started again, it ends with the same bytes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness.corpora import load
from harness.corpora.item import MinecraftItem
from harness.worlds.minecraft import Action
from tests.helpers.tiny import build_tiny_model

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

HARNESS = Path(sys.executable).parent / "harness"
KILLS = 20


def command(base: Path, name: str) -> list[str | Path]:
    options = ("--base", base, "--task", "hexagons", "--split", "train", "--shots", "2", "--name", name)
    return [HARNESS, "prompt", *options, "--batch-size", "3", "--max-new-tokens", "200", "--no-cache", "--json"]


def lines(folder: Path, name: str) -> list[str]:
    path = folder / "runs" / name / "predictions.jsonl"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.timeout(1800)
def test_killed_at_random_moments_it_ends_with_the_same_bytes(tmp_path: Path) -> None:
    base = build_tiny_model(tmp_path / "base", context_length=4096)
    environment = {k: v for k, v in os.environ.items() if k != "HARNESS_DATA"}
    whole = subprocess.run(command(base, "whole"), cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert whole.returncode == 0, whole.stderr
    assert json.loads(whole.stdout)["items"] == len(lines(tmp_path, "whole")) == 18
    wanted = (tmp_path / "runs" / "whole" / "predictions.jsonl").read_bytes()

    rng, kills, runs = random.Random(0), 0, 0
    while kills < KILLS:
        # The moment of the kill is a number of further answers plus some milliseconds; at -1, vLLM is still loading.
        more, name = rng.randint(-1, 6), f"killed-{runs}"
        already = len(lines(tmp_path, name))
        process = subprocess.Popen(
            command(base, name), cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        while more >= 0 and len(lines(tmp_path, name)) < already + more and process.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 5 if more < 0 else 0.05))
        process.kill()
        if process.wait() == -signal.SIGKILL:
            kills += 1
        else:
            runs += 1
            assert (tmp_path / "runs" / name / "predictions.jsonl").read_bytes() == wanted
    again = subprocess.run(command(base, f"killed-{runs}"), cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "runs" / f"killed-{runs}" / "predictions.jsonl").read_bytes() == wanted
    assert json.loads(again.stdout) == json.loads(whole.stdout)


def prompted(folder: Path, name: str, *options: str | Path) -> list[Any]:
    """The records of a run."""
    environment = {k: v for k, v in os.environ.items() if k != "HARNESS_DATA"}
    words = [HARNESS, "prompt", *options, "--name", name]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in lines(folder, name)]


def test_constrained_decoding_keeps_to_the_grammar_whatever_the_model(tmp_path: Path) -> None:
    base = build_tiny_model(tmp_path / "base", context_length=4096)
    options = ("--base", base, "--constrain", "format", "--limit", "4", "--max-new-tokens", "64")
    for task, name in (("hexagons", "grouped"), ("minecraft", "lines"), ("hexagons", "json")):
        for record in prompted(tmp_path, f"{task}-{name}", *options, "--task", task, "--format", name):
            # Only the piece that the token limit cut may be discarded.
            assert len(record["discarded"]) <= (1 if record["finish_reason"] == "length" else 0), record


def test_feasible_answers_can_be_carried_out_whatever_the_model(tmp_path: Path) -> None:
    base = build_tiny_model(tmp_path / "base", context_length=4096)
    items = {item.id: item for item in load("minecraft", "dev") if isinstance(item, MinecraftItem)}
    shared = ("--base", base, "--task", "minecraft", "--temperature", "1", "--max-new-tokens", "96", "--limit", "6")
    for name in ("moves", "calls"):
        records = prompted(tmp_path, name, *shared, "--constrain", "feasible", "--format", name)
        assert any(record["actions"] for record in records)
        for record in records:
            assert len(record["discarded"]) <= (1 if record["finish_reason"] == "length" else 0), record
            whole = [Action(*action) for action in record["actions"]]
            # The last action may be a remainder that the token limit left.
            whole = whole[:-1] if record["finish_reason"] == "length" else whole
            assert items[record["id"]].before.apply(whole).ignored == ()
