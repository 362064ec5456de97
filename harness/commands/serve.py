"""`harness serve`: a base model and its adapters behind an OpenAI-compatible endpoint, and the task API."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError
from harness.tasks.registry import DEFAULT_TASK, world_of
from harness.util.extras import require
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from adapters.registry import Adapter
    from harness.service.keys import Keys
    from harness.service.workers import Workers


_ASKED = {"hexagons": "Paint the first column red.", "minecraft": "Place a red block on the ground."}
"""What the printed request of the task API asks for, by world."""


class Serve(Strict):
    base: str | None = option(None, "Hub name or local folder. [default: smollm2-135m]")
    adapters: tuple[str, ...] = option((), names=("--adapter",), metavar="NAME[=DIR]")
    """A LoRA adapter, requested as NAME, instead of the shipped ones; DIR may be a run. Repeatable."""
    host: str = option("127.0.0.1", "The address to listen on.")
    port: int = option(8000, "The port to listen on.", ge=1, le=65535)
    no_model: bool = option(False, "Serve only the task API, with the parser and the baselines, without vLLM.")
    key_file: Path | None = option(names=("--api-keys",), metavar="FILE")
    """A file with a key on each line, in addition to HARNESS_API_KEY. It must have mode 600."""
    requests_per_minute: int | None = option(None, "Limit for each key. [default: none]", ge=1)
    max_in_flight: int = option(
        512, "At most N requests at a time; more are refused (429). Half of the places are divided among the keys.", ge=1
    )
    max_body: float = option(10, "The most megabytes of a request; larger ones are refused (413).", gt=0)
    answer_timeout: float = option(600, "Seconds to wait for an answer, or for the next piece of a stream.", gt=0)
    workers: int | None = option(None, "Processes for the parser and the baselines. [default: one per core, 2 to 8]", ge=1)
    drain_timeout: float = option(30, "Seconds that requests in flight have to finish after SIGTERM.", gt=0)
    allowed: tuple[str, ...] = option((), names=("--allow-field",), metavar="NAME")
    """Pass this field of a request on to vLLM unchecked, in addition to the known ones, which are checked. Repeatable."""
    words: tuple[str, ...] = argument((), type=click.UNPROCESSED, metavar="[-- VLLM OPTIONS]")


@click.command(cls=ModelCommand, model=Serve)
def serve(options: Serve) -> None:
    """Serve a base model and its adapters over HTTP.

    \b
    harness serve
    harness serve --adapter hexagons --adapter painter=runs/my-adapter --port 8001
    harness serve --base Qwen/Qwen3-32B -- --tensor-parallel-size 2 --max-num-seqs 512
    harness serve --no-model

    The server speaks the OpenAI protocol. On the same port, the task API takes an instruction and a board or a structure, and
    returns the actions and the state after them; it also serves the parser and the baselines. The server runs until Ctrl-C; on
    SIGTERM it finishes the requests in flight and exits with code 143.
    """
    from harness.engines.vllm.server import check_port, end_by_exceptions
    from harness.service.keys import Keys, server_keys
    from harness.service.workers import AnswerBudget, Workers

    end_by_exceptions()
    if not options.no_model:
        require("vllm")
    if options.no_model and (options.base or options.adapters or options.allowed or options.words):
        raise UsageError("--no-model: leave out --base, --adapter, --allow-field and vLLM's options")
    keys = Keys(server_keys(options.host, options.key_file))
    if options.max_in_flight < len(keys):
        raise UsageError(f"--max-in-flight {options.max_in_flight}: there are {len(keys)} keys, and each needs a place")
    workers = Workers(AnswerBudget(workers=options.workers) if options.workers else AnswerBudget(), len(keys))
    check_port(options.host, options.port)
    if options.no_model:
        _serve_tasks(options, keys, workers)
    else:
        _serve_model(options, keys, workers)


def _serve_tasks(options: Serve, keys: Keys, workers: Workers) -> None:
    """Serve the task API without a model until a signal arrives."""
    from harness.service.app import create_app
    from harness.service.players import own_players

    with workers, _listening(create_app(own_players(workers)), options, keys) as alive:
        _show_tasks(options, keys)
        while alive():
            time.sleep(0.5)


def _serve_model(options: Serve, keys: Keys, workers: Workers) -> None:
    """Serve a model until a signal arrives or vLLM has ended too often (EngineError). Requests are answered from the moment the
    port is open; the supervisor starts vLLM and keeps it running."""
    from harness.engines.models.bases import display_name, resolve_base
    from harness.engines.vllm.server import VLLM_URL, private_folder
    from harness.prompting.adapter import examples_note
    from harness.runs.folder import RUNS
    from harness.service.app import create_app
    from harness.service.players import endpoint_players, own_players
    from harness.service.proxy import ReverseProxy
    from harness.service.serving import ServedModel
    from harness.service.supervisor import Supervisor

    adapters = _load(options.adapters, options.base) or _shipped(options.base)
    base = next((adapter.base for adapter in adapters.values()), None) or resolve_base(options.base)
    say = partial(click.echo, err=True)
    for note in filter(None, (examples_note(name, adapter) for name, adapter in adapters.items())):
        say(f"Note: {note}")
    with private_folder() as folder, workers:
        model = ServedModel(base, adapters, options.words, folder, RUNS / f"serve-{options.port}.log")
        supervisor = Supervisor(model.server, say)
        names, up = [display_name(base)], lambda: supervisor.state == "up"
        asked = endpoint_players(f"{VLLM_URL}/v1", adapters, names, socket=model.socket, up=up)
        app = create_app([*own_players(workers), *asked])
        front = ReverseProxy(app, supervisor, model.socket, options.answer_timeout, options.allowed)
        with supervisor, _listening(front, options, keys):
            say(f"Starting vLLM; its log: {model.log}")
            supervisor.begin()
            served = ", ".join([*names, *adapters])
            click.echo(f"Serving {served} at {_url(options)}/v1 (Ctrl-C stops it; vLLM's log: {model.log})")
            _show_tasks(options, keys, next((adapter.spec.task for adapter in adapters.values()), DEFAULT_TASK))
            supervisor.watch()


def _listening(app: ASGIApp, options: Serve, keys: Keys) -> AbstractContextManager[Callable[[], bool]]:
    """The application behind its guard, at the port. Raises EngineError if the port is taken."""
    from harness.service.app import listening
    from harness.service.guard import Bounds, Guard

    bounds = Bounds(options.max_in_flight, int(options.max_body * 1_000_000), requests=options.requests_per_minute)
    return listening(Guard(app, keys, bounds), options.host, options.port, drain=options.drain_timeout)


def _url(options: Serve) -> str:
    """Where a client on this machine reaches the server."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(options.host, options.host)
    return f"http://[{host}]:{options.port}" if ":" in host else f"http://{host}:{options.port}"


