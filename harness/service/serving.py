"""All of `harness serve` put together: vLLM and its supervisor, its adapters, the task API, and the one port in front of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from adapters.registry import Adapter, known_adapters
from harness.engines.models.bases import display_name
from harness.engines.vllm.engine import max_lora_rank
from harness.engines.vllm.options import serve_options
from harness.engines.vllm.server import LoraCapacity, Server, check_port, private_folder, server_options
from harness.errors import UsageError
from harness.runs.folder import RUNS
from harness.service.adapters import Adapters, Backend, adapter_routes, ranks, served_ends, served_template
from harness.service.app import create_app, listening
from harness.service.guard import Bounds, Guard
from harness.service.keys import Key, Keys
from harness.service.players import AnyPlayer, own_players
from harness.service.proxy import Address, ReverseProxy
from harness.service.supervisor import Supervisor
from harness.service.workers import AnswerBudget, Workers
from harness.util.files import write_atomically


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
    """The model to serve, and its adapters."""

    base: str
    adapters: Mapping[str, Adapter]
    hot: bool
    """Whether adapters may be loaded and unloaded while it runs."""
    folder: Path | None = None
    """Where more adapters are, in addition to the shipped ones and those of runs."""
    words: Sequence[str] = ()
    """Options of `vllm serve`, in addition to our flags."""


class Serving:
    """A server of a model. `begin` starts vLLM, `watch` keeps it running; requests are answered from the moment its port is open.

    vLLM's sockets are in `folder`, which no other user may enter, because vLLM guards only some of its paths with a key.
    """

    def __init__(
        self, model: ServedModel, config: ServeConfig, folder: Path, workers: Workers, say: Callable[[str], None]
    ) -> None:
        self._model, self._socket = model, folder / "vllm.sock"
        self.log = RUNS / f"serve-{config.port}.log"
        self._given = serve_options(model.words)
        self.hot = self._hot()
        self._template, plain, chats = served_template(model.base, model.adapters, RUNS / f"serve-{config.port}.jinja")
        self.plain = plain is not None
        ends = None if self.plain else served_ends(model.base)
        self._generation_config = folder if ends else None
        if ends:
            write_atomically(folder / "generation_config.json", json.dumps({"eos_token_id": ends}) + "\n")
        self._rank = self._highest()
        self.supervisor = Supervisor(self._make, say)
        backend = Backend(
            base=model.base,
            name=display_name(model.base),
            socket=self._socket,
            rank=self._rank,
            plain=plain,
            chats=chats,
            up=lambda: self.supervisor.state == "up",
        )
        players: dict[str, AnyPlayer] = {player.name: player for player in own_players(workers)}
        fixed = None if self.hot else "this server loads no adapters while it runs"
        self.adapters = Adapters(backend, model.adapters, players, model.folder, fixed)
        app = create_app(players)
        app.include_router(adapter_routes(self.adapters))
        address = Address(self._socket, config.answer_seconds)
        proxy = ReverseProxy(app, self.supervisor, address, self.adapters.served, self.adapters.listed, config.fields)
        self.guard = Guard(proxy, Keys(config.keys), config.bounds)

    def _make(self, again: bool) -> Server:
        options = server_options(
            self._model.base,
            display_name(self._model.base),
            self.adapters.modules(),
            self._socket,
            self._template,
            LoraCapacity(self._rank, 2) if self.hot else None,
            self._given,
            self._generation_config,
        )
        return Server([*options, *self._model.words], self._socket, self.log, self.hot, again)

    def _hot(self) -> bool:
        """Whether adapters can be loaded while the server runs. Raises UsageError if they must be, and vLLM cannot load them."""
        # Counted as vLLM itself counts them.
        servers = self._given.get("api_server_count") or self._given.get("data_parallel_size", 1)
        if self._model.folder and servers > 1:
            raise UsageError("--adapters: vLLM loads adapters with one API server only: add --api-server-count 1 after `--`")
        return self._model.hot and servers == 1

    def _highest(self) -> int:
        """The highest LoRA rank that the server takes."""
        if (given := self._given.get("max_lora_rank")) is not None:
            return int(given)
        own = self._model.folder
        folders = [*own.glob("*"), *own.glob("*/adapter")] if own else []
        fitting = ranks(self._model.adapters, [*folders, *known_adapters().values()] if self.hot else [])
        return max_lora_rank(min(fitting, 512))


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
