"""A base model and an adapter in this process, for machines where nothing else is running: slower than behind vLLM."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.corpora.item import Item
from harness.errors import HarnessError, UsageError
from harness.runs.answering import Answer
from harness.service.schema import Player


@dataclass
class Loaded:
    """An adapter with its base, asked through transformers. It is loaded with the first request and answers one at a time."""

    name: str
    adapter: str | Path
    """Its name or folder."""
    task: str
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _prompted: Any = None

    @property
    def card(self) -> Player:
        return Player(name=self.name, tasks=[self.task], kind="language model")

    def answer(self, item: Item, samples: int, constrain: str | None) -> Answer:
        """Raises UsageError for what only a server does, HarnessError if the model cannot be loaded or the prompt is too long."""
        if samples > 1 or constrain:
            raise UsageError(f"samples and constrain need a server: harness serve, and --base-url here; {self.name} has neither")
        with self._lock:
            if self._prompted is None:
                self._prompted = self._load()
            (answer,) = self._prompted.predict([item])
        if answer.error is not None:
            raise HarnessError(answer.error)
        found: Answer = answer
        return found

    def _load(self) -> Any:
        from adapters.registry import load_adapter
        from harness.engines.engine import Sampling
        from harness.engines.transformers import TransformersEngine
        from harness.runs.prompted import Plan, Prompted
        from prompts.render import Renderer
        from prompts.shots import ShotPool

        adapter = load_adapter(self.adapter, None)
        spec = adapter.spec
        engine: Any = TransformersEngine(adapter.base, adapter=adapter.path)
        longest = min(spec.written.longest, engine.context_length // 2)
        renderer = Renderer(spec, engine.tokenizer, engine.context_length, longest)
        return Prompted(Plan(renderer, Sampling(max_tokens=longest), ShotPool([], 0), 0, 1), engine)
