"""Who answers requests: the parser, the baselines that ship, and language models behind an endpoint or in this process."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anyio import Lock
from anyio.to_thread import run_sync

from harness.baselines import BASELINES, Ruled
from harness.corpora.item import Item
from harness.engines.engine import Sampling
from harness.errors import HarnessError, UsageError
from harness.prompting.examples import live_shots
from harness.prompting.prompted import Plan, Prompted
from harness.runs.answering import Answer
from harness.service.schema import Player
from harness.service.workers import Unavailable, Workers
from harness.training.checkpoints import default_model
from harness.training.trainable import Trainable
from harness.util.registry import resolve
from prompts.render import THOUGHT_TOKENS, Renderer
from prompts.shots import ShotChoice, Shots
from prompts.spec import DEFAULTS, PromptSpec

if TYPE_CHECKING:
    from adapters.registry import Adapter


@dataclass
class BaselinePlayer:
    """The parser or a baseline, which answers in the processes of `workers`."""

    name: str
    baseline: Trainable[Any] | Ruled
    workers: Workers

    @property
    def card(self) -> Player:
        kind: Literal["parser", "baseline"] = "parser" if self.name == "parser" else "baseline"
        return Player(name=self.name, tasks=list(self.baseline.tasks), kind=kind)

    async def answer(self, item: Item, principal: str) -> Answer:
        """Raises UsageError for an answer over budget, Unavailable if all workers are busy."""
        return await self.workers.answer(principal, self.name, type(self.baseline), item)


@dataclass
class EndpointPlayer:
    """A language model behind an endpoint, asked in one prompt format for each task."""

    name: str
    """The endpoint's name for it."""
    url: str
    specs: Mapping[str, PromptSpec]
    """The prompt format in which it is asked, by task."""
    examples: ShotChoice = field(default_factory=lambda: ShotChoice(0))
    """How the examples in front of every request are chosen."""
    socket: Path | None = None
    """The Unix socket that the endpoint listens at, if it is on this machine."""
    up: Callable[[], bool] = lambda: True
    """Whether the endpoint is running."""
    _context_length: int | None = None
    """What the endpoint says when it is first asked."""
    _pools: dict[str, Shots] = field(default_factory=dict)
    """What the examples are chosen from, by task."""

    @property
    def card(self) -> Player:
        return Player(name=self.name, tasks=list(self.specs), kind="language model")

    async def answer(self, item: Item, principal: str) -> Answer:
        """Raises EngineError if the endpoint does not answer, Unavailable if it is not running. If this is cancelled, so are its
        requests to the endpoint."""
        from harness.engines.openai.engine import OpenAIEngine

        if not self.up():
            raise Unavailable(f"{self.name} is not available now: ask again later")
        # Each request has an engine of its own, since an engine counts its failures and gives up.
        engine = OpenAIEngine(self.url, self.name, socket=self.socket, context_length=self._context_length, strict=False)
        try:
            self._context_length = await engine.find_context_length()
            asked = await run_sync(self._prompted, engine, item.task)
            return checked(await asked.ask(item))
        finally:
            await engine.aclose()

    def _prompted(self, engine: Any, task: str) -> Prompted:
        if (pool := self._pools.get(task)) is None:
            pool = self._pools[task] = live_shots(self.examples, self.specs[task])
        return prompted(self.specs[task], engine, pool, self.examples.shots)


@dataclass
class LocalPlayer:
    """An adapter with its base in this process, asked through transformers: for machines without a server, slower than vLLM.
    It is loaded at the first request and answers one request at a time."""

    name: str
    adapter: str | Path
    """Its name or folder."""
    tasks: tuple[str, ...]
    """The tasks that it was trained on."""
    _lock: Lock = field(default_factory=Lock)
    _engine: Any = None
    _prompted: dict[str, Prompted] = field(default_factory=dict)

    @property
    def card(self) -> Player:
        return Player(name=self.name, tasks=list(self.tasks), kind="language model")

    async def answer(self, item: Item, principal: str) -> Answer:
        """Raises HarnessError if loading fails or the prompt is too long."""
        async with self._lock:
            # A thread cannot be cancelled, so the next request begins when this one has really ended.
            return checked(await run_sync(self._asked, item))

    def _asked(self, item: Item) -> Answer:
        if item.task not in self._prompted:
            self._prompted[item.task] = self._load(item.task)
        (answer,) = self._prompted[item.task].predict([item])
        return answer

    def _load(self, task: str) -> Prompted:
        from adapters.registry import load_adapter
        from harness.engines.transformers import TransformersEngine

        adapter = load_adapter(self.adapter, None)
        examples, spec = adapter.trained_with.examples, adapter.specs[task]
        if self._engine is None:
            self._engine = TransformersEngine(adapter.base, adapter=adapter.path, **adapter.trained_with.weights)
        return prompted(spec, self._engine, live_shots(examples, spec), examples.shots)


def prompted(spec: PromptSpec, engine: Any, pool: Shots, shots: int) -> Prompted:
    """A language model as a predictor of one request at a time, with `shots` examples from the pool."""
    longest = min(spec.format.longest, engine.context_length // 2)
    renderer = Renderer(spec, engine.tokenizer, engine.context_length, longest, min(THOUGHT_TOKENS, engine.context_length // 4))
    sampling = Sampling(
        max_tokens=longest,
        stop=renderer.stop if engine.tokenizer else (),
        stop_token_ids=renderer.stop_token_ids,
    )
    return Prompted(Plan(renderer, sampling, pool, shots, 1), engine)


def checked(answer: Answer) -> Answer:
    """The answer. Raises UsageError if there is none because the request makes too long a prompt, HarnessError if the model gave
    none."""
    if answer.error is not None:
        raise UsageError(answer.error) if answer.prompt is None else HarnessError(answer.error)
    return answer


AnyPlayer = BaselinePlayer | EndpointPlayer | LocalPlayer


def endpoint_players(url: str, adapters: "Mapping[str, Adapter]", models: Iterable[str], **where: Any) -> list[AnyPlayer]:
    """The adapters that an endpoint serves, each asked as it was trained, and its other models, asked in the default prompt
    format of each task. `where` are the socket of the endpoint, and whether it is up."""
    asked: dict[str, tuple[Mapping[str, PromptSpec], ShotChoice]] = {
        name: (one.specs, one.trained_with.examples) for name, one in adapters.items()
    }
    plain = {task: PromptSpec.make(task) for task in DEFAULTS}
    asked |= {name: (plain, ShotChoice(0)) for name in models}
    return [EndpointPlayer(name, url, *how, **where) for name, how in asked.items()]


def ranked(players: Iterable[AnyPlayer]) -> list[AnyPlayer]:
    """The players with the default one first: adapters, which know the fewest tasks, other models, the parser, baselines."""
    kinds = ("language model", "parser", "baseline")
    return sorted(players, key=lambda player: (kinds.index(player.card.kind), len(player.card.tasks)))


def own_players(workers: Workers) -> Iterable[BaselinePlayer]:
    """The parser, and the baselines whose checkpoints are on this machine."""
    for name in BASELINES:
        baseline: Trainable[Any] | Ruled = resolve("baseline", name, BASELINES)()
        if not isinstance(baseline, Ruled):
            try:
                default_model(name, baseline.tasks[0])
            except UsageError:
                continue
        yield BaselinePlayer(name, baseline, workers)
