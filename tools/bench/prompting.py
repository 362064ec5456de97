"""The run loop against bare vLLM in the same process."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.corpora import load
from tools.bench.measuring import Pairs, gpus, parts, small_model

PROMPTS, PARTS = 1000, 5
MAX_TOKENS = 16


def loop() -> Pairs:
    """The run loop (render, generate, parse, write) and `vllm.LLM.generate` on the same prompts, in tokens a second: HEXAGONS dev
    items with five examples, part by part in turn, after a few uncounted ones.

    They are decoded greedily, by the default base on a GPU, otherwise by a model so small that the loop's own time shows.
    """
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
    if not gpus():
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
