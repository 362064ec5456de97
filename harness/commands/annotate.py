"""`harness annotate`: making, counting and comparing annotations of Minecraft items and of drawing steps."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from harness.errors import UsageError
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from eval.annotation import Annotation
    from harness.annotation.loop import AnnotationFile
    from harness.corpora.item import Item, MinecraftItem, Turn

_SHIPPED = {"minecraft_test.jsonl": "our annotation", "minecraft_test_second.jsonl": "our annotation, second pass"}
_PASSES = ("our labels, first pass", "our labels, second pass")

Scheme = Literal["phenomena", "mechanisms", "levels"]
ItemType = TypeVar("ItemType", bound="Item")


@click.group()
def annotate() -> None:
    """Judge Minecraft items for the v2 benchmark, or label drawing steps: label, count, compare.

    Without --scheme, you judge Minecraft items: whether the context is clear from what came before the builder's actions, and
    whether the builder did what was asked for, for which you may also look at what follows. With --scheme, you label steps of
    HEXAGONS by the tables of its paper: phenomena (Table 3), mechanisms of abstraction (Table 4) or levels of abstraction
    (Table 5).
    """


class Label(Strict):
    annotator: str = option(..., "The annotator's name: letters, digits, dots, dashes and underscores.")
    scheme: Scheme | None = option(None, "Label drawing steps by this scheme.")
    split: str | None = option()
    """The items to annotate. Default: test; with --scheme levels, dev; with another scheme, 194 steps of 24 procedures from all
    splits, drawn as in the paper."""
    out: Path | None = option(None, "The file. [default: annotations/NAME.jsonl; NAME_SPLIT for train and val, or NAME_SCHEME]")
    games: int | None = option(None, "Only the first N games or drawing procedures.", ge=1)
    item: str | None = option(None, "Only this item, even if it has an annotation.")


@annotate.command(cls=ModelCommand, model=Label)
def label(options: Label) -> None:
    """Annotate items one by one in the terminal, in order.

    Each annotation is saved at once; the same command continues with the next item. The key ? explains all keys.
    """
    annotator = options.annotator
    if not re.fullmatch(r"[\w-][\w.-]*", annotator):
        raise UsageError(
            f"--annotator {annotator!r}: a file is named after it: use letters, digits, dots, dashes and underscores"
        )
    if options.item and (options.split or options.games):
        raise UsageError("--item names one item: leave out --split and --games")
    only = _item(options.item, "hexagons" if options.scheme else "minecraft") if options.item else None
    if not sys.stdin.isatty():
        raise UsageError("annotating reads keys, but stdin is not a terminal: run it without a pipe (ssh: with -t)")
    if options.scheme:
        _label(options, options.scheme, only)
    else:
        _judge(options, only)


def _judge(options: Label, only: Any) -> None:
    from rich.console import Console

    from eval.annotation import Judgment, read_annotation
    from harness.annotation.judging import JudgingLoop
    from harness.annotation.loop import keys, open_annotation
    from harness.corpora import load_games, locate

    @cache
    def turns() -> dict[str, tuple[Turn, ...]]:
        return {game.name: game.turns for game in load_games()}

    def following(item: MinecraftItem) -> Sequence[Turn]:
        return turns()[item.meta["game"]][len(item.history) + 1 :]

    split = only.split if only else options.split or "test"
    items = _items(split)
    name = options.annotator if split == "test" else f"{options.annotator}_{items[0].split}"
    out = options.out or Path("annotations", f"{name}.jsonl")
    click.echo(f"minecraft/{items[0].split}: {len(items):,} items of the {locate('minecraft').kind} corpus; {out}")
    console = Console(highlight=False, markup=False, emoji=False)
    ask = keys(click.getchar), following, partial(console.input, markup=False, emoji=False)
    with open_annotation(out, items, lambda path: read_annotation(path, items, partial=True).judgments, Judgment.as_json) as file:
        _check_annotator(file, options.annotator)
        chosen = [only] if only else _first(items, options.games)
        JudgingLoop(chosen, file, options.annotator, console, *ask).run(again=only is not None)


def _label(options: Label, scheme: Scheme, only: Any) -> None:
    from rich.console import Console

    from eval.schemes import StepLabels, get_scheme, read_labels, sample
    from harness.annotation.labeling import LabelingLoop
    from harness.annotation.loop import keys, open_annotation
    from harness.corpora import load, locate, split_name
    from harness.corpora.item import HexagonsItem

    steps = [item for item in load("hexagons") if isinstance(item, HexagonsItem)]
    split = options.split or ("dev" if scheme == "levels" else None)
    wanted = [step for step in steps if step.split == split_name("hexagons", split)] if split else sample(steps)
    out, known = options.out or Path("annotations", f"{options.annotator}_{scheme}.jsonl"), {step.id for step in steps}
    chosen = [only] if only else _first(wanted, options.games)
    click.echo(f"hexagons: steps of the {locate('hexagons').kind} corpus: {len(chosen):,}; {out}")
    console = Console(highlight=False, markup=False, emoji=False)
    read = partial(read_labels, name=scheme, known=known, partial=True)
    with open_annotation(out, steps, read, partial(StepLabels.as_json, scheme=get_scheme(scheme))) as file:
        _check_annotator(file, options.annotator)
        loop = LabelingLoop(chosen, file, options.annotator, console, keys(click.getchar), get_scheme(scheme))
        loop.run(again=only is not None)


def _first(items: Sequence[ItemType], clusters: int | None) -> list[ItemType]:
    """The items of the first games or procedures."""
    first = set(list(dict.fromkeys(item.cluster for item in items))[:clusters])
    return [item for item in items if item.cluster in first]


def _check_annotator(file: AnnotationFile[Any], annotator: str) -> None:
    if others := {one.annotator for one in file.found.values()} - {annotator}:
        raise UsageError(f"{file.path} holds annotations of {min(others)!r}: give that --annotator, or choose another --out")


class AnnotationStats(Strict):
    file: Path | None = argument(None)
    scheme: Scheme | None = option(None, "FILE holds labels of this scheme.")
    as_json: bool = option(False, "Print JSON.", names=("--json",))


@annotate.command(cls=ModelCommand, model=AnnotationStats)
def stats(options: AnnotationStats) -> None:
    """Count an annotation as its paper does.

    FILE is an annotation file (default: ours). Judgments are counted as in section 3.2 of the BAP v2 paper, without games that
    are not fully judged; labels of a scheme stand beside the counts of the HEXAGONS paper.
    """
    if options.scheme:
        _scheme_stats(options.scheme, options.file, options.as_json)
        return
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


def _scheme_stats(scheme: Scheme, file: Path | None, as_json: bool) -> None:
    from eval.schemes import OURS, our_labels, read_labels, statistics

    found = read_labels(file, scheme, partial=True) if file else our_labels(scheme)
    if not found:
        raise UsageError(f"{file} holds no labels: make some with harness annotate label")
    counts = statistics(scheme, found)
    if as_json:
        click.echo(json.dumps(counts))
    else:
        _print_scheme(scheme, counts, str(file) if file else OURS)


def _print_scheme(name: Scheme, counts: dict[str, Any], whose: str) -> None:
    """The counts beside the paper's; for mechanisms, of which it has none, beside its examples."""
    from rich.console import Console

    from eval.schemes import get_scheme
    from eval.tables import numbers_table

    scheme = get_scheme(name)
    totals = (counts["steps"], counts["procedures"], scheme.steps, scheme.procedures)

    def row(label: str, of: dict[str, Any], paper: dict[str, Any]) -> list[str]:
        numbers = (of["steps"], of["procedures"], paper.get("steps"), paper.get("procedures"))
        shares = ["" if n is None else f"{n:,} ({100 * n / whole:.1f}%)" for n, whole in zip(numbers, totals, strict=True)]
        return [
            label,
            f"{of['count']:,}",
            *shares[:2],
            f"{paper['count']:,}" if paper.get("count") is not None else "",
            *shares[2:],
        ]

    rows = []
    for group in scheme.groups or [""]:
        members = {label: counts["labels"][label] for label, about in scheme.labels.items() if about.group == group}
        if group:
            of = counts["groups"][group]
            rows.append(row(group, of, of["paper"] | ({"count": members[group]["paper"]} if group in members else {})))
        rows += [row("  " * bool(group) + label, of, {"count": of["paper"]}) for label, of in members.items() if label != group]
    columns = ["", "#", "steps", "procedures", *(f"paper: {column}" for column in ("#", "steps", "procedures"))]
    kept = [n for n, column in enumerate(columns) if n < 4 or any(row[n] for row in rows)]
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(scheme.title.capitalize(), style="bold")
    console.print(numbers_table(*(columns[n] for n in kept), rows=([row[n] for n in kept] for row in rows)))
    console.print(f"Over {totals[0]:,} steps of {totals[1]} procedures: {whose}.")
    console.print(f"The paper, over {totals[2]:,} steps of {totals[3]} procedures: {scheme.source}.", soft_wrap=True)
    for label, about in scheme.labels.items():
        if about.example:
            console.print(f"Its {label}: {about.example}", style="dim", soft_wrap=True)


