"""`harness app`: the web page for both worlds, with every model as a player."""

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError
from harness.util.options import ModelCommand, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from harness.service.players import AnyPlayer


class App(Strict):
    port: int = option(8010, "The port to listen on.", ge=1, le=65535)
    folder: Path = option(Path("runs/app"), "Keeps games.")
    base_url: str | None = option(metavar="URL")
    """An OpenAI-compatible endpoint, such as harness serve, whose models play too."""
    models: tuple[str, ...] = option((), "A model of the endpoint. Repeatable. [default: all that it lists]", names=("--model",))
    adapters: tuple[str, ...] = option((), names=("--adapter",), metavar="NAME[=DIR]")
    """An adapter that the endpoint serves or, without --base-url, that is loaded here. Repeatable. [default: the shipped ones]"""
    no_models: bool = option(False, "Offer no language models, only the parser and the baselines.")


@click.command(cls=ModelCommand, model=App)
def app(options: App) -> None:
    """Open a web page on this machine to draw, play, look at the corpora and build with a model.

    \b
    harness app
    harness app --adapter painter=runs/my-adapter
    harness app --base-url http://127.0.0.1:8000/v1 --adapter hexagons

    The parser and the baselines can play at once. Adapters are loaded into this process when they are first asked; with
    --base-url the endpoint is asked instead, with the key in HARNESS_API_KEY or OPENAI_API_KEY. The page and the task API beside
    it can be reached from this machine only, and with the token in the printed address. The server runs until Ctrl-C.
    """
    from harness.engines.vllm.server import check_port, end_by_exceptions
    from harness.page.routes import add_page
    from harness.service.app import create_app, listening
    from harness.service.players import own_players
    from harness.service.workers import Workers

    url, models, adapters = options.base_url, options.models, options.adapters
    if options.no_models and (url or models or adapters):
        raise UsageError("--no-models: leave out --base-url, --model and --adapter")
    if models and not url:
        raise UsageError("--model needs --base-url, the endpoint that serves it: add it, or leave --model out")
    check_port("127.0.0.1", options.port)
    notes: list[str] = []
    end_by_exceptions()
    with Workers() as workers:
        players: list[AnyPlayer] = [*own_players(workers)]
        if not options.no_models:
            players += _served(url, models, adapters, notes) if url else _loaded(adapters, notes)
        api = create_app(players)
        with closing(add_page(api, players, options.folder, notes)) as store, listening(api, "127.0.0.1", options.port) as alive:
            for note in notes:
                click.echo(f"Note: {note}", err=True)
            page, names = f"http://127.0.0.1:{options.port}/?token={store.token}", ", ".join(player.name for player in players)
            click.echo(f"The page is at {page} (players: {names}; Ctrl-C stops it)")
            while alive():
                time.sleep(0.5)


def _loaded(names: tuple[str, ...], notes: list[str]) -> "list[AnyPlayer]":
    """Adapters in this process: the requested ones, otherwise the shipped ones. Bases are looked up when they are first asked."""
    from adapters.registry import named_adapters, served_adapter, shipped_adapters
    from harness.errors import AdapterError
    from harness.prompting.adapter import examples_note
    from harness.service.players import LocalPlayer

    players: list[AnyPlayer] = []
    for name, folder in (named_adapters(names) or shipped_adapters()).items():
        try:
            adapter = served_adapter(folder)
        except AdapterError as error:
            if names:
                raise
            notes.append(f"the adapter {name} cannot play: {error}")
            continue
        players.append(LocalPlayer(name, str(folder), tuple(adapter.specs)))
        notes += filter(None, [examples_note(name, adapter)])
    return players


def _served(url: str, models: tuple[str, ...], adapters: tuple[str, ...], notes: list[str]) -> "list[AnyPlayer]":
    """The requested models of an endpoint, otherwise all that it lists. A model with the name of a known adapter is asked in that
    adapter's prompt format, any other model in the default one."""
    from adapters.registry import known_adapters, named_adapters, served_adapter
    from harness.errors import EngineError
    from harness.prompting.adapter import examples_note
    from harness.service.players import endpoint_players

    named = named_adapters(adapters)
    try:
        listed = () if models or named else _listed(url)
    except EngineError as error:
        notes.append(f"{error}; its models cannot play until harness app is started again")
        return []
    named |= {name: name for name in listed if name in known_adapters()}
    served = {name: served_adapter(folder) for name, folder in named.items()}
    notes += filter(None, (examples_note(name, adapter) for name, adapter in served.items()))
    return endpoint_players(url, served, [name for name in (*models, *listed) if name not in named])


def _listed(url: str) -> list[str]:
    """The models that an endpoint lists. Raises EngineError if it does not answer."""
    import asyncio

    from harness.engines.openai.endpoint import Endpoint, Failure
    from harness.errors import EngineError

    async def ask() -> list[str]:
        endpoint = Endpoint(url, timeout=10, retries=0)
        try:
            return [str(model["id"]) for model in (await endpoint.request("GET", "/models"))["data"]]
        finally:
            await endpoint.close()

    try:
        return asyncio.run(ask())
    except (Failure, KeyError, TypeError) as error:
        raise EngineError(f"no list of models: {error}") from None
