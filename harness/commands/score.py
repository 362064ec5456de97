"""`harness score`: the scores of a predictions file. No model is needed."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from eval.score_run import Benchmark

BENCHMARK = "Minecraft: legacy (default), fair (default for simulated games) or v2."


class ScoredRuns(Strict):
    """The options of commands that score runs."""

    runs: tuple[Path, ...] = argument()
    benchmark: str | None = option(None, BENCHMARK)
    annotation: Path | None = option(None, "Annotation file for v2. [default: ours, for test]")

    @property
    def how(self) -> "Benchmark":
        from eval.score_run import Benchmark

        return Benchmark(self.benchmark, self.annotation)


class Score(Strict):
    file: Path = argument()
    items_file: Path | None = option(None, "The file from harness simulate whose items were answered.", names=("--items",))
    benchmark: str | None = option(None, f"{BENCHMARK} IGLU: legacy, fair or ask.")
    ask_below: float | None = option(None, "With --benchmark ask: also ask below this confidence.", ge=0, le=1)
    annotation: Path | None = option(None, "Annotation file for v2. [default: ours, for test]")
    rollout: bool = option(False, "HEXAGONS: also score a rollout, in which each step is drawn on the model's own board.")
    by: tuple[str, ...] = option(())
    """Break the scores down by level, category, round, position or actions (HEXAGONS), by board, interpretations, yaw, actions or
    seen (Minecraft, IGLU), by kind (everyday), or by all. Repeatable."""
    save: bool = option(False, "Save the scores as scores.json in the run's folder.")
    as_json: bool = option(False, "Print JSON, with fractions, instead of tables in percent.", names=("--json",))


@click.command(cls=ModelCommand, model=Score)
def score(options: Score) -> None:
    """Score a predictions file or a run folder."""
    from eval.answers import read_answers
    from eval.asking import print_asking, score_asking
    from eval.attributes import group_scores
    from eval.printing import print_groups, print_scores
    from eval.score_run import Benchmark, score_answers
    from harness.util.files import write_atomically

    file, by = options.file, options.by
    if options.save and file.is_file():
        raise UsageError("--save writes to a run's folder: give the run, not a file")
    if options.ask_below is not None and options.benchmark != "ask":
        raise UsageError("--ask-below is for --benchmark ask only")
    answers = read_answers(file, items_file=options.items_file)
    if options.benchmark == "ask":
        scores = score_asking(answers, options.ask_below)
    else:
        how = Benchmark(options.benchmark, options.annotation)
        scores = score_answers(answers, how, rollout=options.rollout)
        keys = None if "all" in by else dict.fromkeys(by)
        scores |= {"groups": group_scores(answers, how, by=keys).tables} if by else {}
    if options.save:
        write_atomically(answers.file.parent / "scores.json", json.dumps(scores, indent=1) + "\n")
    if options.as_json:
        click.echo(json.dumps(scores))
    elif options.benchmark == "ask":
        print_asking(scores)
    else:
        print_scores(scores)
        print_groups(scores.get("groups", ()))
