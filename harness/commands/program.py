"""`harness program`: runs a program, draws the result and prints the actions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError
from harness.tasks import DEFAULT_TASK, TASKS, world_of
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from harness.corpora.item import Item
    from serialization.program.errors import ProgramError
    from serialization.program.machine import ProgramResult


class RunProgram(Strict):
    file: Path = argument()
    item: str | None = option(None, "Run the program on the state of this item: its board and steps, or its blocks and builder.")
    items: Path | None = option(None, "The file from harness simulate that holds the item.")
    task: str | None = option(None, f"The task, if there is no --item. [default: {DEFAULT_TASK}]", choices=list(TASKS))
    as_json: bool = option(False, 'Print {"actions": [...], "error": null} and draw nothing.', names=("--json",))


@click.command(cls=ModelCommand, model=RunProgram)
def program(options: RunProgram) -> None:
    """Run a drawing or building program from FILE, or from standard input (-).

    \b
    echo 'blue ring(5:4); copy repeat(it, right 4)' | harness program -
    harness program house.txt --task minecraft
    harness program answer.txt --item hexagons/dev/46/3 --json

    docs/program.md says how programs are written. If a program fails, the result of its earlier statements is shown.
    """
    from harness.commands.show import find_item

    item = find_item(options.item, options.items) if options.item else None
    if item is not None and options.task not in (None, item.task):
        raise UsageError(f"--task {options.task}: {item.id} is an item of {item.task}")
    task = item.task if item else options.task or DEFAULT_TASK
    outcome = _outcome(_text(options.file), task, item)
    if options.as_json:
        click.echo(json.dumps({"actions": [list(action) for action in outcome.actions], "error": _error(outcome.error)}))
    else:
        _draw(outcome, task, item)
    if outcome.error is not None:
        raise outcome.error


def _text(file: Path) -> str:
    """Raises UsageError for a file that cannot be read."""
    try:
        with click.open_file(str(file), "rb") as stream:
            content: bytes = stream.read()
        return content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as text ({getattr(error, 'strerror', None) or 'not UTF-8'})") from error


def _outcome(text: str, task: str, item: Item | None) -> ProgramResult:
    from harness.corpora.item import HexagonsItem, MinecraftItem
    from serialization.formats.program import building_state, drawing_state
    from serialization.program import hexagons, minecraft
    from serialization.program.parse import parse_front

    program, error = parse_front(text)
    if world_of(task) == "hexagons":
        outcome = hexagons.run(program, drawing_state(item) if isinstance(item, HexagonsItem) else hexagons.DrawingState())
    else:
        outcome = minecraft.run(program, building_state(item) if isinstance(item, MinecraftItem) else minecraft.BuildingState())
    return outcome._replace(error=error or outcome.error)


def _error(error: ProgramError | None) -> dict[str, object] | None:
    return None if error is None else {"line": error.line, "column": error.column, "problem": error.problem}


def _draw(outcome: ProgramResult, task: str, item: Item | None) -> None:
    from rich.console import Console

    from harness.drawing.terminal import board_text, counted, structure_text
    from harness.worlds.hexagons import Board
    from harness.worlds.minecraft import Structure
    from serialization.formats import get_format

    console = Console(highlight=False, markup=False, emoji=False)
    before = item.before if item else Board() if world_of(task) == "hexagons" else Structure()
    if isinstance(before, Board):
        console.print(board_text(before.apply(outcome.actions).board, before=before, first=1))
    else:
        console.print(structure_text(before.apply(outcome.actions).structure, before=before))
    listed = get_format(task, "program").write(outcome.actions).replace("\n", "; ")
    console.print(f"{counted(outcome.actions)}: {listed}", soft_wrap=True)
