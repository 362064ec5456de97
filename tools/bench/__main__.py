"""Benchmarks as ratios of two things timed in turn, because absolute times on a shared machine mean little.

Prints every ratio as soon as it is measured, and a table of all at the end.
"""

import statistics
import sys

from harness.engines.shared import brief
from tools.bench.measuring import RatioBenchmark, ratio
from tools.bench.serving import loop, served
from tools.bench.training import finetuning

BENCHMARKS = [
    RatioBenchmark("training: packs / TRL's SFTTrainer", "tokens/s", 3.0, finetuning),
    RatioBenchmark("front: `harness serve` / bare vLLM server", "tokens/s", 0.97, served),
    # The loop comes last: its vLLM keeps the memory and the threads of this process.
    RatioBenchmark("loop: `harness prompt` / bare vLLM, 1,000 prompts", "tokens/s", 0.95, loop),
]
HEAD = ("benchmark", "first", "second", "ratio [95% interval]", "at least")


def run(benchmark: RatioBenchmark) -> tuple[tuple[str, ...], bool]:
    """The cells of a row, in the order of `HEAD`, and whether the ratio reaches its floor."""
    try:
        pairs = benchmark.measure()
        mean, low, high = ratio(pairs)
    except Exception as error:  # noqa: BLE001 - a benchmark that fails must not cost the others' numbers
        return (benchmark.name, "", "", f"failed: {type(error).__name__}: {brief(error)}", ""), False
    medians = (f"{statistics.median(column):.3g} {benchmark.unit}" for column in zip(*pairs, strict=True))
    cells = (benchmark.name, *medians, f"{mean:.3g} [{low:.3g}, {high:.3g}]", f"{benchmark.floor:g}")
    return cells, mean >= benchmark.floor


def main() -> int:
    rows, short = [], []
    for benchmark in BENCHMARKS:
        cells, reached = run(benchmark)
        rows.append(cells)
        short += [] if reached else [benchmark.name]
        print(": ".join(filter(None, cells[:4])), flush=True)
    print("\n".join(f"| {' | '.join(line)} |" for line in (HEAD, ["---"] * len(HEAD), *rows)))
    if short:
        print(f"below the floor or failed: {'; '.join(short)}", file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
