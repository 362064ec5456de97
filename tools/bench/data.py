"""Work without a model: starting, loading, simulating, parsing, scoring."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.corpora import load
from tools.bench.measuring import Pairs, RatioBenchmark, against, in_turn, seconds


def start_up() -> Pairs:
    """Seconds of an interpreter that does nothing and of `harness --help`."""
    harness = Path(sys.executable).parent / "harness"

    def of(*command: str | Path) -> Callable[[], float]:
        return lambda: seconds(lambda: subprocess.run(command, capture_output=True, check=True))

    return in_turn(of(sys.executable, "-c", ""), of(harness, "--help"))


def corpus_cache() -> Pairs:
    """Seconds of the first and of a later load of all Minecraft items, each in a separate process."""
    code = "import time; t = time.time(); from harness.corpora import load; load('minecraft'); print(time.time() - t)"

    def load_in(folder: str) -> float:
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"HARNESS_CACHE": folder}, capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    pairs = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            pairs.append((load_in(folder), load_in(folder)))
    return pairs


def scoring() -> Pairs:
    """Seconds of a plain search over the alignments and of all metrics, for the items of test with gold moved by a cell.

    The plain search, which gives only one of the metrics, is timed on every 16th item.
    """
    from eval.metrics.minecraft import count
    from harness.worlds.minecraft import net_actions
    from tests.helpers.oracle import best_overlap

    items: list[Any] = load("minecraft", "test")
    moved = [[action._replace(x=action.x + 1) for action in item.actions] for item in items]
    few = [
        (net_actions(item.before, item.before.apply(actions).structure), net_actions(item.before, item.after))
        for item, actions in zip(items[::16], moved[::16], strict=True)
    ]
    share = len(items) / len(few)

    def plain() -> float:
        return share * seconds(lambda: [best_overlap(made, gold) for made, gold in few])

    return in_turn(plain, lambda: seconds(lambda: count(items, moved)))


def simulated() -> Pairs:
    """Items a second over the simulators of games, equally many of each, written as JSON Lines, against the wanted 2,000."""
    from harness.simulators.games import ARCHITECTS
    from harness.simulators.outputs import GameSource, simulate

    each = 3_000

    def rate() -> float:
        with tempfile.TemporaryDirectory() as folder:

            def make(simulator: str) -> None:
                out = Path(folder) / f"{simulator}.jsonl"
                simulate(GameSource(simulator, 0, "train", "jsonl"), each, out, report=lambda piece: None)

            return each * len(ARCHITECTS) / seconds(lambda: list(map(make, ARCHITECTS)))

    return in_turn(rate, lambda: 2_000.0)


def parsed() -> Pairs:
    """Instructions a second that the semantic parser reads, with the memory of each drawing, against the wanted 300."""
    from harness.baselines.parser import Parser

    items = load("hexagons", "dev")
    return in_turn(lambda: len(items) / seconds(lambda: Parser().predict(items)), lambda: 300.0)


def asking() -> Pairs:
    """Milliseconds of processor time that a request to an endpoint may take (5% of a core at 100 requests a second), and that it
    takes, with prompts of 4,500 characters, 64 of them in flight, and the endpoint in another process."""
    import time
    from contextlib import closing

    from harness.engines.engine import Sampling
    from harness.engines.openai.engine import OpenAIEngine
    from prompts.rendered import Rendered

    requests = 1024
    messages = ({"role": "system", "content": "s" * 1500}, {"role": "user", "content": "u" * 3000})
    prompts = [Rendered(f"item/{n}", messages, "", ()) for n in range(requests)]  # type: ignore[arg-type]
    server = subprocess.Popen([sys.executable, "-m", "tests.helpers.quick_endpoint", "0.3"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        with closing(OpenAIEngine(server.stdout.readline().strip(), "demo", concurrency=64)) as engine:

            def milliseconds() -> float:
                begun = time.process_time()
                assert all(answer.error is None for answer in engine.generate(prompts, Sampling()))
                return (time.process_time() - begun) / requests * 1000

            return against(0.5, milliseconds)
    finally:
        server.terminate()
        server.wait()


BENCHMARKS = [
    RatioBenchmark("start: bare interpreter / `harness --help`", "s", 0.05, start_up),
    RatioBenchmark("cache: first load of the Minecraft corpus / cached load", "s", 5.0, corpus_cache),
    RatioBenchmark("metrics: plain search / pair offsets", "s", 50.0, scoring),
    RatioBenchmark("simulators: games / 2,000", "items/s", 1.0, simulated),
    RatioBenchmark("parser: HEXAGONS instructions / 300", "items/s", 1.0, parsed),
    RatioBenchmark("endpoint: 5% of a core at 100 requests a second / used", "ms/request", 1.0, asking),
]