class Compared(Strict):
    annotations: tuple[Path, ...] = argument((), metavar="[FILE FILE]")
    scheme: Scheme | None = option(None, "The files hold labels of this scheme.")
    as_json: bool = option(False, "Print JSON; shares are fractions 0..1.", names=("--json",))


@annotate.command(cls=ModelCommand, model=Compared)
def agreement(options: Compared) -> None:
    """Compare two annotations over the items that both hold.

    Without files, compare the two passes of our own annotation; of labels, only levels have two.
    """
    from eval import agreement as compare
    from eval.annotation import read_judgments

    paths, scheme = options.annotations, options.scheme
    if len(paths) not in (0, 2) or (not paths and scheme not in (None, "levels")):
        raise UsageError("agreement compares two files: give two, or none for the two passes of our own annotation")
    if scheme:
        result, names = _label_agreement(scheme, paths)
    else:
        named = [(path, str(path)) for path in paths] or [_shipped(name) for name in _SHIPPED]
        first, second = (read_judgments(path, name=name, partial=True) for path, name in named)
        result, names = compare.agreement(first, second), (first.name, second.name)
    if options.as_json:
        click.echo(json.dumps(result))
    else:
        compare.print_agreement(names, result)


def _label_agreement(scheme: Scheme, paths: Sequence[Path]) -> tuple[dict[str, Any], tuple[str, str]]:
    from eval.agreement import label_agreement
    from eval.schemes import get_scheme, our_passes, read_labels

    names = (str(paths[0]), str(paths[1])) if paths else _PASSES
    first, second = (read_labels(path, scheme, partial=True) for path in paths) if paths else our_passes()
    return label_agreement(get_scheme(scheme), first, second, names), names


def _item(item_id: str, task: str) -> Item:
    from harness.commands.show import find_item

    item = find_item(item_id)
    if item.task != task:
        raise UsageError(f"--item {item_id}: only items of {task} are annotated in this way")
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
