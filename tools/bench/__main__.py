"""Benchmarks as ratios of two things timed in turn, because absolute times on a shared machine mean little.

Prints every ratio as soon as it is measured, and a table of all at the end.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.engines.shared import brief
from tools.bench import data, page, prompting, serving, training
from tools.bench.measuring import Ratio, RatioBenchmark, Skipped, described, gpus

# The loop comes last: its vLLM keeps the memory and the threads of this process.
BENCHMARKS = [one for group in (data, page, training, serving, prompting) for one in group.BENCHMARKS]
HEAD = ("benchmark", "first", "second", "ratio [95% interval]", "at least", "took")


@dataclass(frozen=True)
class Result:
    """A benchmark that was run: its ratio, or why it has none."""

    benchmark: RatioBenchmark
    seconds: float
    ratio: Ratio | None = None
    medians: tuple[float, float] = (0.0, 0.0)
    error: str | None = None
    skipped: bool = False

    @property
    def short(self) -> bool:
        """Whether it failed or fell below its floor."""
        return not self.skipped and (self.ratio is None or self.ratio.mean < self.benchmark.floor)

    def cells(self) -> tuple[str, ...]:
        """In the order of `HEAD`."""
        took = f"{self.seconds:.0f} s"
        if self.ratio is None:
            return self.benchmark.name, "", "", f"{'skipped' if self.skipped else 'failed'}: {self.error}", "", took
        values = (f"{value:.3g} {self.benchmark.unit}" for value in self.medians)
        return self.benchmark.name, *values, str(self.ratio), f"{self.benchmark.floor:g}", took


def run(benchmark: RatioBenchmark) -> Result:
    begun = time.monotonic()
    try:
        pairs = benchmark.measure()
    except Exception as error:  # noqa: BLE001 - a benchmark that fails must not cost the others' numbers
        why = brief(error) if isinstance(error, Skipped) else f"{type(error).__name__}: {brief(error)}"
        return Result(benchmark, time.monotonic() - begun, error=why, skipped=isinstance(error, Skipped))
    first, second = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Result(benchmark, time.monotonic() - begun, Ratio.of(pairs), (first, second))


def run_all(benchmarks: Iterable[RatioBenchmark], say: Callable[[str], None]) -> list[Result]:
    """Run the benchmarks in order, and report each as soon as it is measured."""
    results = []
    for benchmark in benchmarks:
        results.append(run(benchmark))
        name, first, second, ratio, _, took = results[-1].cells()
        say(f"{name}: {ratio}{f' ({first}, {second})' if first else ''}, {took}")
    return results


def table(results: Sequence[Result]) -> str:
    """The table in Markdown."""
    lines = [HEAD, ["---"] * len(HEAD), *(result.cells() for result in results)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="run the benchmarks with this word in their names")
    parser.add_argument("--gpu", action="store_true", help="refuse to run without a GPU, and say what to send us")
    options = parser.parse_args(words)
    chosen = [one for one in BENCHMARKS if options.only in one.name]
    if not chosen:
        names = "; ".join(one.name for one in BENCHMARKS)
        parser.error(f"--only {options.only}: no benchmark has this word in its name: {names}")
    if options.gpu and not gpus():
        parser.error("--gpu: torch finds no GPU here; `make bench` runs without one")
    lines = described()
    print("\n".join(lines), flush=True)
    results = run_all(chosen, lambda line: print(line, flush=True))
    if options.gpu:
        print("\nSend us everything below this line (docs/gpu.md); it names neither you nor the machine.\n")
        print("\n".join(lines))
    print(f"\n{table(results)}\n\n{sum(one.seconds for one in results):.0f} s in all")
    if short := [one.benchmark.name for one in results if one.short]:
        print(f"below the floor or failed: {'; '.join(short)}", file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
