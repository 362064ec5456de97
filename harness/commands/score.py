"""`harness score`: the scores of a predictions file. No model is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from eval.score_run import Answers, Benchmark

BENCHMARK = "Minecraft: legacy (default), fair (default for simulated games) or v2."
LEVELS = "File with levels of abstraction, for groups by level. [default: ours, for dev]"


class ScoredRuns(Strict):
    """The options of commands that score runs."""

    runs: tuple[Path, ...] = argument()
    benchmark: str | None = option(None, BENCHMARK)
    annotation: Path | None = option(None, "Annotation file for v2. [default: ours, for test]")

    @property
    def how(self) -> Benchmark:
        from eval.score_run import Benchmark

        return Benchmark(self.benchmark, self.annotation)


class Score(Strict):
    file: Path = argument()
    task: str | None = option(None, "Must match the ids in the file; required only if the ids name no task.")
    split: str | None = option(None, "Must match the ids in the file; required only if the ids name no split.")
    items_file: Path | None = option(None, "The file from harness simulate whose items were answered.", names=("--items",))
    benchmark: str | None = option(None, f"{BENCHMARK} IGLU: legacy, fair or ask.")
    ask_below: float | None = option(None, "With --benchmark ask: also ask below this confidence.", ge=0, le=1)
    annotation: Path | None = option(None, "Annotation file for v2. [default: ours, for test]")
    rollout: bool = option(False, "HEXAGONS: also score a rollout, in which each step is drawn on the model's own board.")
    partial: bool = option(False, "For a run in progress: leave out a half-written last line.")
    by: tuple[str, ...] = option(())
    """Break the scores down by level, category, round, position or actions (HEXAGONS), by board, interpretations, yaw, actions or
    seen (Minecraft, IGLU), by kind (everyday), or by all. Repeatable."""
    levels: Path | None = option(None, LEVELS)
    save: bool = option(False, "Save the scores as scores.json in the run's folder.")
    seed: int = option(0, "Seed of the bootstrap.", ge=0)
    as_json: bool = option(False, "Print JSON, with fractions, instead of tables in percent.", names=("--json",))


@click.command(cls=ModelCommand, model=Score)
def score(options: Score) -> None:
    """Score a predictions file or a run folder."""
    from eval.score_run import Benchmark, read_answers, score_answers
    from eval.tables import print_groups, print_scores
    from harness.util.files import write_atomically

    file, by = options.file, options.by
    if options.save and file.is_file():
        raise UsageError("--save writes to a run's folder: give the run, not a file")
    if options.ask_below is not None and options.benchmark != "ask":
        raise UsageError("--ask-below is for --benchmark ask only")
    if options.levels and not {"level", "all"} & {*by}:
        raise UsageError("--levels is for --by level")
    how = None if options.benchmark == "ask" else Benchmark(options.benchmark, options.annotation, options.levels)
    answers = read_answers(file, task=options.task, split=options.split, items_file=options.items_file, partial=options.partial)
    if how is None:
        _asking(answers, options.ask_below, options.seed, options.as_json)
        return
    scores = score_answers(answers, how, rollout=options.rollout, seed=options.seed)
    if by:
        from eval.attributes import group_scores

        keys = None if "all" in by else dict.fromkeys(by)
        scores["groups"] = group_scores(answers, how, by=keys, seed=options.seed).tables
    if options.save:
        write_atomically(answers.file.parent / "scores.json", json.dumps(scores, indent=1) + "\n")
    if options.as_json:
        click.echo(json.dumps(scores))
    else:
        print_scores(scores)
        if by:
            print_groups(scores["groups"])


def _asking(answers: Answers, below: float | None, seed: int, as_json: bool) -> None:
    from eval.asking import print_asking, score_asking

    scores = score_asking(answers, below, seed=seed)
    if as_json:
        click.echo(json.dumps(scores))
    else:
        print_asking(scores)
