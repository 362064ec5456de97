"""Writes docs/cli.md from the `--help` of every command, and the JSON Schema of recipes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click

from adapters import recipe
from harness.cli import SECTIONS, cli

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
WIDTH = 120
"""Width of the help texts, in characters."""

_HELP = re.compile(r"\n(?:\n[\w ]+:\n(?=  -h))?  -h, --help .*")
"""The option that every command has, with its heading if it is the only option."""

INTRODUCTION = """\
# The command line

Every command and option but `--help`, which prints them; `make docs` writes this page. Exit codes: 0 done, 1 failed, 2 wrong
usage, 130 interrupted. Errors are one line; `harness --debug COMMAND` shows where they come from.
"""


def page() -> str:
    parts = [INTRODUCTION]
    root = click.Context(cli, info_name="harness", **cli.context_settings)
    for title, names in SECTIONS.items():
        parts.append(f"## {title}\n")
        for name in names:
            command = cli.get_command(root, name)
            assert command is not None
            parts += _described(command, name, root)
    return "\n".join(parts)


def _described(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    """The section of a command, followed by the sections of its subcommands."""
    context = click.Context(command, parent, info_name=name, terminal_width=WIDTH, **command.context_settings)
    shown = _HELP.sub("", context.get_help())
    yield f"### {context.command_path}\n\n```\n{shown.rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for own in command.list_commands(context):
            below = command.get_command(context, own)
            assert below is not None
            yield from _described(below, own, context)


def schema() -> str:
    return json.dumps(recipe.recipe_schema(), indent=1) + "\n"


def main() -> None:
    for path, text in ((PAGE, page()), (recipe.SCHEMA, schema())):
        path.write_text(text)
        print(path)


if __name__ == "__main__":
    main()
