"""Options made from a model's fields: types, ranges, names and defaults."""

from pathlib import Path
from typing import Any, Literal

import click
import pytest
from click.testing import CliRunner

from harness.util.options import ModelCommand, argument, click_options, option
from harness.util.settings import Strict


class Made(Strict):
    word: str = argument()
    count: int = option(2, group="Size", common=True, ge=1, le=9)
    """How many."""
    share: float | None = option(group="Size", gt=0)
    """How much."""
    files: tuple[Path, ...] = option((), group="Place", names=("--file", "--at"))
    """Which."""
    kind: str | None = option(None, "Of which kind.", group="Place", choices=("a", "b"))
    way: Literal["c", "d"] | None = option(None, "Which way.", group="Place")
    late: bool | None = option(group="Place", names=("--late/--early",))
    """Whether late."""
    out: Path = option(..., "Where to.")
    no_option: str = "x"


@click.command(cls=ModelCommand, model=Made)
def made(options: Made) -> None:
    click.echo(repr(options))


class Own(Strict):
    own: str | None = option(None, "Its own.")


@click.command(cls=ModelCommand, model=Own, params=click_options(Made, ["share"]))
def part(own: Own, **more: Any) -> None:
    click.echo(f"{own!r} {more}")


NEEDED = ("w", "--out", "o")


def test_values_become_fields() -> None:
    words = [*["--share", "0.5", "--file", "x", "--at", "y", "--kind", "b", "--way", "d", "--early"], *NEEDED]
    full = Made(word="w", out=Path("o"), share=0.5, files=(Path("x"), Path("y")), kind="b", way="d", late=False)
    assert made.parsed(words) == full
    assert CliRunner().invoke(made, words).output == f"{full!r}\n"
    assert CliRunner().invoke(made, NEEDED).output == f"{Made(word='w', out=Path('o'))!r}\n"
    assert CliRunner().invoke(part, ["--own", "x", "--share", "1"]).output == f"{Own(own='x')!r} {{'share': 1.0}}\n"


@pytest.mark.parametrize("words", ["--count 0", "--count 10", "--share 0", "--kind c", "--way a", "--no-option y", "v"])
def test_what_does_not_fit_is_refused(words: str) -> None:
    assert CliRunner().invoke(made, [*NEEDED, *words.split()]).exit_code == 2
    assert CliRunner().invoke(made, NEEDED[:1]).exit_code == CliRunner().invoke(made, NEEDED[1:]).exit_code == 2
