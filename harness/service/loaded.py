"""A base model and an adapter in this process, for machines where nothing else is running: slower than behind vLLM."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from harness.corpora.item import Item
from harness.errors import HarnessError, UsageError
from harness.prompting.shots import live_shots
from harness.runs.answering import Answer, Predictor
from harness.service.schema import Player
from harness.service.workers import Workers
from prompts.shots import Shots
from prompts.spec import PromptSpec


@dataclass
class LocalPlayer:
    """An adapter with its base, asked through transformers. It is loaded with the first request and answers one at a time."""

    name: str
    adapter: str | Path
    """Its name or folder."""
    task: str
    workers: Workers
    solved: Mapping[str, float] = field(default_factory=dict)
    """By world, the share of the everyday requests that it solves, where that is known."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _prompted: Predictor | None = None

    @property
    def card(self) -> Player:
        return Player(name=self.name, tasks=[self.task], kind="language model", solved=dict(self.solved))

    async def answer(self, item: Item, samples: int, constrain: str | None, principal: str) -> Answer:
        """Raises UsageError for what only a server does, HarnessError if the model cannot be loaded or the prompt is too long."""
        if samples > 1 or constrain:
            raise UsageError(f"samples and constrain need a server: harness serve, and --base-url here; {self.name} has neither")
        return await self.workers.in_thread(principal, partial(self._asked, item))

    def _asked(self, item: Item) -> Answer:
        with self._lock:
            if self._prompted is None:
                self._prompted = self._load()
            (answer,) = self._prompted.predict([item])
        return checked(answer)

    def _load(self) -> Predictor:
        from adapters.registry import load_adapter
        from harness.engines.transformers import TransformersEngine

        adapter = load_adapter(self.adapter, None)
        examples = adapter.trained_with.examples
        pool = live_shots(examples, adapter.spec)
        engine = TransformersEngine(adapter.base, adapter=adapter.path, **adapter.trained_with.weights)
        return prompted(adapter.spec, engine, pool, examples.shots)


def prompted(spec: PromptSpec, engine: Any, pool: Shots, shots: int, samples: int = 1, constrain: str | None = None) -> Predictor:
    """A language model as a predictor of one request at a time, with `shots` examples of the pool; several samples vote."""
    from harness.engines.engine import Sampling
    from harness.prompting.prompted import Plan, Prompted
    from prompts.render import Renderer

    longest = min(spec.written.longest, engine.context_length // 2)
    renderer = Renderer(spec, engine.tokenizer, engine.context_length, longest)
    sampling = Sampling(
        max_tokens=longest,
        temperature=0.7 if samples > 1 else 0.0,
        stop=renderer.stop if engine.tokenizer else (),
        stop_token_ids=renderer.stop_token_ids,
        constraint=renderer.constraint if constrain == "format" else None,
    )
    plan = Plan(renderer, sampling, pool, shots, 1, samples, feasible=constrain == "feasible")
    return Prompted(plan, engine)


def checked(answer: Answer) -> Answer:
    """The answer. Raises HarnessError if there is none."""
    if answer.error is not None:
        raise HarnessError(answer.error)
    return answer