def _show_tasks(options: Serve, keys: Keys, task: str = DEFAULT_TASK) -> None:
    """Print a curl line that asks the task API for something in the world of a task."""
    url = _url(options)
    click.echo(f"The task API is at {url} (its OpenAPI page: {url}/openapi.json); to ask it:")
    body = json.dumps({"task": task, "instruction": _ASKED[world_of(task)]})
    click.echo(f"curl {url}/v1/harness/execute {_key_header(keys)}-H 'Content-Type: application/json' -d '{body}'")
    sys.stdout.flush()


def _key_header(keys: Keys) -> str:
    return '-H "Authorization: Bearer $HARNESS_API_KEY" ' if keys else ""


def _load(names: tuple[str, ...], base: str | None) -> dict[str, Adapter]:
    """The adapters by name, in the order given; if `base` is None, all must fit the first adapter's base.

    Raises UsageError for a name that no adapter has or that is given twice, AdapterError for an adapter that does not fit.
    """
    from adapters.registry import load_adapter, named_adapters
    from harness.engines.models.bases import display_name
    from harness.engines.vllm.engine import check_served

    adapters: dict[str, Adapter] = {}
    for name, folder in named_adapters(names).items():
        if base and name == display_name(base):
            raise UsageError(f"--adapter {name}: the name {name} is taken by the base; each model needs its own")
        adapters[name] = load_adapter(folder, base)
        check_served(adapters[name].path)
        base = base or adapters[name].base
    return adapters


def _shipped(base: str | None) -> dict[str, Adapter]:
    """The shipped adapters that fit the base; None stands for the default base."""
    from adapters.registry import load_adapter, shipped_adapters
    from harness.engines.models.bases import resolve_base
    from harness.errors import AdapterError

    adapters: dict[str, Adapter] = {}
    model = resolve_base(base)
    for name, folder in shipped_adapters().items():
        with suppress(AdapterError):
            adapters[name] = load_adapter(folder, model)
    return adapters
