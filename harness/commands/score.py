"""`harness score`: what a predictions file is worth. No model is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError

if TYPE_CHECKING:
    from eval.score_run import Answers


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--task", help="Checked against the ids in the file; needed if it has none.")
@click.option("--split", help="Checked against the ids in the file; needed if it has none.")
@click.option("--items", "items_file", type=click.Path(path_type=Path), help="The file from harness simulate that was answered.")
@click.option("--benchmark", help="Minecraft: legacy (default), fair or v2. IGLU: legacy, fair or ask.")
@click.option("--ask-below", type=click.FloatRange(0, 1), help="With --benchmark ask: ask below this confidence, too.")
@click.option(
    "--annotation",
    type=click.Path(path_type=Path),
    help="Annotation file for v2. [default: ours, for test]",
)
@click.option("--rollout", is_flag=True, help="HEXAGONS: also score boards drawn on the predicted boards.")
@click.option("--partial", is_flag=True, help="Leave out a half-written last line, for a run in progress.")
@click.option(
    "--by", multiple=True, help="Also by level, category, round, position or actions; board, interpretations, yaw or seen; all."
)
@click.option("--save", is_flag=True, help="Save the scores as scores.json in the run's folder.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with fractions, instead of tables in percent.")
def score(
    file: Path,
    task: str | None,
    split: str | None,
    items_file: Path | None,
    benchmark: str | None,
    ask_below: float | None,
    annotation: Path | None,
    rollout: bool,
    partial: bool,
    by: tuple[str, ...],
    save: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Score a predictions file or a run folder."""
    from eval.score_run import Benchmark, read_answers, score_answers
    from eval.tables import print_groups, print_scores
    from harness.util.files import write_atomically

    if save and file.is_file():
        raise UsageError("--save writes to a run's folder: give the run, not a file")
    if ask_below is not None and benchmark != "ask":
        raise UsageError("--ask-below is for --benchmark ask only")
    if benchmark == "ask":
        _asking(read_answers(file, task=task, split=split, items_file=items_file, partial=partial), ask_below, seed, as_json)
        return
    how = Benchmark(benchmark, annotation)
    answers = read_answers(file, task=task, split=split, items_file=items_file, partial=partial)
    scores = score_answers(answers, how, rollout=rollout, seed=seed)
    if by:
        from eval.attributes import group_scores

        keys = None if "all" in by else dict.fromkeys(by)
        scores["groups"] = group_scores(answers, how, by=keys, seed=seed).tables
    if save:
        write_atomically(answers.file.parent / "scores.json", json.dumps(scores, indent=1) + "\n")
    if as_json:
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
