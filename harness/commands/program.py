"""`harness program`: runs a program and draws the result, checks programs for train items against gold, or collects them."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.errors import UsageError
from harness.tasks.registry import DEFAULT_TASK, TASKS, world_of
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from harness.corpora.item import Item
    from harness.worlds.hexagons import Board
    from harness.worlds.minecraft import Structure
    from serialization.formats import Format


class _RunsFiles(click.Group):
    """A group in which anything but the name of a subcommand is a file to run."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["run", *args])


@click.group(cls=_RunsFiles)
def program() -> None:
    """Run a drawing or building program, and check or collect programs for train items.

    \b
    harness program house.txt --task minecraft
    harness program check programs.jsonl
    harness program collect runs/sampled --out programs.jsonl
    """


class RunProgram(Strict):
    file: Path = argument()
    item: str | None = option(None, "Run the program on the state of this item: its board and steps, or its blocks and builder.")
    items: Path | None = option(None, "The file from harness simulate that holds the item.")
    task: str | None = option(None, f"The task, if there is no --item. [default: {DEFAULT_TASK}]", choices=list(TASKS))


@program.command(cls=ModelCommand, model=RunProgram)
def run(options: RunProgram) -> None:
    """Run a drawing or building program from FILE, or from standard input (-). The word run may be left out.

    \b
    echo 'blue ring(5:4); copy repeat(it, right 4)' | harness program -
    harness program house.txt --task minecraft
    harness program answer.txt --item hexagons/dev/46/3

    docs/program.md says how programs are written. If a program fails, the result of its earlier statements is shown.
    """
    from harness.commands.show import find_item
    from harness.worlds.hexagons import Board
    from harness.worlds.minecraft import Structure
    from serialization.formats import program as programs
    from serialization.program.machine import State
    from serialization.program.parse import parse_front

    item = find_item(options.item, options.items) if options.item else None
    if item is not None and options.task not in (None, item.task):
        raise UsageError(f"--task {options.task}: {item.id} is an item of {item.task}")
    task = item.task if item else options.task or DEFAULT_TASK
    state = programs.state_of(item) if item else State(Board() if world_of(task) == "hexagons" else Structure())
    parsed, error = parse_front(_text(options.file))
    outcome = programs.run(parsed, state)
    error = error or outcome.error
    _draw(outcome.actions, task, state.before)
    if error is not None:
        raise error


def _text(file: Path) -> str:
    """Raises UsageError for a file that cannot be read."""
    try:
        with click.open_file(str(file), encoding="utf-8") as stream:
            return str(stream.read())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as text ({getattr(error, 'strerror', None) or 'not UTF-8'})") from error


def _draw(actions: Sequence[Any], task: str, before: "Board | Structure") -> None:
    from rich.console import Console

    from harness.drawing.terminal import board_text, counted, structure_text
    from harness.worlds.hexagons import Board
    from serialization.formats import get_format

    console = Console(highlight=False, markup=False, emoji=False)
    if isinstance(before, Board):
        console.print(board_text(before.apply(actions).board, before=before, first=1))
    else:
        console.print(structure_text(before.apply(actions).structure, before=before))
    console.print(f"{counted(actions)}: {_listed(get_format(task, 'program'), actions)}", soft_wrap=True)


class CheckPrograms(Strict):
    file: Path = argument()


@program.command(cls=ModelCommand, model=CheckPrograms)
def check(options: CheckPrograms) -> None:
    """Check programs for train items against gold, by net change.

    FILE is JSON Lines, {"id", "program", "mark"}; docs/annotating.md says how they are written and marked. Each line
    whose program does not do what gold does is printed with what is missing and what is extra. Exit code 1 if any of
    them is not marked "differs".
    """
    from serialization.annotations import checked_annotations, deviations
    from serialization.formats import get_format

    counts: Counter[str] = Counter()
    for where, item, annotation in checked_annotations(options.file):
        fmt = get_format(item.task, "program")
        answer = fmt.read(annotation.program, item)
        missing, extra = deviations(item, answer.actions)
        faults = [f"{name} {_listed(fmt, actions)}" for name, actions in (("missing", missing), ("extra", extra)) if actions]
        faults += [f"error {piece.reason}" for piece in answer.discarded]
        marked = annotation.mark == "differs"
        counts["as gold" if not faults else "differ as marked" if marked else "differ"] += 1
        if faults:
            click.echo(f"{where}: {item.id}: {'; '.join(faults)}" + " (marked)" * marked)
        elif marked:
            click.echo(f"{where}: {item.id}: marked differs, but does what gold does")
    click.echo(f"{counts.total():,} programs: " + ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items())))
    if counts["differ"]:
        raise click.exceptions.Exit(1)


class CollectPrograms(Strict):
    run: Path = argument()
    out: Path = option(..., "The file of programs to write.", type=click.Path(path_type=Path, dir_okay=False))


@program.command(cls=ModelCommand, model=CollectPrograms)
def collect(options: CollectPrograms) -> None:
    """Keep the answers of a RUN over train items that do what gold does, as programs to train on.

    \b
    harness prompt --task iglu --split train --adapter builder --samples 16 --temperature 0.8 --name sampled
    harness program collect runs/sampled --out programs.jsonl
    harness finetune llama-lora --task iglu --format bare-program --programs programs.jsonl

    Of several answers to an item that do what gold does, the one that was given most often is kept, and of these the
    shortest. Items that have a program, or whose answers all do something else, are left out.
    """
    from eval.answers import read_answers
    from harness.util.files import write_atomically

    answers = read_answers(options.run)
    if any(item.split != "train" for item in answers.items):
        raise UsageError(f"{options.run}: its items are of {answers.split}; programs are for train items only")
    lines: list[str] = []
    counts = Counter[str]()
    for item in answers.items:
        answer, why = _collected(item, answers.records.get(item.id, {}))
        counts[why] += 1
        if answer is not None:
            lines.append(json.dumps({"id": item.id, "program": answer}) + "\n")
    write_atomically(options.out, "".join(lines))
    click.echo(f"{options.out}: {len(lines):,} programs; items: " + ", ".join(f"{n:,} {what}" for what, n in counts.items()))


def _collected(item: "Item", record: Mapping[str, Any]) -> tuple[str | None, str]:
    """The program to keep from an item's answers, if any, and what kind of item that makes it. Raises UsageError for answers that
    are not programs."""
    from serialization.annotations import reproducing, shipped_annotations
    from serialization.formats import get_format

    text, name = record.get("text"), record.get("format")
    if not (isinstance(text, str) and isinstance(name, str)):
        return None, "without an answer"
    if item.id in shipped_annotations(item.task):
        return None, "with a program already"
    fmt = get_format(item.task, name)
    if not fmt.is_program:
        raise UsageError(f"{item.id}: its answer is in the format {name}; collect programs from --format program")
    answer = reproducing(item, record.get("samples") or [text], fmt.read)
    return answer, "as gold" if answer is not None else "other than gold"


def _listed(fmt: "Format", actions: Sequence[Any]) -> str:
    return fmt.write(actions).replace("\n", "; ")
