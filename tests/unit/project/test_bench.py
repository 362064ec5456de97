"""tools/bench: ratios with intervals, each printed as soon as it is measured, and a table at the end."""

from __future__ import annotations

import math
import re

import pytest

from tools.bench import __main__ as bench
from tools.bench import measuring
from tools.bench.measuring import Pairs, Ratio, RatioBenchmark, Skipped


def fixed(name: str, *pairs: tuple[float, float], floor: float = 1.0) -> RatioBenchmark:
    return RatioBenchmark(name, "s", floor, lambda: pairs)


def broken(name: str, error: Exception) -> RatioBenchmark:
    def measure() -> Pairs:
        raise error

    return RatioBenchmark(name, "s", 1.0, measure)


def test_mean_and_interval_are_those_of_the_logarithms() -> None:
    ratio = Ratio.of([(1, 1), (2, 1), (4, 1)])
    half = 4.302653 * math.log(2) / math.sqrt(3)
    assert ratio.mean == pytest.approx(2)
    assert (ratio.low, ratio.high) == pytest.approx((2 * math.exp(-half), 2 * math.exp(half)), rel=1e-6)
    assert str(Ratio.of([(3, 2)] * 3)) == "1.5 [1.5, 1.5]"
    assert str(Ratio.of([(3, 2)])) == "1.5 [0, inf]"


def test_each_ratio_is_printed_once_measured_and_a_failure_stops_none() -> None:
    lines: list[str] = []
    third: list[list[str]] = []

    def measure() -> Pairs:
        third.append(list(lines))
        return [(1.0, 1.0)] * 2

    benchmarks = [fixed("quick", (4, 2), (4, 2)), broken("broken", ValueError("a\nb")), RatioBenchmark("last", "s", 1.0, measure)]
    results = bench.run_all(benchmarks, lines.append)
    assert third == [["quick: 2 [2, 2] (4 s, 2 s), 0 s", "broken: failed: ValueError: a b, 0 s"]]
    assert [one.short for one in results] == [False, True, False]
    head, rule, *rows = bench.table(results).splitlines()
    assert head.startswith("| benchmark |")
    assert len(rows) == 3
    assert {line.count("|") for line in (head, rule, *rows)} == {7}


def test_what_cannot_run_here_is_skipped_and_not_a_failure() -> None:
    result = bench.run(broken("page", Skipped("there is no browser")))
    assert "skipped: there is no browser" in result.cells()
    assert not result.short


def test_a_ratio_below_the_floor_is_reported_and_exits_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "BENCHMARKS", [fixed("slow", (1, 2), (1, 2)), fixed("quick", (2, 1), (2, 1))])
    assert bench.main([]) == 1
    assert capsys.readouterr().err == "below the floor or failed: slow\n"
    assert bench.main(["--only", "quick"]) == 0


class TestGpu:
    def test_without_one_it_runs_nothing(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(bench, "gpus", list)
        with pytest.raises(SystemExit, match="2"):
            bench.main(["--gpu"])
        assert "torch finds no GPU here" in capsys.readouterr().err

    def test_the_text_to_send_holds_only_the_machine_and_the_table(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(measuring, "gpus", lambda: ["GPU A, 80 GiB", "GPU B, 80 GiB"])
        monkeypatch.setattr(bench, "gpus", measuring.gpus)
        monkeypatch.setattr(bench, "BENCHMARKS", [fixed("quick", (2, 1), (2, 1))])
        assert bench.main(["--gpu"]) == 0
        sent = capsys.readouterr().out.partition("Send us everything below this line")[2]
        assert "GPU A, 80 GiB\nGPU B, 80 GiB\n" in sent
        assert re.search(r"commit \w+", sent)
        assert "| quick | 2 s | 1 s | 2 [2, 2] | 1 | 0 s |" in sent
