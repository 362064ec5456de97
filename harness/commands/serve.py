"""`harness serve`: a base model and its adapters behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.errors import UsageError

if TYPE_CHECKING:
    from adapters.registry import Adapter
    from harness.engines.server import Server


@click.command()
@click.option("--base", help="Hub name or local folder. [default: smollm2-135m]")
@click.option(
    "--adapter",
    "asked",
    multiple=True,
    metavar="NAME[=DIR]",
    help="A LoRA adapter, requested as NAME; DIR may be a run. Repeatable.",
)
@click.option("--no-adapters", is_flag=True, help="Serve the base alone, without the adapters that ship for it.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="The port to listen on.")
@click.option("--task-port", type=click.IntRange(1, 65535), help="The port of the task API. [default: the one after --port]")
@click.option("--no-model", is_flag=True, help="Serve the task API alone, with the parser and the baselines, without vLLM.")
@click.option("--api-key", envvar="HARNESS_API_KEY", help="Requests must carry this key. [default: HARNESS_API_KEY]")
def serve(
    base: str | None,
    asked: tuple[str, ...],
    no_adapters: bool,
    host: str,
    port: int,
    task_port: int | None,
    no_model: bool,
    api_key: str | None,
) -> None:
    """Serve a base model and its adapters over HTTP.

    \b
    harness serve
    harness serve --adapter hexagons --adapter painter=runs/my-adapter --port 8001
    harness serve --no-model

    The server speaks the OpenAI protocol. Beside it, the task API takes an instruction and a board or blocks, and gives the
    actions and what is there after them; the parser and the baselines answer there too. It runs until Ctrl-C.
    """
    from harness.engines.bases import display_name, resolve_base
    from harness.engines.server import ServedAdapter, Server, check_port, server_options
    from harness.runs.folder import RUNS

    if asked and no_adapters:
        raise UsageError("--adapter and --no-adapters: leave one of them out")
    # Exit by an exception, so that the server is stopped on the way out. Shells start background jobs with SIGINT ignored.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if no_model:
        if base or asked:
            raise UsageError("--no-model: leave out --base and --adapter")
        with _tasks({}, "", "", host, task_port or port, api_key) as alive:
            _show_tasks(host, task_port or port, api_key)
            while alive():
                time.sleep(0.5)
        return
    task_port = task_port or port + 1
    adapters = {} if no_adapters else _load(asked, base) if asked else _shipped(base)
    model = next((adapter.base for adapter in adapters.values()), None) or resolve_base(base)
    check_port(host, port)
    check_port(host, task_port)
    served = [ServedAdapter(name, adapter.path, adapter.rank) for name, adapter in adapters.items()]
    options = server_options(
        model, display_name(model), served, host, port, _template_for(model, adapters, RUNS / f"serve-{port}.jinja")
    )
    with Server(options, host, port, RUNS / f"serve-{port}.log", api_key) as server:
        names = _wait(server, display_name(model))
        click.echo(f"Serving {', '.join(names)} at {server.url} (Ctrl-C stops it; its log: {server.log})")
        if not api_key and host not in ("127.0.0.1", "localhost", "::1"):
            click.echo("Anyone who can reach this machine can use it: set a key with --api-key or HARNESS_API_KEY", err=True)
        _show_request(server, adapters, display_name(model))
        with _tasks(adapters, display_name(model), server.url, host, task_port, api_key):
            _show_tasks(host, task_port, api_key)
            server.wait()


def _tasks(
    adapters: dict[str, Adapter], base: str, url: str, host: str, port: int, key: str | None
) -> AbstractContextManager[Callable[[], bool]]:
    """The task API, with the adapters and the base of the server at `url`, if any, as players beside our own."""
    from harness.engines.server import check_port
    from harness.service.app import create_app, listening
    from harness.service.players import AnyPlayer, Served, own_players
    from prompts.spec import DEFAULTS, PromptSpec

    check_port(host, port)
    players: list[AnyPlayer] = list(own_players())
    for name, adapter in adapters.items():
        players.append(Served(name, url, name, key, {adapter.spec.task: adapter.spec}))
    if url:
        players.append(Served(base, url, base, key, {task: PromptSpec.make(task) for task in DEFAULTS}))
    return listening(create_app(players, [key] if key else []), host, port)


def _show_tasks(host: str, port: int, key: str | None) -> None:
    """Print a curl line for the task API."""
    header = '-H "Authorization: Bearer $HARNESS_API_KEY" ' if key else ""
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    click.echo(f"The task API is at {url} (its OpenAPI page: {url}/openapi.json); the parser, asked for a column:")
    body = json.dumps({"task": "hexagons", "instruction": "Paint the first column red."})
    click.echo(f"curl {url}/v1/harness/execute {header}-d '{body}'")
    sys.stdout.flush()


def _load(asked: tuple[str, ...], base: str | None) -> dict[str, Adapter]:
    """The adapters by name, in the order given; without a base, they are of the first one's.

    Raises UsageError for a name that is no adapter's or is given twice, AdapterError for one that does not fit.
    """
    from adapters.registry import load_adapter
    from harness.engines.bases import display_name
    from harness.engines.vllm import check_served

    adapters: dict[str, Adapter] = {}
    for one in asked:
        name, equals, folder = one.partition("=")
        if not name or (equals and not folder):
            raise UsageError(f"--adapter {one}: write NAME or NAME=DIR, the name that requests use and the adapter's folder")
        if name in adapters or (base and name == display_name(base)):
            raise UsageError(f"--adapter {one}: the name {name} is taken; each model needs its own")
        adapters[name] = load_adapter(folder or name, base)
        check_served(adapters[name].path)
        base = base or adapters[name].base
    return adapters


def _shipped(base: str | None) -> dict[str, Adapter]:
    """The shipped adapters that fit the base, the default one if None."""
    from adapters.registry import SHIPPED, known_adapters, load_adapter
    from harness.engines.bases import resolve_base
    from harness.errors import AdapterError

    adapters: dict[str, Adapter] = {}
    model = resolve_base(base)
    for name, folder in known_adapters().items():
        if folder.parent == SHIPPED:
            with suppress(AdapterError):
                adapters[name] = load_adapter(folder, model)
    return adapters


def _template_for(model: str, adapters: dict[str, Adapter], file: Path) -> Path | None:
    """The chat template to serve with: our plain one for a model without one, or the one that its adapters need; None for the
    model's own. If the harness changes that, the result is written to `file`.

    Raises UsageError if adapters need different ones.
    """
    from harness.engines.bases import load_tokenizer
    from harness.util.files import write_atomically
    from prompts.chat_template import answering_template, own_template
    from prompts.template import DEFAULT, get_template

    tokenizer = load_tokenizer(model)
    own, chats = own_template(tokenizer), bool(tokenizer.chat_template)
    wordings = {name: adapter.spec.wording for name, adapter in adapters.items()} or {model: get_template(DEFAULT)}
    wanted = {name: None if chats and not wording.is_plain else wording.plain for name, wording in wordings.items()}
    texts = {path and path.read_text() for path in wanted.values()}
    if len(texts) > 1:
        raise UsageError(f"the adapters {', '.join(wanted)} need different chat templates: serve them one by one")
    if (path := next(iter(wanted.values()))) or not own:
        return path
    changed = answering_template(tokenizer)
    if changed is None or changed == own:
        return None
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, changed)
    return file


def _wait(server: Server, name: str) -> list[str]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    click.echo(f"Starting vLLM with {name}; its log: {server.log}", err=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(f"waiting for {server.url}", total=None)
        return server.wait_until_ready()


def _show_request(server: Server, adapters: dict[str, Adapter], base_name: str) -> None:
    """Print a curl line that asks one item of the corpus, in the prompt format of the first adapter."""
    from harness.corpora import load
    from harness.util.files import write_atomically
    from prompts.messages import conversation
    from prompts.render import PLAIN_STOP
    from prompts.spec import PromptSpec
    from prompts.template import PLAIN

    name, adapter = next(iter(adapters.items()), (base_name, None))
    spec = adapter.spec if adapter else PromptSpec.make("hexagons")
    item = next(item for item in load(spec.task, "dev") if item.actions)
    request: dict[str, Any] = {"model": name, "messages": conversation(item, spec), "max_tokens": 256, "temperature": 0}
    if any(Path(option).name == PLAIN for option in server.options):
        request["stop"] = list(PLAIN_STOP)
    body = server.log.with_suffix(".json").absolute()
    write_atomically(body, json.dumps(request, indent=1) + "\n")
    key = '-H "Authorization: Bearer $HARNESS_API_KEY" ' if server.api_key else ""
    click.echo(f"To ask it the dev item {item.id}{' (with the key in HARNESS_API_KEY)' if key else ''}:")
    click.echo(f"curl {server.url}/chat/completions {key}-H 'Content-Type: application/json' -d @{shlex.quote(str(body))}")
