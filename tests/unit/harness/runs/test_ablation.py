"""Ablations as files: what becomes of a row, and that everything wrong with a file is said before anything is trained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapters.recipe import load_recipe
from harness.cli import main
from tests.helpers import ROOT

SHARED = {"recipe": "llama-lora", "max-steps": 2, "set": {"training.tokens": 1024, "lora": {"r": 8}}}


@pytest.fixture(autouse=True)
def here(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("tiny").symlink_to(tiny_base)


def dry(capsys: pytest.CaptureFixture[str], *words: str, **values: Any) -> tuple[int, str, str]:
    """What `harness ablate a.yaml --dry-run` says of a file with these values."""
    Path("a.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    code = main(["ablate", "a.yaml", "--dry-run", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_row_is_a_training_and_a_run_with_its_adapter(capsys: pytest.CaptureFixture[str]) -> None:
    Path("more.jsonl").touch()
    rows = [{"name": "plain"}, {"name": "wide", "context": "no-history", "set": {"lora.r": 16, "training": {"recolor": True}}}]
    code, out, err = dry(capsys, "--base", "tiny", **SHARED, prompt={"limit": 3, "engine": "transformers"}, rows=rows)
    assert (code, err) == (0, "")
    start = "harness finetune llama-lora --base tiny --max-steps 2"
    assert out.splitlines() == [
        "# plain",
        f"{start} --set training.tokens=1024 --set lora.r=8 --name a/plain",
        "harness prompt --adapter runs/a/plain --model tiny --engine transformers --limit 3 --name a/plain/dev",
        "# wide",
        f"{start} --context no-history --set training.tokens=1024 --set lora.r=16 --set training.recolor=true --name a/wide",
        "harness prompt --adapter runs/a/wide --model tiny --engine transformers --limit 3 --name a/wide/dev",
    ]
    assert not Path("runs").exists()


def test_all_faults_are_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"name": "one", "context": "none"},
        {"name": "one"},
        {"name": "two/three"},
        {"name": "typo", "contxt": "no-history"},
        {"name": "keys", "set": {"lora.rank": 8}},
        {"name": "list", "limit": [1]},
        {"name": "file", "data": ["missing.jsonl"]},
        {"name": "recipe", "recipe": "lama"},
        "text",
    ]
    code, out, err = dry(capsys, "--base", "tiny", **SHARED, prompt={"limit": 0}, rows=rows)
    assert (code, out) == (2, "")
    lines = err.splitlines()
    expected = [
        "row one: no context",
        "row 2: the name one is taken by row 1",
        "row 3: it needs a name of letters, digits, ., _, + and -",
        "row typo: no key named 'contxt': did you mean context?",
        "row keys: ",
        "row list: limit: [1] is not a value of this option",
        "row file: ",
        "row recipe: no recipe named 'lama'",
        "row 9: it needs a name",
        "prompt: Invalid value for '--limit'",
    ]
    for problem in expected:
        assert any(line.startswith(f"Error: a.yaml: {problem}") for line in lines), problem
    assert len(lines) == len(expected)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rows": []}, "rows: give a list of trainings"),
        ({"rows": [{"name": "a"}], "prompt": "dev"}, "prompt: give options of harness prompt"),
        ({"rows": [{"name": "a"}], "prompt": {"adapter": "mine"}}, "prompt: no key named 'adapter'"),
        ({"rows": [{"name": "a"}], "prompt": {"engine": "vlm"}}, "prompt: no engine named 'vlm'"),
        ({"rows": [{"name": "a"}], "prompt": {"completions": 3}}, "completions: true or false, not 3"),
        ({"rows": [{"name": "a"}], "set": ["lora.r=8"]}, "set: give keys of the recipe with their values"),
        ({"rows": [{"name": "a"}], "name": "b"}, "no key named 'name'"),
        ({"rows": [{"name": "a"}], "recipe": None}, "recipe: name one"),
    ],
)
def test_one_fault_is_one_line(values: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = dry(capsys, "--base", "tiny", **{**SHARED, **values})
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_the_one_that_ships_fits_todays_recipes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ablate", "contexts", "--base", "tiny", "--dry-run"]) == 0
    assert capsys.readouterr().out.count("harness finetune llama-lora --task hexagons --base tiny ") == 4


def test_the_published_rows_name_what_the_results_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Their files are not here, and that alone is wrong with them."""
    assert main(["ablate", "ingredients", "--base", "tiny", "--dry-run"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 4
    assert all(any(name in line for name in ("mined.jsonl", "parser-train", "simulated.jsonl")) for line in said)
    values = yaml.safe_load((ROOT / "adapters/ablations/ingredients.yaml").read_text())
    documented = (ROOT / "docs/results.md").read_text()
    for row in values["rows"]:
        assert f"--name {row['name']}\n" in documented
    load_recipe(values["recipe"], [f"{key}={json.dumps(value)}" for key, value in values["set"].items()])
