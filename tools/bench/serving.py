"""The run loop against bare vLLM in the same process, and `harness serve` against vLLM's own server."""

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.corpora import load
from tools.bench.measuring import Pairs, in_turn, parts, small_model

PROMPTS, PARTS = 1000, 5
MAX_TOKENS = 16


def loop() -> Pairs:
    """The run loop (render, generate, parse, write) and `vllm.LLM.generate` on the same prompts, in tokens a second: HEXAGONS dev
    items with five examples, part by part in turn, after a few uncounted ones.

    They are decoded greedily, by the default base on a GPU, otherwise by a model so small that the loop's own time shows.
    """
    import torch
    from vllm import SamplingParams

    from harness.engines.engine import Sampling
    from harness.engines.models.bases import load_tokenizer, resolve_base
    from harness.engines.vllm.engine import VllmEngine
    from harness.prompting.prompted import Plan, Prompted
    from harness.runs.answering import answer_items
    from harness.runs.folder import Run
    from prompts.render import Renderer
    from prompts.shots import ShotPool
    from prompts.spec import PromptSpec

    base = resolve_base(None)
    if not torch.cuda.is_available():
        tokenizer, base = load_tokenizer(base), tempfile.mkdtemp(prefix="harness-")
        small_model(base, len(tokenizer))
        tokenizer.save_pretrained(base)
    engine, pool = VllmEngine(base), ShotPool(load("hexagons", "train"), 0)
    renderer = Renderer(PromptSpec.make("hexagons"), engine.tokenizer, engine.context_length, MAX_TOKENS)
    plan = Plan(renderer, Sampling(max_tokens=MAX_TOKENS), pool, 5, engine.batch_size)

    def ours(items: Sequence[Any]) -> float:
        with tempfile.TemporaryDirectory() as folder:
            run = Run(Path(folder), {})
            start = time.perf_counter()
            answer_items(run, items, Prompted(plan, engine))
            run.close()
            tokens: int = sum(record["completion_tokens"] for record in run.records)
            return tokens / (time.perf_counter() - start)

    def bare(items: Sequence[Any]) -> float:
        texts = [renderer.render(item, pool.choose(item, 5)).text for item in items]
        engine.llm.reset_prefix_cache()
        params = SamplingParams(max_tokens=MAX_TOKENS, temperature=0.0)
        start = time.perf_counter()
        outputs = engine.llm.generate(texts, params, use_tqdm=False, tokenization_kwargs={"add_special_tokens": False})
        return sum(len(output.outputs[0].token_ids) for output in outputs) / (time.perf_counter() - start)

    items = (load("hexagons", "dev") * PROMPTS)[:PROMPTS]
    ours(items[:16]), bare(items[:16])
    return [(ours(part), bare(part)) for part in parts(items, PARTS)]


CLIENTS, SECONDS = 8, 4.0


def served() -> Pairs:
    """Tokens a second of streams from the shipped HEXAGONS adapter: through `harness serve`, and from vLLM's own server with the
    same model and adapter.

    Both servers run all the time; each has a GiB of KV cache, or two fifths of a GPU.
    """
    import torch

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
    share = ["--gpu-memory-utilization=0.4"] if torch.cuda.is_available() else []
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
