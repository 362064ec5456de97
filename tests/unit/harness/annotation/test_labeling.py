"""`harness annotate --scheme`: labels of drawing steps, made with scripted keys, read, counted and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.schemes import StepLabels, read_labels, statistics
from harness.cli import main
from harness.corpora import load
from harness.corpora.item import HexagonsItem
from harness.errors import DataError
from tests.helpers.scored import write_lines


def steps(split: str | None = None) -> list[HexagonsItem]:
    return [item for item in load("hexagons", split) if isinstance(item, HexagonsItem)]


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def label(monkeypatch: pytest.MonkeyPatch, typed: str, *arguments: str) -> int:
    """Type these keys into `harness annotate label`, then close the terminal. Returns the exit code."""
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.getchar", iter([*typed, ""]).__next__)
    return main(["annotate", "label", "--annotator", "me", *arguments])


def written(scheme: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("annotations", f"me_{scheme}.jsonl").read_text().splitlines()]


def test_a_key_adds_an_occurrence_and_enter_ends_the_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert label(monkeypatch, "poOz?\rap x\rbp\r", "--scheme", "phenomena") == 0
    out = capsys.readouterr().out
    assert "z is not a key here" in out
    assert "o object: tiles that are referred to at once" in out
    assert "> object 2, spatial" in out
    first, second = (step.id for step in steps()[:2])
    # The second step is labeled, unlabeled, and labeled again after going back.
    assert written("phenomena") == [
        {"id": first, "labels": {"object": 2, "spatial": 1}, "annotator": "me"},
        {"id": second, "labels": {"spatial": 1}, "annotator": "me"},
    ]
    assert f"2 of {len(steps())} labeled" in out
    assert label(monkeypatch, "", "--scheme", "phenomena") == 0
    assert "item 3 of" in capsys.readouterr().out


def test_a_level_takes_one_key(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert label(monkeypatch, "3\rx0", "--scheme", "levels") == 0
    dev = steps("dev")
    assert written("levels") == [{"id": dev[n].id, "level": level, "annotator": "me"} for n, level in enumerate((3, 0))]


@pytest.mark.parametrize(
    ("scheme", "fields"),
    [
        ("phenomena", {"labels": {"objects": 1}}),
        ("phenomena", {"labels": {"object": 0}}),
        ("phenomena", {"labels": {"object": True}}),
        ("mechanisms", {"labels": ["object"]}),
        ("mechanisms", {"level": 1}),
        ("levels", {"level": 4}),
        ("levels", {"level": "mid"}),
        ("levels", {"level": 1, "id": "minecraft/test/g/1"}),
    ],
)
def test_what_is_no_label_is_refused_with_its_line(scheme: str, fields: dict[str, Any]) -> None:
    good: dict[str, Any] = {"level": 0} if scheme == "levels" else {"labels": {}}
    path = write_lines("a.jsonl", [{"id": "hexagons/dev/1/1", **good}, {"id": "hexagons/dev/1/2", **fields}])
    with pytest.raises(DataError, match=f"^a.jsonl:2: .*: not a line of {scheme}: "):
        read_labels(path, scheme)


def test_counts_by_occurrence_step_and_procedure() -> None:
    made: dict[str, dict[str, int]] = {
        "1/1": {"object": 2, "control": 1},
        "1/2": {"control": 1},
        "2/1": {"spatial": 3},
        "2/2": {},
    }
    counts = statistics("phenomena", {f"hexagons/dev/{n}": StepLabels(n, labels) for n, labels in made.items()})
    assert (counts["steps"], counts["procedures"]) == (4, 2)
    assert counts["labels"]["control"] == {"count": 2, "steps": 2, "procedures": 1, "paper": 61}
    abstraction = counts["groups"]["abstraction"]
    assert abstraction == {"count": 4, "steps": 2, "procedures": 1, "paper": {"steps": 95, "procedures": 22}}


def test_our_labels_stand_beside_the_papers_counts(capsys: pytest.CaptureFixture[str]) -> None:
    for scheme in ("phenomena", "mechanisms", "levels"):
        assert main(["annotate", "stats", "--scheme", scheme]) == 0
        assert "our labels, not the paper's" in capsys.readouterr().out
    assert main(["annotate", "stats", "--scheme", "phenomena"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    (spatial,) = (row for row in rows if row and row[0] == "spatial")
    assert spatial[-5:] == ["225", "132", "(68.0%)", "23", "(95.8%)"]


def test_the_agreement_of_the_passes_of_our_levels(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "agreement", "--scheme", "levels", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["items"], len(found["differ"])) == (446, 30)
    assert found["parts"]["level"]["alpha"] == pytest.approx(0.965, abs=5e-4)
    assert main(["annotate", "agreement", "--scheme", "phenomena"]) == 2
