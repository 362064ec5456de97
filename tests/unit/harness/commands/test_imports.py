"""`harness import`: predictions made elsewhere become a run, or one line says which line of theirs is wrong."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.cli import main
from harness.corpora import load
from serialization.formats import get_format

pytestmark = pytest.mark.usefixtures("empty_folder")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["import", *arguments])
    return code, *capsys.readouterr()


def kept(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("runs", name, "predictions.jsonl").read_text().splitlines()]


def as_csv(*rows: tuple[str, str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([("id", "text"), *rows])
    return out.getvalue()


def test_texts_in_csv(capsys: pytest.CaptureFixture[str]) -> None:
    items = load("hexagons", "dev")
    texts = [get_format("hexagons", "triplets").write(item.actions) for item in items]
    Path("theirs.csv").write_text(as_csv(*zip([item.id for item in items], texts, strict=True)), newline="")
    code, out, err = run(capsys, "theirs.csv", "--name", "theirs", "--format", "triplets")
    assert (code, err) == (0, "")
    assert out == f"runs/theirs: {len(items)} predictions for the {len(items)} items of hexagons/dev\n"
    assert kept("theirs")[0] == {
        "id": items[0].id,
        "actions": [list(action) for action in items[0].actions],
        "text": texts[0],
        "format": "triplets",
        "discarded": [],
    }
    described = yaml.safe_load(Path("runs/theirs/run.yaml").read_text())
    assert described["settings"] == {
        "command": "import",
        "task": "hexagons",
        "split": "dev",
        "items": len(items),
        "format": "triplets",
        "source": "theirs.csv",
        "source_sha256": hashlib.sha256(Path("theirs.csv").read_bytes()).hexdigest(),
    }
    assert main(["score", "theirs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["action"]["em"] == 1.0


def test_actions_and_texts_in_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third, *rest = load("minecraft", "val")
    lines = [
        {"id": first.id, "actions": [list(action) for action in first.actions], "seconds": 1.5},
        {"id": second.id, "text": "place red 0 1 0\nand so on", "format": "lines"},
        {"id": third.id, "error": "HTTP 500"},
    ]
    Path("theirs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, err = run(capsys, "theirs.jsonl", "--name", "theirs", "--task", "minecraft", "--split", "dev")
    assert code == 0
    assert out == f"runs/theirs: 3 predictions for the {len(rest) + 3} items of minecraft/val\n"
    assert err.startswith("Texts with parts that are not actions: 1 ")
    found = kept("theirs")
    assert list(found[0]) == ["id", "actions"]
    assert found[1]["actions"] == [["place", "red", 0, 1, 0]]
    assert found[1]["discarded"][0][0] == "and so on"
    assert found[2] == {"id": third.id, "actions": [], "error": "HTTP 500"}
    assert main(["score", "theirs", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["missing"], scores["errors"]) == (len(rest), 1)


def test_the_same_file_again_is_the_same_run_and_another_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, *_ = load("hexagons", "dev")
    Path("a.jsonl").write_text(json.dumps({"id": first.id, "actions": []}) + "\n")
    assert run(capsys, "a.jsonl", "--name", "theirs")[0] == 0
    before = Path("runs/theirs/predictions.jsonl").read_bytes()
    assert run(capsys, "a.jsonl", "--name", "theirs")[0] == 0
    assert Path("runs/theirs/predictions.jsonl").read_bytes() == before
    Path("a.jsonl").write_text(json.dumps({"id": second.id, "actions": []}) + "\n")
    code, out, err = run(capsys, "a.jsonl", "--name", "theirs")
    assert (code, out) == (2, "")
    assert "holds a run with different settings (source_sha256" in err


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl"])
def test_a_byte_order_mark_is_passed_over(name: str) -> None:
    Path(name).write_text("\ufeff" + (as_csv((ID, "none")) if name == "p.csv" else LINE))
    assert main(["import", name, "--name", "r", "--format", "grouped"]) == 0


ID = "hexagons/dev/5/1"
LINE = json.dumps({"id": ID, "actions": []}) + "\n"

BAD = {
    "not JSON": ("p.jsonl", LINE + "{oops\n", "p.jsonl:2: not JSON"),
    "a blank line": ("p.jsonl", LINE + "\n", "p.jsonl:2: not JSON"),
    "NaN": ("p.jsonl", '{"id": "' + ID + '", "actions": [], "seconds": NaN}\n', "p.jsonl:1: not JSON (NaN is not a JSON number"),
    "an empty file": ("p.jsonl", "", "p.jsonl:1: the file holds no predictions"),
    "a repeated id": ("p.jsonl", LINE + LINE, f"p.jsonl:2: id '{ID}' again, first on line 1"),
    "an unknown id": ("p.jsonl", LINE.replace("5/1", "5/99"), "p.jsonl:1: unknown id 'hexagons/dev/5/99'"),
    "no format": ("p.jsonl", LINE.replace('"actions": []', '"text": "red: 1 1"'), "p.jsonl:1: a text whose format is not known"),
    "no header": ("p.csv", f"{ID},none\n", "p.csv:1: the first line must be the header id,text"),
    "an empty CSV": ("p.csv", "", "p.csv:1: the file holds no predictions"),
    "a CSV with a header only": ("p.csv", "id,text\n", "p.csv:1: the file holds no predictions"),
    "an unquoted comma": ("p.csv", f"id,text\n{ID},0 4 red, 0 5 red\n", "p.csv:2: 3 columns"),
    "one column": ("p.csv", f'id,text\n{ID},"two\nlines"\nhexagons/dev/5/2\n', "p.csv:4: 1 columns"),
    "an open quote": ("p.csv", f'id,text\n{ID},"red\n', "p.csv:2: not CSV (unexpected end of data)"),
    "a repeated id in CSV": ("p.csv", as_csv((ID, ""), (ID, "")), f"p.csv:3: id '{ID}' again, first on line 2"),
    "not UTF-8": ("p.csv", b"id,text\nx,\xff\n", "p.csv:2: not UTF-8"),
}


@pytest.mark.parametrize(("name", "content", "message"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_said_in_one_line_with_its_place(
    capsys: pytest.CaptureFixture[str], name: str, content: str | bytes, message: str
) -> None:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = run(capsys, name, "--name", "theirs")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"Error: {message}")
    assert not Path("runs").exists()


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=3))
def test_any_text_in_csv_comes_through_unchanged(tmp_path: Path, texts: list[str]) -> None:
    from harness.experiments.importing import read_csv

    path = tmp_path / "any.csv"
    path.write_text(as_csv(*((f"i{n}", text) for n, text in enumerate(texts))), newline="", encoding="utf-8")
    assert [record.fields["text"] for record in read_csv(path)] == texts
