"""tools/bench: ratios with intervals, a table at the end, and failures that cost no other row."""

from __future__ import annotations

import re

import pytest

from tools.bench import __main__ as bench
from tools.bench.measuring import Pairs, RatioBenchmark


def test_failures_and_short_ratios_are_rows_of_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> Pairs:
        raise ValueError("a\nb")

    pairs = [(2, 1), (3, 1), (2, 1)]
    slow, quick = (RatioBenchmark(name, "s", floor, lambda: pairs) for name, floor in (("slow", 9.0), ("quick", 1.0)))
    monkeypatch.setattr(bench, "BENCHMARKS", [slow, RatioBenchmark("broken", "s", 1.0, broken), quick])
    assert bench.main([]) == 1
    printed = capsys.readouterr()
    assert printed.err == "below the floor or failed: slow; broken\n"
    assert "| broken |  |  | failed: ValueError: a b |" in printed.out
    assert re.search(r"\| quick \| 2 s \| 1 s \| 2\.29 \[1\.28, 4\.1\] \| 1 \|", printed.out)
    assert re.search(r"commit \w+", printed.out)
    assert bench.main(["--only", "quick"]) == 0
