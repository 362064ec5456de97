import itertools
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import bootstrap

from eval.compare import compare_runs
from eval.items import ItemScore
from eval.statistics import permutation_p, ratio_intervals
from harness.corpora import load
from harness.worlds.hexagons import Paint
from tests.helpers import Command
from tests.helpers.scored import perfect, step, turn, write_lines, write_run

STEPS = [step([], [Paint(0, n, "red")], n, procedure) for procedure in "0123" for n in (1, 2)]
TURNS = [turn([], [(0, 1, n, "red")], n, game) for game in "ab" for n in (0, 1)]


def scored(values: Sequence[float], clusters: str) -> list[ItemScore]:
    """Items with 10 changes each, so that F1 can be any multiple of 0.1."""
    return [
        ItemScore(f"i{n}", cluster, value, value == 1, 10, 10, round(10 * value), ())
        for n, (value, cluster) in enumerate(zip(values, clusters, strict=True))
    ]


def test_the_permutation_test_is_exact_and_compares_ratios_of_sums() -> None:
    """By hand: of the 8 exchanges of three clusters, only exchanging none or all gives a difference as large as 1.

    8 / 10 - 2 / 10 = 0.6; exchanging the second cluster gives (8 + 0) / 12 - 2 / 8, and so on.
    """
    assert permutation_p(np.array([[1.0, 0.0]] * 3), np.ones((3, 2)), "abc") == pytest.approx(2 / 8)
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
def run(command: Command, empty_folder: None, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Compares runs: a answers all steps correctly, b every other one, c lacks the last one, m is on Minecraft."""
    monkeypatch.setattr("harness.corpora.load", lambda task, split=None: STEPS if task == "hexagons" else TURNS)
    right = perfect(STEPS)
    write_run("a", right)
    write_run("b", (record | ({"actions": []} if n % 2 else {}) for n, record in enumerate(right)))
    write_run("c", right[:-1])
    write_run("m", perfect(TURNS))
    return partial(command, "compare")


def test_the_command(run: Command) -> None:
    result = json.loads(run("a", "b", "--json")[1])
    assert (result["task"], result["split"], result["items"], result["clusters"]) == ("hexagons", "test", 8, 4)
    assert result["scores"] == {"a": {"f1": 1.0, "em": 1.0}, "b": {"f1": 0.5, "em": 0.5}}
    out = run("a", Path("runs/b"))[1]
    assert "4 wins, 0 losses, 4 ties" in out
    assert "+50.00 [+50.0, +50.0]" in out
    assert json.loads(run("a", "c", "--intersect", "--json")[1])["items"] == 7


def test_runs_over_ordinary_requests(command: Command, empty_folder: None) -> None:
    right = perfect(load("everyday-minecraft", "dev"))
    write_lines("right.jsonl", right)
    write_lines("nothing.jsonl", (record | {"actions": []} for record in right))
    code, out, _ = command("compare", "right.jsonl", "nothing.jsonl")
    assert (code, "turns solved" in out, "legacy" in out) == (0, True, False)


BAD = {
    "one run": (["a"], "takes two or more runs"),
    "other items": (["a", "c"], "c lacks 1 that another has (hexagons/test/3/2); --intersect compares the 7"),
    "another task": (["a", "m"], "a answers hexagons/test and m minecraft/test"),
    "the same run": (["a", "a"], "a is given twice"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_bad_input(run: Command, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_agrees_with_scipy_on_a_ratio_of_sums() -> None:
    random = np.random.default_rng(5)
    above, below = random.integers(0, 5, 60).astype(float), random.integers(5, 9, 60).astype(float)
    (ours,) = ratio_intervals(above[:, None], below[:, None], [str(i) for i in range(60)])
    theirs = bootstrap(
        (above, below),
        lambda a, b, axis: a.sum(axis) / b.sum(axis),
        paired=True,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert ours == pytest.approx([theirs.low, theirs.high], abs=0.005)


def test_a_resample_with_nothing_to_divide_by_counts_as_zero() -> None:
    assert ratio_intervals(np.array([[1.0], [0.0]]), np.array([[1.0], [0.0]]), ["a", "b"]) == [[0.0, 1.0]]


def test_one_cluster_has_no_interval() -> None:
    assert ratio_intervals(np.ones((3, 2)), np.ones((3, 2)), ["a"] * 3) == [None, None]
