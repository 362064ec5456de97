"""`harness export`: curves, rows for other trainers, and the headline numbers of runs for a paper or a page."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands.score import ScoredRuns
from harness.errors import UsageError
from harness.util.options import ModelCommand, option

if TYPE_CHECKING:
    from eval.answers import Answers

FORMS = ("latex", "markdown", "curve", "messages", "dpo")


class Export(ScoredRuns):
    form: str = option(..., "What to write.", names=("--as",), choices=FORMS)
    out: Path | None = option(None, "Write to this file; curves take .svg or .md. [default: print]")
    by: str | None = option(None, "With --as curve: F1 and EM by these groups, such as level (see harness score --by).")


@click.command(cls=ModelCommand, model=Export)
def export(options: Export) -> None:
    """Write the headline numbers of RUNS (names, folders or predictions files), with intervals.

    Tables of Minecraft runs also have every metric by empty and non-empty board.

    \b
    harness export my-run --as markdown
    harness export base lora --as latex --out table.tex
    harness export lora-400 lora-800 lora-3278 --as curve --out curve.svg
    harness export t5-400 t5-800 t5-3278 --as curve --by level --out levels.svg
    harness export sampled-train --as dpo --out pairs.jsonl

    curve plots the scores of the runs over their numbers of training items, with --by level those of each level of
    abstraction, as in Figures 6 and 7 of the HEXAGONS paper.

    messages and dpo write JSON Lines for TRL, axolotl, LLaMA-Factory and unsloth from one run on train items: the gold answers as
    conversations, or the best against the worst of the sampled answers to each item.
    """
    from adapters.preferences import ROWS
    from eval.answers import read_named
    from eval.attributes import group_scores
    from eval.export import WRITERS
    from eval.report.curves import as_markdown, as_svg, curve
    from eval.score_run import score_answers
    from harness.util.files import json_line, write_atomically

    form, out, how = options.form, options.out, options.how
    if options.by is not None and form != "curve":
        raise UsageError("--by is for --as curve only")
    if form == "curve" and out and out.suffix not in (".md", ".svg"):
        raise UsageError(f"--out {out}: a curve is written as .svg or .md")
    if form in ROWS and len(options.runs) > 1:
        raise UsageError(f"--as {form} takes one run")
    runs = {} if form in ROWS else read_named(options.runs)
    draw = as_svg if out and out.suffix == ".svg" else as_markdown
    if form in ROWS:
        text = "".join(map(json_line, ROWS[form](*options.runs)))
    else:
        scores = {name: score_answers(answers, how) for name, answers in runs.items()}
        for name in scores if options.by else ():
            scores[name]["groups"] = group_scores(runs[name], how, by=[str(options.by)]).tables
        sizes = {name: _train_items(name, answers) for name, answers in runs.items()} if form == "curve" else {}
        text = WRITERS[form](scores) if form in WRITERS else draw(curve(scores, sizes))
    if out is None:
        click.echo(text, nl=False)
    else:
        write_atomically(out, text)
        click.echo(str(out))


def _train_items(name: str, answers: "Answers") -> int:
    """The number of train items, as recorded by the run or its adapter."""
    from adapters.registry import train_items

    if isinstance(items := answers.settings.get("train_items"), int):
        return items
    adapter = answers.settings.get("adapter")
    if not adapter:
        raise UsageError(f"{name} does not record how many items its model was trained on")
    return train_items(Path(adapter), str(answers.settings.get("adapter_fingerprint")))
