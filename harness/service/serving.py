"""All of `harness serve` put together: vLLM, its supervisor and models, the task API, and the one port in front of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from adapters.registry import Adapter
from harness.engines.models.bases import display_name, load_tokenizer
from harness.engines.vllm.options import serve_options
from harness.engines.vllm.server import VLLM_URL, ServedAdapter, Server, check_port, private_folder, server_options
from harness.errors import UsageError
from harness.runs.folder import RUNS
from harness.service.app import create_app, listening
from harness.service.guard import Bounds, Guard
from harness.service.keys import Key, Keys
from harness.service.players import AnyPlayer, EndpointPlayer, own_players
from harness.service.proxy import ReverseProxy
from harness.service.supervisor import Supervisor
from harness.service.workers import AnswerBudget, Workers
from harness.util.files import write_atomically
from prompts.shots import ShotChoice
from prompts.spec import DEFAULTS, PromptSpec
from prompts.template import DEFAULT, Template, get_template


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """Where the server listens, whom it answers and how much it takes on."""

    host: str
    port: int
    keys: Sequence[Key]
    bounds: Bounds
    answer_seconds: float = 600.0
    """How long an answer, or the next piece of one, may take."""
    budget: AnswerBudget = field(default_factory=AnswerBudget)
    """What an answer of the parser or a baseline may take."""
    drain_seconds: float = 30.0
    """How long requests in flight have after SIGTERM."""
    fields: Sequence[str] = ()
    """Fields of a request that are passed on to vLLM, in addition to those that are known and checked."""

    @property
    def url(self) -> str:
        """Where a client on this machine reaches the server."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The model to serve, and its adapters by name."""

    base: str
    adapters: Mapping[str, Adapter]
    words: Sequence[str] = ()
    """Options of `vllm serve`, in addition to our flags."""

    def players(self, socket: Path, up: Callable[[], bool]) -> list[AnyPlayer]:
        """The adapters, each asked as it was trained, and the base, asked in the default prompt format of each task."""

        def behind(name: str, specs: Mapping[str, PromptSpec], examples: ShotChoice) -> EndpointPlayer:
            return EndpointPlayer(name, f"{VLLM_URL}/v1", name, specs, examples, socket=socket, up=up)

        adapted = [behind(name, {one.spec.task: one.spec}, one.trained_with.examples) for name, one in self.adapters.items()]
        plain = {task: PromptSpec.make(task) for task in DEFAULTS}
        return [*adapted, behind(display_name(self.base), plain, ShotChoice(0))]


class Serving:
    """A server of a model. Its `supervisor` starts vLLM and keeps it running; requests are answered from the moment its port is
    open.

    vLLM's sockets are in `folder`, which no other user may enter, because vLLM guards only some of its paths with a key.
    """

    def __init__(
        self, model: ServedModel, config: ServeConfig, folder: Path, workers: Workers, say: Callable[[str], None]
    ) -> None:
        self.model, self._socket = model, folder / "vllm.sock"
        self.log = RUNS / f"serve-{config.port}.log"
        self._given = serve_options(model.words)
        self._template, self.plain = served_template(model.base, model.adapters, RUNS / f"serve-{config.port}.jinja")
        ends = None if self.plain else served_ends(model.base)
        self._generation_config = folder if ends else None
        if ends:
            write_atomically(folder / "generation_config.json", json.dumps({"eos_token_id": ends}) + "\n")
        self.supervisor = Supervisor(self._make, say)
        app = create_app([*own_players(workers), *model.players(self._socket, lambda: self.supervisor.state == "up")])
        proxy = ReverseProxy(app, self.supervisor, self._socket, config.answer_seconds, config.fields)
        self.guard = Guard(proxy, Keys(config.keys), config.bounds)

    def _make(self, again: bool) -> Server:
        adapters = [ServedAdapter(name, one.path, one.rank) for name, one in self.model.adapters.items()]
        options = server_options(
            self.model.base,
            display_name(self.model.base),
            adapters,
            self._socket,
            self._template,
            self._given,
            self._generation_config,
        )
        return Server([*options, *self.model.words], self._socket, self.log, again)


def serve_tasks(config: ServeConfig, ready: Callable[[], None]) -> None:
    """Serve the task API without a model until a signal arrives; `ready` is called when the port is open."""
    with Workers(config.budget, len(config.keys)) as workers:
        guard = Guard(create_app(own_players(workers)), Keys(config.keys), config.bounds)
        check_port(config.host, config.port)
        with listening(guard, config.host, config.port, drain=config.drain_seconds) as alive:
            ready()
            while alive():
                time.sleep(0.5)


def serve_model(model: ServedModel, config: ServeConfig, say: Callable[[str], None], begin: Callable[[Serving], None]) -> None:
    """Serve a model until a signal arrives or vLLM has ended too often (EngineError).

    `begin` is called when the port is open, and must begin the supervisor.
    """
    with private_folder() as folder, Workers(config.budget, len(config.keys)) as workers:
        serving = Serving(model, config, folder, workers, say)
        check_port(config.host, config.port)
        listen = listening(serving.guard, config.host, config.port, drain=config.drain_seconds)
        with serving.supervisor as supervisor, listen:
            begin(serving)
            supervisor.watch()


def served_template(model: str, adapters: Mapping[str, Adapter], file: Path) -> tuple[Path | None, bool]:
    """The chat template to serve with, and whether it is one of plain text.

    Models without a template and adapters that were trained on plain text get one of plain text; None stands for the model's
    own. If the harness changes the model's own, the result is written to `file`. Raises UsageError if adapters need different
    templates, or one of plain text that is not ours, EngineError for a template of the model's own that leaves out a message.
    """
    from prompts.chat_template import answering_template, check_chat_template, own_template

    tokenizer = load_tokenizer(model)
    own, chats = own_template(tokenizer), bool(tokenizer.chat_template)

    def wanted(wording: Template) -> Path | None:
        return None if chats and not wording.is_plain else wording.served

    plain = {name: wanted(one.spec.template) for name, one in adapters.items()} or {model: wanted(get_template(DEFAULT))}
    if len({path and path.read_text() for path in plain.values()}) > 1:
        raise UsageError(f"the adapters {', '.join(plain)} need different chat templates: serve them one by one")
    if (path := next(iter(plain.values()))) or not own:
        return path, path is not None
    check_chat_template(tokenizer)
    changed = answering_template(tokenizer)
    if changed is None or changed == own:
        return None, False
    write_atomically(file, changed)
    return file, False


def served_ends(model: str) -> list[int] | None:
    """All tokens that end an answer, if the chat template ends turns with one that neither the tokenizer nor the model's
    generation_config.json names; None otherwise."""
    from transformers import GenerationConfig

    from prompts.chat_template import stop_token_ids

    tokenizer = load_tokenizer(model)
    try:
        named = GenerationConfig.from_pretrained(model).eos_token_id
    except OSError:
        named = None
    known = {*(named if isinstance(named, list) else [named]), tokenizer.eos_token_id} - {None}
    ends = {*stop_token_ids(tokenizer)} - known
    return sorted(known | ends) if ends else None
