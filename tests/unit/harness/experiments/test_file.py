"""Experiments as files: the commands of a row, and what is wrong with a file."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli import main
from harness.corpora import load
from harness.experiments.file import SHIPPED
from prompts.messages import gold_answer
from prompts.spec import PromptSpec
from tests.helpers import ROOT, cases

CASES = cases(__file__)

SCRIPT: dict[str, Any] = {"engine": "scripted", "model": "right.jsonl"}
FINETUNE: dict[str, Any] = {
    "recipe": "llama-lora",
    "base": "tiny",
    "max-steps": 2,
    "set": {"training.tokens": 1024, "lora": {"r": 8}},
}


@pytest.fixture(autouse=True)
def here(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny").symlink_to(tiny_base)
    lines = []
    for task in ("hexagons", "minecraft"):
        spec = PromptSpec.make(task)
        lines += [json.dumps({"id": item.id, "text": gold_answer(item, spec)}) for item in load(task, "dev")]
    Path("right.jsonl").write_text("\n".join(lines) + "\n")


def dry(capsys: pytest.CaptureFixture[str], *words: str, **values: Any) -> tuple[int, list[str], list[str]]:
    """The output of `harness experiment e.yaml --dry-run` for a file with these values."""
    Path("e.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    code = main(["experiment", "e.yaml", "--dry-run", *words])
    captured = capsys.readouterr()
    return code, captured.out.splitlines(), captured.err.splitlines()


def test_a_list_stands_for_a_row_with_each_of_its_values(capsys: pytest.CaptureFixture[str]) -> None:
    shared = {**SCRIPT, "limit": 3, "shots": [0, 2], "select": ["random", "bm25"]}
    far = {"engine": "openai", "base-url": "http://127.0.0.1:9/v1", "model": "m", "select": None, "shots": 0}
    rows = [{"name": "h", "prompt": {"format": ["grouped", "json"]}}, {"name": "far", "prompt": {"task": "minecraft", **far}}]
    code, out, err = dry(capsys, "--set", "prompt.limit=5", "--name", "other", prompt=shared, rows=rows)
    assert (code, err) == (0, [])
    choices = ("shots-0", "shots-2_random", "shots-2_bm25")
    assert [line[2:] for line in out[::2]] == [*(f"h_{fmt}_{choice}" for fmt in ("grouped", "json") for choice in choices), "far"]
    start = "harness prompt --shots {} --engine scripted --model right.jsonl --format {} --limit 5"
    assert out[1] == f"{start.format(0, 'grouped')} --name other/h_grouped_shots-0"
    assert out[11] == f"{start.format(2, 'json')} --select bm25 --name other/h_json_shots-2_bm25"
    end = "--base-url http://127.0.0.1:9/v1 --limit 5 --name other/far"
    assert out[13] == f"harness prompt --task minecraft --shots 0 --engine openai --model m {end}"
    assert not Path("runs").exists()


def test_a_training_is_prompted_with_its_own_result(capsys: pytest.CaptureFixture[str]) -> None:
    changes = {"lora.r": 16, "training": {"recolor": True}}
    rows = [{"name": "plain"}, {"name": "wide", "finetune": {"context": "no-history", "max-steps": None, "set": changes}}]
    code, out, err = dry(capsys, finetune=FINETUNE, prompt={"limit": 3, "engine": "transformers"}, rows=rows)
    assert (code, err) == (0, [])
    asked = "--limit 3 --name e/"
    assert [line for line in out if " steps on " not in line and "all trainings" not in line] == [
        "# plain",
        "harness finetune llama-lora --base tiny --max-steps 2 --set training.tokens=1024 --set lora.r=8 --name e/plain",
        f"harness prompt --adapter runs/e/plain --model tiny --engine transformers {asked}plain/dev",
        "# wide",
        "harness finetune llama-lora --base tiny --context no-history --set training.tokens=1024 --set lora.r=16 "
        "--set training.recolor=true --name e/wide",
        f"harness prompt --adapter runs/e/wide --model tiny --engine transformers {asked}wide/dev",
    ]


@pytest.mark.parametrize(("row", "message"), CASES["faults"])
def test_a_fault_in_a_row_is_named(row: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = dry(capsys, finetune=FINETUNE, prompt={"limit": 3}, rows=[{"name": "first"}, {"name": "row", **row}])
    assert (code, out, len(err)) == (2, [], 1), err
    assert err[0].startswith(f"Error: e.yaml: row {row.get('name', 'row')}: {message}")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rows": [{"name": "two/three"}]}, "rows.0.name: "),
        ({}, "row 1: it has nothing to run"),
        ({"prompt": {**SCRIPT, "temperature": 5}}, "--temperature 5"),
        ({"train": {"baseline": "parser"}}, "parser has nothing to train"),
    ],
)
def test_one_fault_is_an_error_of_one_line(values: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = dry(capsys, **values)
    assert (code, out, len(err)) == (2, [], 1), err
    assert message in err[0]


def test_it_ends_with_a_table_for_each_task(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    shared = {**SCRIPT, "limit": 3, "task": ["hexagons", "minecraft"], "shots": [0, 1]}
    Path("e.yaml").write_text(yaml.safe_dump({"prompt": shared}, sort_keys=False))
    assert main(["experiment", "e.yaml", "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)
    names = ["hexagons_shots-0", "hexagons_shots-1", "minecraft_shots-0", "minecraft_shots-1"]
    assert [line["row"] for line in lines] == names
    assert [line["difference"] is None for line in lines] == [True, False, True, False]
    assert lines[0]["scores"]["action"]["f1"] == 1.0
    table = Path("runs/e/table.md").read_text()
    assert table.index("## hexagons") < table.index("action F1") < table.index("## minecraft") < table.index("micro F1")


@pytest.mark.slow
def test_those_that_ship_fit_todays_options(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {"demo": 3, "grid": 2 * 3 * 5 + 2 * 5, "contexts": 4, "few-shot": 2 * (1 + 3 * 3), "ladder": 4}
    assert {path.stem for path in SHIPPED.glob("*.yaml")} == rows.keys()
    for name, count in rows.items():
        change = "finetune.base=tiny" if name in ("contexts", "ladder") else "prompt.seed=0"
        assert main(["experiment", name, "--set", change, "--dry-run"]) == 0
        assert capsys.readouterr().out.count("harness prompt ") == count
