"""`harness serve` against vLLM's own server, and the processor time of its reverse proxy."""

from __future__ import annotations

import asyncio
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tools.bench.measuring import ROUNDS, Pairs, RatioBenchmark, against, in_turn, processor_time


@cache
def served(clients: int = 8, seconds: float = 4.0) -> tuple[Pairs, Pairs]:
    """Tokens a second of streams from the shipped HEXAGONS adapter: through `harness serve`, and from vLLM's own server with the
    same model and adapter. Then the seconds of processor time that the vLLM in `harness serve`, and all of `harness serve`, take
    for the first.

    Both servers run all the time; each has a GiB of KV cache, or two fifths of a GPU.
    """
    import torch

    from adapters.registry import SHIPPED, load_adapter
    from harness.engines.vllm.engine import FEASIBLE_TOKENS
    from harness.engines.vllm.server import VLLM_URL, ServedAdapter, Server, server_options
    from tests.helpers.serving import ServedCommand
    from tools.load import load

    os.environ["VLLM_CPU_KVCACHE_SPACE"] = "1"
    adapter = load_adapter("hexagons", None)
    bare = Path(tempfile.mkdtemp(prefix="harness-")) / "vllm.sock"
    options = server_options(adapter.base, "base", [ServedAdapter("hexagons", adapter.path, adapter.rank)], bare, None)
    # Without what only `harness serve` has.
    options = [
        option for option in options if option not in ("--disable-uvicorn-access-log", "--logits-processors", FEASIBLE_TOKENS)
    ]
    share = ["--gpu-memory-utilization=0.4"] if torch.cuda.is_available() else []
    words = ["serve", "--adapter", f"hexagons={SHIPPED / 'hexagons'}", "--", *share]

    def rate(url: str, socket: Path | None = None) -> float:
        seen = asyncio.run(load(url, "hexagons", clients, seconds, socket=socket))
        assert not seen.lost, seen.told()
        assert not seen.refused, seen.told()
        return seen.tokens / seen.seconds

    with tempfile.TemporaryDirectory() as folder, Server([*options, *share], bare, Path(folder) / "bare.log") as server:
        server.wait_until_ready()
        with ServedCommand(Path(folder) / "front", *words) as front:
            spent: list[tuple[float, float]] = []

            def through() -> float:
                before = processor_time(front.process.pid)
                measured = rate(front.url)
                after = processor_time(front.process.pid)
                own, below = after[0] - before[0], after[1] - before[1]
                spent.append((below, own + below))
                return measured

            return in_turn(through, lambda: rate(VLLM_URL, bare), ROUNDS), spent[1:]


def passing(clients: int = 64, seconds: float = 5.0) -> Pairs:
    """Milliseconds of processor time that `harness serve` may take for a streamed piece of an answer (a core at 10,000 pieces a
    second), and that it takes. A stand-in for vLLM writes the pieces."""
    from tests.helpers.serving import ServedCommand
    from tools.load import load

    # Slow enough that each piece comes by itself.
    slow: dict[str, Any] = {"module": "tests.helpers.fake_serve", "FAKE_VLLM_PAUSE": "0.05"}
    with tempfile.TemporaryDirectory() as folder, ServedCommand(Path(folder), "serve", "--no-adapters", **slow) as front:

        def milliseconds() -> float:
            before = processor_time(front.process.pid)[0]
            seen = asyncio.run(load(front.url, "smollm2-135m", clients, seconds, max_tokens=64))
            return (processor_time(front.process.pid)[0] - before) / seen.tokens * 1000

        return against(0.1, milliseconds, rounds=3)


BENCHMARKS = [
    RatioBenchmark("front: a core at 10,000 pieces a second / used", "ms/piece", 1.0, passing),
    RatioBenchmark("front: `harness serve` / bare vLLM server", "tokens/s", 0.97, lambda: served()[0]),
    RatioBenchmark("front: processor time of its vLLM / all of `harness serve`", "s", 0.97, lambda: served()[1]),
]
