"""`harness annotate`: making, counting and comparing annotations of Minecraft items and of drawing steps."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from harness.errors import UsageError
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from rich.console import Console

    from eval.annotation import Annotation
    from harness.annotation.loop import AnnotationFile
    from harness.corpora.item import Item, MinecraftItem, Turn

_SECOND = "minecraft_test_second.jsonl"
_PASSES = ("our first pass", "our second pass")

Scheme = Literal["phenomena", "mechanisms", "levels"]


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


@annotate.command(cls=ModelCommand, model=Label)
def label(options: Label) -> None:
    """Annotate items one by one in the terminal, in order.

    Each annotation is saved at once; the same command continues with the next item. The key ? explains all keys.
    """
    if not re.fullmatch(r"[\w-][\w.-]*", options.annotator):
        raise UsageError(
            f"--annotator {options.annotator!r}: a file is named after it: use letters, digits, dots, dashes and underscores"
        )
    if not sys.stdin.isatty():
        raise UsageError("annotating reads keys, but stdin is not a terminal: run it without a pipe (ssh: with -t)")
    (_label if options.scheme else _judge)(options)


def _judge(options: Label) -> None:
    from eval.annotation import Judgment, read_annotation
    from harness.annotation.loop import JudgingLoop
    from harness.corpora import load_games

    @cache
    def turns() -> dict[str, tuple[Turn, ...]]:
        return {game.name: game.turns for game in load_games()}

    def following(item: MinecraftItem) -> Sequence[Turn]:
        return turns()[item.meta["game"]][len(item.history) + 1 :]

    items = _items(options.split or "test")
    own = "" if items[0].split == "test" else f"_{items[0].split}"
    with _opened(options, own, items, lambda path: read_annotation(path, items).judgments, Judgment.as_json) as terminal:
        JudgingLoop(items, *terminal, {"h": lambda item: item.history, "f": following}).run()


def _label(options: Label) -> None:
    from eval.schemes import StepLabels, get_scheme, our_labels, read_labels
    from harness.annotation.loop import LabelingLoop
    from harness.corpora import load, split_name
    from harness.corpora.item import drawing_steps

    name, scheme = str(options.scheme), get_scheme(str(options.scheme))
    steps = drawing_steps(load("hexagons"))
    split, sample = options.split or ("dev" if name == "levels" else None), our_labels("phenomena")
    chosen = [step for step in steps if (step.split == split_name("hexagons", split) if split else step.id in sample)]
    # The sample of the corpus has only some of the paper's steps.
    chosen = steps if not split and len(chosen) < len(sample) else chosen
    read = partial(read_labels, name=name, known={step.id for step in steps})
    with _opened(options, f"_{name}", steps, read, partial(StepLabels.as_json, scheme=scheme)) as terminal:
        LabelingLoop(chosen, *terminal, {"h": lambda item: item.history}, scheme).run()


@contextmanager
def _opened(
    options: Label, suffix: str, items: Sequence[Item], read: Callable[[Path], Any], as_json: Callable[[Any], Any]
) -> Iterator[tuple[AnnotationFile[Any], str, Console, Callable[[], str]]]:
    """The file to write, the annotator, and the terminal and its keys. Raises UsageError for the file of another annotator."""
    from rich.console import Console

    from harness.annotation.loop import open_annotation
    from harness.corpora import locate

    out = options.out or Path("annotations", f"{options.annotator}{suffix}.jsonl")
    click.echo(f"{items[0].task}: the {locate(items[0].task).kind} corpus; {out}")
    with open_annotation(out, items, read, as_json) as file:
        if others := {one.annotator for one in file.annotations.values()} - {options.annotator}:
            raise UsageError(f"{out} holds annotations of {min(others)!r}: give that --annotator, or choose another --out")
        yield file, options.annotator, Console(highlight=False, markup=False, emoji=False), click.getchar


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
    from eval.annotation import our_annotation, read_annotation, statistics

    if options.scheme:
        _scheme_stats(options.scheme, options.file, options.as_json)
        return
    annotation = read_annotation(options.file) if options.file else our_annotation()
    items = _items_of(annotation)
    annotation = read_annotation(options.file, items) if options.file else annotation
    unfinished = {item.cluster for item in items if item.id not in annotation.judgments}
    counted = [item for item in items if item.cluster not in unfinished]
    if not counted:
        raise UsageError(f"{annotation.name}: no game is fully judged yet: continue with harness annotate label")
    counts = {"games": len({item.cluster for item in counted})} | statistics(counted, annotation)
    if options.as_json:
        click.echo(json.dumps(counts))
        return
    left_out = f"; games left out because they are not fully judged: {len(unfinished):,}" if unfinished else ""
    click.echo(f"{annotation.name}{left_out}")
    for key, value in counts.items():
        click.echo(f"{key.replace('_', ' '):20}{value:>6,}")


def _scheme_stats(name: Scheme, file: Path | None, as_json: bool) -> None:
    """Print the counts of labels beside the paper's, and the paper's examples."""
    from rich.console import Console

    from eval.schemes import OURS, get_scheme, our_labels, read_labels, statistics
    from eval.tables import numbers_table

    labels = read_labels(file, name) if file else our_labels(name)
    if not labels:
        raise UsageError(f"{file} holds no labels: make some with harness annotate label")
    counts, scheme = statistics(name, labels), get_scheme(name)
    if as_json:
        click.echo(json.dumps(counts))
        return

    def cells(of: dict[str, Any], steps: int, procedures: int) -> list[str]:
        count = "" if of.get("count") is None else f"{of['count']:,}"
        wholes = {"steps": steps, "procedures": procedures}
        return [count, *(f"{of[key]:,} ({100 * of[key] / whole:.1f}%)" if key in of else "" for key, whole in wholes.items())]

    groups = counts["groups"]
    papers = {label: {"count": of["paper"], **groups.get(label, {}).get("paper", {})} for label, of in counts["labels"].items()}
    papers |= {group: of["paper"] for group, of in groups.items() if group not in papers}
    ours = groups | counts["labels"]
    rows = [
        [label, *cells(ours[label], counts["steps"], counts["procedures"]), *cells(paper, scheme.steps, scheme.procedures)]
        for label, paper in papers.items()
    ]
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(scheme.title.capitalize(), style="bold")
    columns = ("#", "steps", "procedures")
    console.print(numbers_table("", *columns, *(f"paper: {column}" for column in columns), rows=rows))
    console.print(f"Over {counts['steps']:,} steps of {counts['procedures']} procedures: {file or OURS}.")
    console.print(f"The paper, over {scheme.steps:,} steps of {scheme.procedures} procedures: {scheme.source}.", soft_wrap=True)
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
    from eval.annotation import our_annotation, read_annotation
    from eval.schemes import get_scheme, our_passes, read_labels

    paths, scheme = options.annotations, options.scheme
    if len(paths) not in (0, 2) or (not paths and scheme not in (None, "levels")):
        raise UsageError("agreement compares two files: give two, or none for the two passes of our own annotation")
    names = (str(paths[0]), str(paths[1])) if paths else _PASSES
    read: Any = partial(read_labels, name=scheme) if scheme else lambda path: read_annotation(path).judgments
    if paths:
        first, second = map(read, paths)
    else:
        first, second = our_passes() if scheme else (our_annotation().judgments, our_annotation(file=_SECOND).judgments)
    result = compare.agreement(first, second, names, get_scheme(scheme) if scheme else None)
    if options.as_json:
        click.echo(json.dumps(result))
    else:
        compare.print_agreement(names, result)


def _items(split: str) -> list[MinecraftItem]:
    from harness.corpora import load
    from harness.corpora.item import builder_turns

    items = builder_turns(load("minecraft", split))
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
