"""`harness show`: an item, its states, and what a run predicted for it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.errors import UsageError
from harness.util.files import write_atomically
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from rich.console import Console

    from harness.corpora.item import Item


SCALE = 2.0
"""Pixels of a PNG for each of the picture's."""


class Show(Strict):
    item_id: str = argument()
    items_file: Path | None = option(None, "The file from harness simulate that holds the item.", names=("--items",))
    run: str | None = option(None, "Also show what this run (a name or a folder) predicted.")
    svg: Path | None = option(None, "Write a picture of the state after or, with --run, of what differs from it, to this file.")
    png: Path | None = option(None, "Write the picture as PNG.")
    history: int = option(6, "Print the last N turns.", ge=0)


@click.command(cls=ModelCommand, model=Show)
def show(options: Show) -> None:
    """Draw an item, and what a run predicted for it.

    \b
    harness show hexagons/test/81/16
    harness show minecraft/test/B1-A3-C5-1522432776975/9 --run my-run --png picture.png
    """
    from rich.console import Console

    from harness.drawing.items import item_pictures
    from harness.drawing.svg import png_bytes

    item = find_item(options.item_id, options.items_file)
    console = Console(highlight=False, markup=False, emoji=False)
    _print_item(console, item, options.history)
    pictures = item_pictures(item)
    if options.run is not None:
        record, actions = find_prediction(options.run, item)
        pictures = _print_prediction(console, item, record, actions) or pictures
        if {"reading", "program", "confidence"} <= set(record):
            _print_reading(console, record)
    if options.svg or options.png:
        # The last picture is the difference, if there is a prediction.
        picture = [*pictures.values()][-1]
        for path in filter(None, (options.svg, options.png)):
            write_atomically(path, picture.encode() if path is options.svg else png_bytes(picture, scale=SCALE))
            console.print(f"Written: {path}", soft_wrap=True)


def find_item(item_id: str, items_file: Path | None = None) -> Item:
    """The item with an id `task/split/...`, from its corpus or a file. Raises UsageError with the nearest ids if none has it."""
    from harness.corpora.records import load_items

    wanted, items = (item_id, load_items(items_file)) if items_file else _its_split(item_id)
    by_id = {item.id: item for item in items}
    if wanted not in by_id:
        where = items_file or "/".join(wanted.split("/")[:2])
        near = difflib.get_close_matches(wanted, by_id, n=3, cutoff=0.0)
        raise UsageError(f"no item {wanted!r} among the {len(by_id)} of {where}; nearest: {', '.join(near)}")
    return by_id[wanted]


def _its_split(item_id: str) -> tuple[str, list[Item]]:
    """The id with the task's own name of the split, and the items of that split."""
    from harness.corpora import load, split_name

    task, _, rest = item_id.partition("/")
    split, slash, rest = rest.partition("/")
    if not slash:
        raise UsageError(f"{item_id!r} is not an item's id, such as hexagons/test/81/16: harness data items prints them")
    split = split_name(task, split)
    return f"{task}/{split}/{rest}", load(task, split)


def find_prediction(run: str, item: Item) -> tuple[Mapping[str, Any], Sequence[Any] | None]:
    """What a run recorded for an item, and the actions that it predicted; None if it recorded only an error.

    Raises UsageError if there is no such run or the run lacks the item, DataError for a broken file.
    """
    from eval.answers import decode
    from eval.predictions import read_records
    from harness.runs.folder import find_run

    file = find_run(run) / "predictions.jsonl"
    record = next((r for r in read_records(file, partial=True) if r.id == item.id), None)
    if record is None:
        raise UsageError(f"{file} holds no prediction for {item.id}")
    actions = decode(file, [record], [item]).actions
    return record.fields, actions.get(item.id)


