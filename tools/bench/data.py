"""Work without a model: starting, simulating, parsing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from harness.corpora import load
from tools.bench.measuring import Benchmark, Pairs, in_turn, seconds


def start_up() -> Pairs:
    """Seconds of an interpreter that does nothing and of `harness --help`."""
    harness = Path(sys.executable).parent / "harness"

    def of(*command: str | Path) -> Callable[[], float]:
        return lambda: seconds(lambda: subprocess.run(command, capture_output=True, check=True))

    return in_turn(of(sys.executable, "-c", ""), of(harness, "--help"))


def simulated() -> Pairs:
    """Items a second over the simulators of games, as many of each, written as JSON Lines; and the 2,000 that are wanted."""
    from harness.simulators.games import ARCHITECTS
    from harness.simulators.outputs import simulate
    from harness.simulators.stream import GameSource

    each = 3_000

    def rate() -> float:
        with tempfile.TemporaryDirectory() as folder:

            def make(simulator: str) -> None:
                out = Path(folder) / f"{simulator}.jsonl"
                simulate(GameSource(simulator, 0, "train", "jsonl"), each, out, report=lambda piece: None)

            return each * len(ARCHITECTS) / seconds(lambda: list(map(make, ARCHITECTS)))

    return in_turn(rate, lambda: 2_000.0)


def parsed() -> Pairs:
    """Instructions a second that the semantic parser reads, with the drawings' memories; and the 300 that are wanted."""
    from harness.baselines.parser import Parser

    items = load("hexagons", "dev")
    return in_turn(lambda: len(items) / seconds(lambda: Parser().predict(items)), lambda: 300.0)


BENCHMARKS = [
    Benchmark("start: bare interpreter / `harness --help`", "s", 0.05, start_up),
    Benchmark("simulators: games / 2,000", "items/s", 1.0, simulated),
    Benchmark("parser: HEXAGONS instructions / 300", "items/s", 1.0, parsed),
]
