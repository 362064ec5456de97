"""Options from the fields of a model: types, ranges, names, defaults and the sections of the help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from harness.util.options import Flag, GroupedCommand, click_options, option
from harness.util.settings import Strict


class Made(Strict):
    count: int = option(Flag(group="Size", common=True), 2, ge=1, le=9)
    """How many."""
    share: float | None = option(Flag(group="Size"), gt=0)
    """How much."""
    files: tuple[Path, ...] = option(Flag(group="Place", names=("--file", "--at")), ())
    """Which."""
    kind: str | None = option(Flag(group="Place", choices=("a", "b")))
    """Of which kind."""
    late: bool | None = option(Flag(group="Place", names=("--late/--early",)))
    """Whether late."""
    no_option: str = "x"


@click.command(cls=GroupedCommand, params=click_options(Made))
def made(**values: Any) -> None:
    click.echo(repr(Made(**values)))


@click.command(cls=GroupedCommand, params=click_options(Made, ["share"]))
@click.option("--own", help="Its own.")
def part(**values: Any) -> None:
    click.echo(sorted(values))


def test_values_become_fields() -> None:
    words = ["--share", "0.5", "--file", "x", "--at", "y", "--kind", "b", "--early"]
    assert CliRunner().invoke(made, words).output == f"{Made(share=0.5, files=(Path('x'), Path('y')), kind='b', late=False)!r}\n"
    assert CliRunner().invoke(made, []).output == f"{Made()!r}\n"
    assert CliRunner().invoke(part, []).output == "['own', 'share']\n"


@pytest.mark.parametrize("words", ["--count 0", "--count 10", "--share 0", "--kind c", "--no-option y"])
def test_what_does_not_fit_is_refused(words: str) -> None:
    assert CliRunner().invoke(made, words.split()).exit_code == 2


def test_the_help_has_sections_and_the_most_used_come_first() -> None:
    text = CliRunner().invoke(made, ["--help"]).output
    places = [
        text.index(part) for part in ("Most used:\n", "--count", "Size:\n", "--share", "Place:\n", "--late / --early", "--help")
    ]
    assert places == sorted(places)
    assert "[default: 2; 1<=x<=9]" in text
    text = CliRunner().invoke(part, ["--help"]).output
    assert text.index("Options:\n") < text.index("--own") < text.index("--help") < text.index("Size:\n")
    assert "Most used" not in text
