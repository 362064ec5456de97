"""Who answers requests: the parser, the baselines that ship, and language models behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.baselines import BASELINES, Baseline, Ruled
from harness.corpora.item import Item
from harness.errors import HarnessError, UsageError
from harness.runs.answering import Answer, Predictor
from harness.service.loaded import Loaded, prompted, told
from harness.service.schema import Player
from harness.training.checkpoints import default_model
from harness.util.registry import resolve
from prompts.spec import PromptSpec


class Unavailable(HarnessError):
    """Who is asked is not there now, and may be again."""


MOST_ANSWERS = 2_000
"""Answers after which the parser begins anew: it remembers every procedure that it has read."""


@dataclass
class Own:
    """A model in this process. It answers one request at a time; it is loaded with the first one."""

    name: str
    baseline: Baseline | Ruled
    _predictors: dict[str, Predictor] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _answered: int = 0

    @property
    def card(self) -> Player:
        kind: Literal["parser", "baseline"] = "parser" if self.name.startswith("parser") else "baseline"
        return Player(name=self.name, tasks=list(self.baseline.tasks), kind=kind)

    def answer(self, item: Item, samples: int, constrain: str | None) -> Answer:
        """Raises UsageError for what only language models do."""
        if samples > 1 or constrain:
            raise UsageError(f"samples and constrain are for language models; {self.name} has neither")
        with self._lock:
            self._answered += 1
            if self._answered % MOST_ANSWERS == 0:
                self._predictors.clear()
            if item.task not in self._predictors:
                self._predictors[item.task] = self._load(item.task)
            (answer,) = self._predictors[item.task].predict([item])
            return answer

    def _load(self, task: str) -> Predictor:
        if not isinstance(self.baseline, Ruled):
            return self.baseline.load(default_model(self.name, task))
        # Each class keeps what it has read: begin with a new one.
        kind: Callable[[], Ruled] = type(self.baseline)
        return kind().predictor(task)


@dataclass
class Served:
    """A language model behind an endpoint, asked in one prompt format."""

    name: str
    url: str
    model: str
    """The name that the endpoint knows it by."""
    specs: Mapping[str, PromptSpec]
    """By task, the prompt format in which it is asked."""
    key: str | None = None
    """The key that the endpoint needs."""
    socket: Path | None = None
    """The Unix socket that the endpoint listens at, if it is one of this machine's."""
    up: Callable[[], bool] = lambda: True
    """Whether the endpoint is there."""
    _context_length: int | None = None
    """As the endpoint says when it is first asked."""

    @property
    def card(self) -> Player:
        return Player(name=self.name, tasks=list(self.specs), kind="language model")

    def answer(self, item: Item, samples: int, constrain: str | None) -> Answer:
        """Raises EngineError if the endpoint does not answer, Unavailable if it is known not to be there."""
        from harness.engines.openai import OpenAIEngine

        if not self.up():
            raise Unavailable(f"{self.name} is not there now: ask again later")
        # Of its own for each request: an engine answers one thread.
        engine: Any = OpenAIEngine(
            self.url, self.model, api_key=self.key, socket=self.socket, context_length=self._context_length
        )
        with closing(engine):
            self._context_length = engine.context_length
            (answer,) = prompted(self.specs[item.task], engine, samples, constrain).predict([item])
        return told(answer)


AnyPlayer = Own | Served | Loaded


def own_players() -> Iterable[Own]:
    """The parser first, then the baselines whose checkpoints are here."""
    for name in sorted(BASELINES, key=lambda name: name != "parser"):
        baseline: Baseline | Ruled = resolve("baseline", name, BASELINES)()
        if not isinstance(baseline, Ruled):
            try:
                default_model(name, baseline.tasks[0])
            except UsageError:
                continue
        yield Own(name, baseline)