def _print_item(console: Console, item: Item, history: int) -> None:
    from harness.corpora.item import HexagonsItem, Utterance
    from harness.drawing.items import states_text
    from harness.drawing.terminal import counted, printable, written
    from serialization.formats import get_format

    console.print(item.id, style="bold")
    left_out = max(0, len(item.history) - history)
    if left_out:
        console.print(f"({left_out} earlier turns; --history {len(item.history)} shows them)", style="dim")
    for turn in item.history[left_out:]:
        if isinstance(turn, Utterance):
            console.print(f"{turn.speaker}: {printable(turn.text)}")
        else:
            console.print(f"  > {written(item.task, turn.actions)}", style="dim")
    if isinstance(item, HexagonsItem):
        console.print(f"Instruction: {printable(item.instruction)}", style="bold")
    console.print(f"Gold, {counted(item.actions)}: {written(item.task, item.actions)}")
    program = get_format(item.task, "program").write(item.actions).replace("\n", "; ")
    console.print(f"As a program: {program}\n", soft_wrap=True)
    console.print(states_text(item))


def _print_prediction(
    console: Console, item: Item, record: Mapping[str, Any], actions: Sequence[Any] | None
) -> dict[str, str] | None:
    """Print what a run predicted. Returns its pictures; None if there is only an error."""
    from harness.drawing.items import item_pictures, predicted_text
    from harness.drawing.terminal import counted, printable, written
    from serialization.annotations import deviations
    from serialization.formats import formats_in

    console.print()
    if actions is None:
        console.print(f"No prediction, but an error: {printable(str(record['error']))}", style="bold")
        return None
    text, form = record.get("text"), formats_in(item.world).get(str(record.get("format")))
    if thought := record.get("reasoning"):
        console.print(f"The model's thought: {printable(str(thought))}", style="dim")
    if isinstance(text, str):
        console.print(f"The model's text: {printable(text)}")
        for piece in form.read(text, item).discarded if form else ():
            console.print(f"Discarded: {printable(piece.text)!r} ({piece.reason})")
    apply: Any = item.before.apply
    state, ignored = apply(actions)
    missing, extra = deviations(item, actions)
    console.print(f"Predicted, {counted(actions)}: {written(item.task, actions)}", style="bold")
    for name, changes in (("Infeasible", ignored), ("Missing", missing), ("Wrong", extra[: len(extra) - len(ignored)])):
        if changes:
            console.print(f"{name}, {counted(changes)}: {written(item.task, changes)}")
    console.print()
    _print_metrics(console, item, actions)
    console.print(predicted_text(item, state))
    return item_pictures(item, state)


def _print_metrics(console: Console, item: Item, actions: Any) -> None:
    """Print an item's F1 of every metric for Minecraft, 0..1, as in Tables 10 and 11 of BAP v2."""
    from eval.metrics.minecraft import METRICS, count, item_f1
    from eval.printing import numbers_table
    from harness.corpora.item import MinecraftItem
    from harness.tasks.registry import TASKS

    if not isinstance(item, MinecraftItem) or TASKS[item.task].judged:
        return
    ways = {"strict": frozenset[str]()} | ({} if len(item.before) else {"aligned": frozenset({item.id})})
    f1 = [(way, *item_f1(count([item], [actions], multiple=multiple))[0]) for way, multiple in ways.items()]
    rows = [(way, *(f"{value:.2f}" for value in (*others, overall))) for way, overall, *others in f1]
    note = "" if len(item.before) else "aligned: as an item with several interpretations"
    console.print(numbers_table("F1", *METRICS[1:], METRICS[0], rows=rows, caption=note), "")


def _print_reading(console: Console, notes: Mapping[str, Any]) -> None:
    """How the baseline `parser` read the words, and the program it made."""
    from harness.drawing.terminal import printable

    console.print("\nRead as:", style="bold")
    for action in notes["reading"]:
        console.print(f"  {printable(str(action))}")
    console.print(f"Program (confidence {notes['confidence']}):", style="bold")
    console.print(printable(str(notes["program"])) or "(nothing to draw)")
