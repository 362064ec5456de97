"""The run loop and vLLM's prefix cache, against bare vLLM in the same process."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from harness.corpora import load
from tools.bench.measuring import Pairs, RatioBenchmark, gpus, parts, small_model

PROMPTS, PARTS = 1000, 5
MAX_TOKENS = 16


class Prompting:
    """Prompts of HEXAGONS dev items with five examples, decoded greedily: by the default base on a GPU, otherwise by a model so
    small that the loop's own time shows."""

    def __init__(self) -> None:
        from harness.engines.engine import Sampling
        from harness.engines.models.bases import load_tokenizer, resolve_base
        from harness.engines.vllm.engine import VllmEngine
        from prompts.render import Renderer
        from prompts.shots import ShotPool
        from prompts.spec import PromptSpec

        base = resolve_base(None)
        if not gpus():
            tokenizer, base = load_tokenizer(base), tempfile.mkdtemp(prefix="harness-")
            small_model(base, len(tokenizer))
            tokenizer.save_pretrained(base)
        self.engine = VllmEngine(base)
        self.sampling = Sampling(max_tokens=MAX_TOKENS)
        self.pool = ShotPool(load("hexagons", "train"), 0)
        self.renderer = Renderer(PromptSpec.make("hexagons"), self.engine.tokenizer, self.engine.context_length, MAX_TOKENS)

    def loop_rate(self, items: Sequence[Any]) -> float:
        """Tokens a second of the whole run loop: render, generate, parse, write."""
        from harness.prompting.prompted import Plan, Prompted
        from harness.runs.answering import answer_items
        from harness.runs.folder import Run

        plan = Plan(self.renderer, self.sampling, self.pool, 5, self.engine.batch_size)
        with tempfile.TemporaryDirectory() as folder:
            run = Run(Path(folder), {})
            start = time.perf_counter()
            answer_items(run, items, Prompted(plan, self.engine))
            run.close()
            tokens: int = sum(record["completion_tokens"] for record in run.records)
            return tokens / (time.perf_counter() - start)

    def bare_rate(self, items: Sequence[Any], *, cached: bool = True) -> float:
        """Tokens a second of plain vllm.LLM.generate on the same prompts, with or without its prefix cache."""
        from vllm import SamplingParams

        texts = [self.renderer.render(item, self.pool.choose(item, 5)).text for item in items]
        self.engine.llm.reset_prefix_cache()
        params = SamplingParams(max_tokens=MAX_TOKENS, temperature=0.0, skip_reading_prefix_cache=not cached)
        start = time.perf_counter()
        outputs = self.engine.llm.generate(texts, params, use_tqdm=False, tokenization_kwargs={"add_special_tokens": False})
        return sum(len(output.outputs[0].token_ids) for output in outputs) / (time.perf_counter() - start)


@cache
def _prompting() -> Prompting:
    return Prompting()


def loop() -> Pairs:
    """The run loop and bare vLLM, each over 1,000 prompts: part by part in turn, after a few uncounted prompts."""
    prompting = _prompting()
    items = (load("hexagons", "dev") * PROMPTS)[:PROMPTS]
    prompting.loop_rate(items[:16]), prompting.bare_rate(items[:16])
    return [(prompting.loop_rate(part), prompting.bare_rate(part)) for part in parts(items, PARTS)]


def prefix_cache() -> Pairs:
    """Prompts with the same examples, with the prefix cache and without it."""
    prompting, items = _prompting(), load("hexagons", "dev")[:100]
    return [(prompting.bare_rate(part), prompting.bare_rate(part, cached=False)) for part in parts(items, PARTS)]


BENCHMARKS = [
    RatioBenchmark("loop: `harness prompt` / bare vLLM, 1,000 prompts", "tokens/s", 0.95, loop),
    RatioBenchmark("loop: prefix cache / none, the same examples", "tokens/s", 1.5, prefix_cache),
]
