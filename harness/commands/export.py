"""`harness export`: curves, and the headline numbers of runs for a model card, a paper, a page or a spreadsheet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands.score import LEVELS, ScoredRuns
from harness.errors import UsageError
from harness.util.options import ModelCommand, option

if TYPE_CHECKING:
    from eval.report.curves import Curve
    from eval.score_run import Answers, Benchmark

FORMS = ("model-index", "latex", "markdown", "csv", "curve", "coverage")


class Export(ScoredRuns):
    form: str = option(..., "What to write.", names=("--as",), choices=FORMS)
    out: Path | None = option(None, "Write to this file; curves take .svg or .md. [default: print]")
    sizes: str | None = option(metavar="N,N,...")
    """With --as curve: each run's number of training items. [default: as recorded]"""
    by: str | None = option(None, "With --as curve: F1 and EM by these groups, such as level (see harness score --by).")
    levels: Path | None = option(None, LEVELS)


@click.command(cls=ModelCommand, model=Export)
def export(options: Export) -> None:
    """Write the headline numbers of RUNS (names, folders or predictions files), with intervals.

    Tables of Minecraft runs also have every metric by empty and non-empty board.

    \b
    harness export my-run --as model-index
    harness export base lora --as latex --out table.tex
    harness export lora-400 lora-800 lora-3278 --as curve --out curve.svg
    harness export t5-400 t5-800 t5-3278 --as curve --by level --out levels.svg
    harness export parser-dev --as coverage --out coverage.svg

    curve plots the scores of the runs over their numbers of training items, with --by level those of each level of
    abstraction, as in Figures 6 and 7 of the HEXAGONS paper. coverage plots the scores of one run over a threshold
    of its confidence, on the items that reach the threshold.
    """
    from eval.attributes import group_scores
    from eval.export import WRITERS
    from eval.report.curves import curve
    from eval.score_run import read_named, score_answers
    from harness.util.files import write_atomically

    form, out, how = options.form, options.out, replace(options.how, levels=options.levels)
    for name, value in (("--sizes", options.sizes), ("--by", options.by)):
        if value is not None and form != "curve":
            raise UsageError(f"{name} is for --as curve only")
    if options.levels and options.by != "level":
        raise UsageError("--levels is for --by level")
    answers = read_named(options.runs)
    if form == "coverage":
        text = _drawn(_coverage(answers, how), out)
    else:
        scores = {name: score_answers(one, how) for name, one in answers.items()}
        for name in scores if options.by else ():
            scores[name]["groups"] = group_scores(answers[name], how, by=[str(options.by)]).tables
        text = _drawn(curve(scores, _sizes(answers, options.sizes)), out) if form == "curve" else WRITERS[form](scores)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_atomically(out, text)
        click.echo(str(out))


def _coverage(answers: dict[str, Answers], how: Benchmark) -> Curve:
    from eval.report.curves import coverage

    if len(answers) > 1:
        raise UsageError("--as coverage takes one run")
    return coverage(next(iter(answers.values())), how)


def _drawn(drawn: Curve, out: Path | None) -> str:
    from eval.report.curves import as_markdown, as_svg

    suffix = ".md" if out is None else out.suffix
    if suffix not in (".md", ".svg"):
        raise UsageError(f"--out {out}: a curve is written as .svg or .md")
    return (as_svg if suffix == ".svg" else as_markdown)(drawn)


def _sizes(answers: dict[str, Answers], given: str | None) -> dict[str, int]:
    """The number of training items by run: as given, or as recorded by the runs or their adapters."""
    if given is None:
        return {name: _train_items(name, one) for name, one in answers.items()}
    numbers = given.split(",")
    if len(numbers) != len(answers) or not all(number.strip().isdecimal() for number in numbers):
        raise UsageError(f"--sizes {given}: give {len(answers)} whole numbers, one for each run, as in 400,800")
    return dict(zip(answers, map(int, numbers), strict=True))


def _train_items(name: str, answers: Answers) -> int:
    from adapters.registry import train_items

    if isinstance(items := answers.settings.get("train_items"), int):
        return items
    adapter = answers.settings.get("adapter")
    if not adapter:
        raise UsageError(f"{name} does not record how many items its model was trained on: give --sizes")
    return train_items(Path(adapter), str(answers.settings.get("adapter_fingerprint")))
