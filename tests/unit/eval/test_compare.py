from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from eval.compare import compare_runs
from eval.items import ItemScore
from eval.statistics import permutation_p
from harness.cli import main
from harness.corpora import load
from harness.corpora.item import HexagonsItem, MinecraftItem
from harness.worlds.hexagons import Paint
from tests.helpers.scored import perfect, step, turn, write_lines, write_run

STEPS = [step([], [Paint(0, n, "red")], n, procedure) for procedure in "0123" for n in (1, 2)]
TURNS = [turn([], [(0, 1, n, "red")], n, game) for game in "ab" for n in (0, 1)]


def scored(values: Sequence[float], clusters: str) -> list[ItemScore]:
    """Items with 10 changes each, so that F1 can be any multiple of 0.1."""
    return [
        ItemScore(f"i{n}", cluster, value, value == 1, 10, 10, round(10 * value), ())
        for n, (value, cluster) in enumerate(zip(values, clusters, strict=True))
    ]


class TestStatistics:
    def test_the_permutation_test_is_exact_if_possible(self) -> None:
        """By hand: of the 8 exchanges of three clusters, only exchanging none or all gives a difference as large as 1."""
        numerators = np.array([[1.0, 0.0]] * 3)
        assert permutation_p(numerators, np.ones((3, 2)), "abc") == pytest.approx(2 / 8)

    def test_ratios_of_sums_are_compared_not_means_of_ratios(self) -> None:
        """By hand: 8 / 10 - 2 / 10 = 0.6; exchanging the second cluster gives (8 + 0) / 12 - 2 / 8, and so on."""
        numerators, denominators = np.array([[8.0, 2.0], [0.0, 0.0]]), np.array([[8.0, 8.0], [2.0, 2.0]])
        assert permutation_p(numerators, denominators, "ab") == pytest.approx(1.0)


class TestCompare:
    def test_a_pair(self) -> None:
        a, b = scored([1, 1, 0.5, 0.2], "aabb"), scored([1, 0, 0.5, 0.3], "aabb")
        result = compare_runs("hexagons", {"A": a, "B": b}, changed=5)
        assert (result["items"], result["clusters"], result["runs"]) == (4, 2, ["A", "B"])
        assert result["scores"]["A"] == {"f1": pytest.approx(0.675), "em": 0.5}
        f1, em = result["pairs"]
        assert (f1["wins"], f1["losses"], f1["ties"], f1["changed"]) == (1, 1, 2, ["i1", "i3"])
        assert f1["difference"] == pytest.approx(0.225)
        assert em["difference"] == 0.25
        assert f1["interval"][0] <= f1["difference"] <= f1["interval"][1]
        # Cluster means of the differences: 0.5 and -0.05.
        assert f1["effect"] == pytest.approx(0.225 / np.std([0.5, -0.05], ddof=1))

    def test_a_run_against_itself(self) -> None:
        scores = scored([1, 0.5, 0.1], "abc")
        for pair in compare_runs("minecraft", {"A": scores, "B": scores})["pairs"]:
            assert (pair["difference"], pair["interval"], pair["p"], pair["effect"]) == (0, [0, 0], 1, None)
            assert (pair["wins"], pair["losses"], pair["ties"], pair["changed"]) == (0, 0, 3, [])

    def test_three_runs_are_corrected(self) -> None:
        runs = {name: scored([float(name == "A")] * 8, "abcdefgh") for name in "ABC"}
        pairs = [pair for pair in compare_runs("hexagons", runs)["pairs"] if pair["metric"] == "f1"]
        assert [(pair["a"], pair["b"]) for pair in pairs] == list(itertools.combinations("ABC", 2))
        assert [pair["p"] for pair in pairs] == pytest.approx([2 / 256, 2 / 256, 1])
        assert [pair["p_holm"] for pair in pairs] == pytest.approx([6 / 256, 6 / 256, 1])


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with runs: a answers all steps correctly, b every other one, c lacks the last one, m is on Minecraft."""
    monkeypatch.setattr("harness.corpora.load", lambda task, split=None: STEPS if task == "hexagons" else TURNS)
    monkeypatch.chdir(tmp_path)
    answered: dict[str, Sequence[HexagonsItem | MinecraftItem]] = {"a": STEPS, "b": STEPS, "c": STEPS[:-1], "m": TURNS}
    for name, items in answered.items():
        write_run(name, ({"id": item.id, "actions": _gold(item, name, n)} for n, item in enumerate(items)))
    return tmp_path / "runs"


def _gold(item: HexagonsItem | MinecraftItem, name: str, n: int) -> list[object]:
    if isinstance(item, MinecraftItem) or (name == "b" and n % 2):
        return []
    return [list(action) for action in item.before.diff(item.after)]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["compare", *arguments])
    return code, *capsys.readouterr()


def test_the_command(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "a", "b", "--json")
    result = json.loads(out)
    assert (code, err) == (0, "")
    assert (result["task"], result["split"], result["items"], result["clusters"]) == ("hexagons", "test", 8, 4)
    assert result["scores"] == {"a": {"f1": 1.0, "em": 1.0}, "b": {"f1": 0.5, "em": 0.5}}
    assert result["pairs"][0]["p"] == pytest.approx(2 / 16)
    code, out, _ = run(capsys, "a", str(runs / "b"), "--changed", "1")
    assert code == 0
    assert "4 wins, 0 losses, 4 ties" in out
    assert "+50.00 [+50.0, +50.0]" in out
    assert "Holm" not in out


def test_runs_over_ordinary_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    answers = write_lines("right.jsonl", perfect(load("everyday-minecraft", "dev"))).read_text().splitlines()
    write_lines("nothing.jsonl", (json.loads(line) | {"actions": []} for line in answers))
    code, out, err = run(capsys, "right.jsonl", "nothing.jsonl")
    assert (code, err) == (0, "")
    assert "turns solved" in out
    assert "legacy" not in out


BAD = {
    "one run": (["a"], "takes two or more runs"),
    "other items": (["a", "c"], "c lacks 1 that another has (hexagons/test/3/2); --intersect compares the 7"),
    "another task": (["a", "m"], "a answers hexagons/test and m minecraft/test"),
    "the same run": (["a", "a"], "a is given twice"),
    "benchmark": (["a", "b", "--benchmark", "fair"], "--benchmark is for minecraft"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_bad_input(runs: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
