"""`harness mix`: which cells there are, what they are trained on, and that a killed mix goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from eval.report.charts import INK
from harness.baselines.mixing import cell_name, cells
from harness.cli import cli
from harness.corpora import load
from harness.corpora.records import to_full_record
from harness.errors import HarnessError
from tests.helpers.tiny_cnn_gru import SETTINGS

MIX = ["mix", "cnn-gru", "--data", "blocks.jsonl", "--data", "shapes.jsonl", "--max-epochs", "1", "--limit", "6", "--name", "m"]
SETS = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]


def run(*more: str) -> Result:
    return CliRunner().invoke(cli, [*MIX, *SETS, *more])


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder with two sets that stand for synthetic ones: 4 items each."""
    monkeypatch.chdir(tmp_path)
    items = load("minecraft", "test")
    for name, part in (("blocks", items[:4]), ("shapes", items[4:8])):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(to_full_record(item)) + "\n" for item in part))


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, unique=True), st.sets(st.sampled_from([0, 0.25, 1.0]), min_size=1))
def test_a_grid_has_every_mix_and_learning_curves_are_some_of_them(sets: list[str], chosen: set[float]) -> None:
    fractions = sorted(chosen)
    grid, single = cells(sets, fractions, grid=True), cells(sets, fractions, grid=False)
    assert len({cell_name(cell) for cell in grid}) == len(grid) == len(fractions) ** len(sets)
    assert (
        len({cell_name(cell) for cell in single}) == len(single) == len(sets) * sum(f > 0 for f in fractions) + (0 in fractions)
    )
    assert all(sum(fraction > 0 for fraction in cell.values()) <= 1 for cell in single)
    if 0 in fractions:
        assert all(cell in grid for cell in single)


def test_a_mix_trains_and_scores_every_cell_and_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.baselines import mixing
    from harness.training.running import train as really_train

    trained: list[str] = []

    def train(what: Any, folder: Path, say: Any) -> Any:
        trained.append(folder.name)
        if len(trained) == 3:
            raise KeyboardInterrupt
        return really_train(what, folder, say)

    monkeypatch.setattr(mixing, "train", train)
    assert run("--fractions", "0,0.5,1").exception is not None
    assert len(Path("runs/m/mix.jsonl").read_text().splitlines()) == 2
    done = run("--fractions", "0,0.5,1")
    assert done.exit_code == 0, done.output
    assert trained == ["corpus", "blocks-0.5", "blocks-1", "blocks-1", "shapes-0.5", "shapes-1"]
    lines = [json.loads(line) for line in Path("runs/m/mix.jsonl").read_text().splitlines()]
    assert [line["items"] for line in lines] == [
        {"corpus": 6, "blocks": blocks, "shapes": shapes} for blocks, shapes in ((0, 0), (2, 0), (4, 0), (0, 2), (0, 4))
    ]
    assert all(line["scores"]["items"] == 6 and line["scores"]["split"] == "val" for line in lines)
    assert "micro F1" in done.output
    picture = ElementTree.fromstring(Path("runs/m/mix.svg").read_text())
    dots = [dot for dot in picture.iter("{http://www.w3.org/2000/svg}use") if dot.attrib["fill"] != INK]
    assert len(dots) == 6 + 2, "and one for each set in the legend"
    again = run("--fractions", "0,0.5,1", "--json")
    assert json.loads(again.stdout) == lines
    assert len(trained) == 6
    scored = CliRunner().invoke(cli, ["score", "runs/m/blocks-1/dev", "--json"])
    assert json.loads(scored.stdout)["micro"]["overall"]["tp"] == lines[2]["scores"]["micro"]["overall"]["tp"]


def test_what_cannot_be_mixed_is_one_line() -> None:
    Path("more").mkdir()
    Path("more/blocks.jsonl").write_bytes(Path("shapes.jsonl").read_bytes())
    for more, problem in (
        (("--fractions", "2"), "--fractions 2: give numbers"),
        (("--data", "more/blocks.jsonl"), "among the train or dev items already"),
        (("--data", "nothing.jsonl"), "nothing.jsonl"),
    ):
        refused = run(*more)
        assert isinstance(refused.exception, HarnessError)
        assert problem in str(refused.exception)
    assert not Path("runs").exists()
