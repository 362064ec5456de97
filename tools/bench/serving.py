"""`harness serve` against vLLM's own server."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from tools.bench.measuring import Pairs, gpus, in_turn

CLIENTS, SECONDS = 8, 4.0


def served() -> Pairs:
    """Tokens a second of streams from the shipped HEXAGONS adapter: through `harness serve`, and from vLLM's own server with the
    same model and adapter.

    Both servers run all the time; each has a GiB of KV cache, or two fifths of a GPU.
    """
    from adapters.registry import SHIPPED, load_adapter
    from harness.engines.vllm.engine import FEASIBLE_TOKENS
    from harness.engines.vllm.server import VLLM_URL, ServedAdapter, Server, server_options
    from tests.helpers.load import load
    from tests.helpers.serving import ServedCommand

    os.environ["VLLM_CPU_KVCACHE_SPACE"] = "1"
    adapter = load_adapter("hexagons", None)
    bare = Path(tempfile.mkdtemp(prefix="harness-")) / "vllm.sock"
    options = server_options(adapter.base, "base", [ServedAdapter("hexagons", adapter.path, adapter.rank)], bare, None)
    # Without what only `harness serve` has.
    own = ("--disable-uvicorn-access-log", "--logits-processors", FEASIBLE_TOKENS)
    options = [option for option in options if option not in own]
    share = ["--gpu-memory-utilization=0.4"] if gpus() else []
    words = ["serve", "--adapter", f"hexagons={SHIPPED / 'hexagons'}", "--", *share]

    def rate(url: str, socket: Path | None = None) -> float:
        counts = asyncio.run(load(url, "hexagons", CLIENTS, SECONDS, socket=socket))
        assert not counts.lost, counts.summary()
        assert not counts.refused, counts.summary()
        return counts.tokens / counts.seconds

    with tempfile.TemporaryDirectory() as folder, Server([*options, *share], bare, Path(folder) / "bare.log") as server:
        server.wait_until_ready()
        with ServedCommand(Path(folder) / "front", *words) as front:
            return in_turn(lambda: rate(front.url), lambda: rate(VLLM_URL, bare))
