"""Suites: the rows of a file, all that is wrong with one at once, and one that is killed and goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from harness.cli import main
from harness.corpora import load
from harness.runs.grid import STATE_FILE
from harness.runs.suite import SCHEMA, SUITES, suite_schema
from prompts.messages import gold_answer
from prompts.spec import PromptSpec
from tests.helpers import ROOT
from tools.recipe_schema import content

TWO: dict[str, Any] = {
    "tasks": ["hexagons", "minecraft"],
    "models": {
        "right": {"scripted": "right.jsonl"},
        "far": {"base_url": "http://127.0.0.1:9/v1", "model": "m", "tasks": ["minecraft"], "prompt": {"concurrency": 2}},
    },
    "formats": {"hexagons": ["grouped", "json"]},
    "shots": [0, 2],
    "select": ["random", "bm25"],
    "prompt": {"limit": 3, "shot-order": "best-first"},
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    lines = []
    for task in ("hexagons", "minecraft"):
        spec = PromptSpec.make(task)
        lines += [json.dumps({"id": item.id, "text": gold_answer(item, spec)}) for item in load(task, "dev")]
    Path("right.jsonl").write_text("\n".join(lines) + "\n")


def dry(capsys: pytest.CaptureFixture[str], values: Any, *words: str) -> tuple[int, list[str], list[str]]:
    Path("s.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    code = main(["suite", "s.yaml", "--dry-run", *words])
    captured = capsys.readouterr()
    return code, captured.out.splitlines(), captured.err.splitlines()


def test_a_row_is_a_prompt_and_is_named_by_what_varies(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = dry(capsys, TWO)
    assert (code, err) == (0, [])
    assert [line[2:] for line in out[::2]] == [
        *(f"hexagons_right_{fmt}_{shots}" for fmt in ("grouped", "json") for shots in ("0-shot", "2-shot_random", "2-shot_bm25")),
        *(f"minecraft_{model}_{shots}" for model in ("right", "far") for shots in ("0-shot", "2-shot_random", "2-shot_bm25")),
    ]
    start = "harness prompt --task hexagons --format grouped"
    assert out[1] == f"{start} --engine scripted --model right.jsonl --limit 3 --name s/hexagons_right_grouped_0-shot"
    ordered = "--limit 3 --shot-order best-first --name s/hexagons_right_grouped_2-shot_bm25"
    assert out[5] == f"{start} --shots 2 --select bm25 --engine scripted --model right.jsonl {ordered}"
    far = "--engine openai --base-url http://127.0.0.1:9/v1 --model m --limit 3 --concurrency 2"
    assert out[19] == f"harness prompt --task minecraft {far} --name s/minecraft_far_0-shot"
    assert not Path("runs").exists()


def test_an_adapter_is_asked_in_its_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    models = {"ours": {"adapter": "hexagons", "engine": "transformers"}, "right": {"scripted": "right.jsonl"}}
    values = {"tasks": ["hexagons", "minecraft"], "models": models, "formats": {"hexagons": ["json"]}}
    code, out, _ = dry(capsys, values)
    assert code == 0
    assert out[::2] == ["# hexagons_ours", "# hexagons_right", "# minecraft_right"]
    assert out[1] == "harness prompt --task hexagons --engine transformers --adapter hexagons --name s/hexagons_ours"


def test_all_faults_are_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    values = {
        "tasks": ["hexagon"],
        "models": {"a": {"base": "x", "adapter": "y"}, "b": {"bse": "x"}, "c": {"base_url": "http://x"}},
        "shots": [-1],
        "select": ["nearest"],
        "format": ["grouped"],
    }
    code, out, err = dry(capsys, values)
    assert (code, out) == (2, [])
    for told in (
        "tasks.0: ",
        "models.a: give one of",
        "models.b.bse: no such key",
        "models.c: base_url needs",
        "shots.0",
        "select.0",
    ):
        assert any(told in line for line in err), told
    assert any("format: no such key; did you mean formats?" in line for line in err)
    assert all("s.yaml" in line for line in err)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"contexts": {"minecraft": ["h3"]}, "tasks": ["hexagons"]}, "contexts: minecraft is not one of the tasks"),
        (
            {"models": {"a": {"scripted": "x", "tasks": ["minecraft"]}}, "tasks": ["hexagons"], "formats": None},
            "no model is asked",
        ),
        ({"models": {"a": {"adapter": "none"}}}, "models.a: "),
        ({"shots": [2], "select": ["fixed"]}, "--select fixed needs --shot-ids"),
        ({"prompt": {"name": "x"}}, "prompt: no key named 'name'"),
        ({"prompt": {"limit": [1]}}, "prompt: limit: [1] is not a value of this option"),
    ],
)
def test_one_fault_is_one_line(change: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = dry(capsys, {**TWO, "models": {"right": {"scripted": "right.jsonl"}}, **change})
    assert (code, len(err)) == (2, 1)
    assert message in err[0]


def test_it_ends_in_a_table_for_each_task_and_goes_on_where_it_was(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    values = {"tasks": ["hexagons", "minecraft"], "models": {"right": {"scripted": "right.jsonl"}}, "shots": [0, 1]}
    Path("s.yaml").write_text(yaml.safe_dump(values | {"select": ["bm25"], "prompt": {"limit": 3}}))
    assert main(["suite", "s.yaml", "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)
    names = ["hexagons_0-shot", "hexagons_1-shot", "minecraft_0-shot", "minecraft_1-shot"]
    assert [line["row"] for line in lines] == names
    assert [line["difference"] is None for line in lines] == [True, False, True, False]
    assert lines[0]["scores"]["action"]["f1"] == 1.0
    table = Path("runs/s/table.md").read_text()
    assert table.index("## hexagons") < table.index("action F1") < table.index("## minecraft") < table.index("micro F1")

    states = json.loads(Path("runs/s", STATE_FILE).read_text())
    Path("runs/s", STATE_FILE).write_text(json.dumps({names[0]: states[names[0]]}))  # As one that was killed leaves it.
    file = Path("runs/s", names[1], "predictions.jsonl")
    whole = file.read_bytes()
    file.write_bytes(b"".join(whole.splitlines(keepends=True)[:1]))
    assert main(["suite", "s.yaml"]) == 0
    assert "hexagons_0-shot: finished before" in capsys.readouterr().err
    assert file.read_bytes() == whole
    assert Path("runs/s/table.md").read_text().partition("seconds")[0] == table.partition("seconds")[0]


def test_those_that_ship_fit_the_schema_and_todays_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert SCHEMA.read_text() == content(suite_schema()), "run tools/recipe_schema.py"
    shipped = sorted(SUITES.glob("*.yaml"))
    assert [path.stem for path in shipped] == ["demo", "grid"]
    for path in shipped:
        jsonschema.validate(yaml.safe_load(path.read_text()), suite_schema())
        assert main(["suite", path.stem, "--dry-run"]) == 0
    assert capsys.readouterr().out.count("harness prompt ") == 3 + 2 * 3 * 5 + 2 * 5
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"models": {"a": {"base": "x"}}, "shot": [1]}, suite_schema())
    assert main(["suite", "gird", "--dry-run"]) == 2
    assert "no suite named 'gird': did you mean grid?" in capsys.readouterr().err
