"""`harness annotate`: making, counting and comparing annotations of Minecraft items for the v2 benchmark."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from eval.annotation import Annotation
    from harness.annotation.judging import AnnotationFile
    from harness.corpora.item import MinecraftItem, Turn

_SHIPPED = {"minecraft_test.jsonl": "our annotation", "minecraft_test_second.jsonl": "our annotation, second pass"}


@click.group()
def annotate() -> None:
    """Judge Minecraft items for the v2 benchmark: label, count, compare.

    Judge whether the context of an item is clear from what came before the builder's actions; to judge whether the
    builder did what was asked for, you may also look at what follows.
    """


class Label(Strict):
    annotator: str = option(..., "The annotator's name: letters, digits, dots, dashes and underscores.")
    split: str | None = option(None, "The items to judge: train, val or test (default).")
    out: Path | None = option(None, "The annotation file. [default: annotations/NAME.jsonl; NAME_SPLIT for train and val]")
    games: int | None = option(None, "Judge only the first N games of the split.", ge=1)
    item: str | None = option(None, "Judge only this item, even if it is already judged.")


@annotate.command(cls=ModelCommand, model=Label)
def label(options: Label) -> None:
    """Judge items one by one in the terminal, in order and game by game.

    Each judgment is saved at once; the same command continues with the next item. The key ? explains all keys.
    """
    from harness.annotation.judging import open_annotation
    from harness.corpora import locate

    annotator = options.annotator
    if not re.fullmatch(r"[\w-][\w.-]*", annotator):
        raise UsageError(
            f"--annotator {annotator!r}: a file is named after it: use letters, digits, dots, dashes and underscores"
        )
    if options.item and (options.split or options.games):
        raise UsageError("--item names one item: leave out --split and --games")
    only = _item(options.item) if options.item else None
    split = only.split if only else options.split or "test"
    if not sys.stdin.isatty():
        raise UsageError("judging reads keys, but stdin is not a terminal: run it without a pipe (ssh: with -t)")
    items = _items(split)
    out = options.out or Path("annotations", f"{annotator}.jsonl" if split == "test" else f"{annotator}_{items[0].split}.jsonl")
    games = set(list(dict.fromkeys(item.cluster for item in items))[: options.games])
    chosen = [only] if only else [item for item in items if item.cluster in games]
    click.echo(f"minecraft/{items[0].split}: {len(items):,} items of the {locate('minecraft').kind} corpus; {out}")
    with open_annotation(out, items) as file:
        if others := {judgment.annotator for judgment in file.judgments.values()} - {annotator}:
            raise UsageError(f"{out} holds judgments of {min(others)!r}: give that --annotator, or choose another --out")
        _loop(chosen, file, annotator, again=only is not None)


class AnnotationStats(Strict):
    file: Path | None = argument(None)
    as_json: bool = option(False, "Print JSON.", names=("--json",))


@annotate.command(cls=ModelCommand, model=AnnotationStats)
def stats(options: AnnotationStats) -> None:
    """Count an annotation as section 3.2 of the BAP v2 paper does.

    FILE is an annotation file (default: ours). Games that are not fully judged are left out.
    """
    from eval.annotation import read_annotation, read_judgments, statistics

    path, name = (options.file, str(options.file)) if options.file else _shipped("minecraft_test.jsonl")
    items = _items_of(read_judgments(path, partial=True))
    annotation = read_annotation(path, items, name=name, partial=True)
    unfinished = {item.cluster for item in items if item.id not in annotation.judgments}
    counted = [item for item in items if item.cluster not in unfinished]
    if not counted:
        raise UsageError(f"{path}: no game is fully judged yet: continue with harness annotate label")
    counts = {"games": len({item.cluster for item in counted})} | statistics(counted, annotation)
    if options.as_json:
        click.echo(json.dumps(counts))
        return
    left_out = f"; games left out because they are not fully judged: {len(unfinished):,}" if unfinished else ""
    click.echo(f"{name}{left_out}")
    for key, value in counts.items():
        click.echo(f"{key.replace('_', ' '):20}{value:>6,}")


class Compared(Strict):
    annotations: tuple[Path, ...] = argument((), metavar="[FILE FILE]")
    as_json: bool = option(False, "Print JSON; shares are fractions 0..1.", names=("--json",))


@annotate.command(cls=ModelCommand, model=Compared)
def agreement(options: Compared) -> None:
    """Compare two annotations over the items that both hold.

    Without files, compare the two passes of our own annotation.
    """
    from eval.agreement import agreement as compare
    from eval.agreement import print_agreement
    from eval.annotation import read_judgments

    if len(options.annotations) not in (0, 2):
        raise UsageError("agreement compares two files: give two, or none for the two passes of our own annotation")
    named = [(path, str(path)) for path in options.annotations] or [_shipped(name) for name in _SHIPPED]
    first, second = (read_judgments(path, name=name, partial=True) for path, name in named)
    result = compare(first, second)
    if options.as_json:
        click.echo(json.dumps(result))
    else:
        print_agreement(first.name, second.name, result)


def _item(item_id: str) -> MinecraftItem:
    from harness.commands.show import find_item
    from harness.corpora.item import MinecraftItem

    item = find_item(item_id)
    if not isinstance(item, MinecraftItem):
        raise UsageError(f"--item {item_id}: only Minecraft items are annotated")
    return item


def _items(split: str) -> list[MinecraftItem]:
    from harness.corpora import load
    from harness.corpora.item import MinecraftItem

    items = [item for item in load("minecraft", split) if isinstance(item, MinecraftItem)]
    if not items:
        raise UsageError(f"there are no items of minecraft/{split}: choose another --split")
    return items


def _items_of(annotation: Annotation) -> list[MinecraftItem]:
    """The items of an annotation's split. Raises UsageError if the annotation is empty, or is ours and its corpus is not here."""
    from harness.corpora import locate

    if not annotation.judgments:
        raise UsageError(f"{annotation.name} holds no judgments: make some with harness annotate label")
    first = next(iter(annotation.judgments))
    items = _items(first.split("/")[1])
    if first not in {item.id for item in items} and locate("minecraft").kind == "sample":
        raise UsageError(f"{annotation.name} is about {first}, which the shipped sample does not have: set HARNESS_DATA")
    return items


def _shipped(name: str) -> tuple[Path, str]:
    return Path(str(files("eval").joinpath("annotations", name))), _SHIPPED[name]


def _loop(items: Sequence[MinecraftItem], file: AnnotationFile, annotator: str, *, again: bool) -> None:
    from rich.console import Console

    from harness.annotation.judging import Loop, keys
    from harness.corpora import load_games

    @cache
    def turns() -> dict[str, tuple[Turn, ...]]:
        return {game.name: game.turns for game in load_games()}

    def following(item: MinecraftItem) -> Sequence[Turn]:
        return turns()[item.meta["game"]][len(item.history) + 1 :]

    console = Console(highlight=False, markup=False, emoji=False)
    read_line = partial(console.input, markup=False, emoji=False)
    Loop(items, file, annotator, following, console, keys(click.getchar), read_line).run(again=again)
