"""`harness score`: what a predictions file is worth. No model is needed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import click

from eval.tables import print_scores
from harness.errors import DataError, UsageError
from harness.registry import choose

__all__ = ["print_scores", "score", "score_file"]


def score_file(
    path: Path,
    *,
    task: str | None = None,
    split: str | None = None,
    benchmark: str | None = None,
    ids: Collection[str] | None = None,
    rollout: bool = False,
    partial: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """The scores of a predictions file, or of a run given by its folder or name, as `harness score --json` prints them.

    `ids` are the items to score; without them it is those a run was asked for, or else the whole split. `partial` leaves out
    a half-written last line (a run in progress), `rollout` adds HEXAGONS boards drawn on predicted boards. Raises DataError
    for what is wrong in the file, with its line, and UsageError for arguments that do not fit it.
    """
    from eval.predictions import decode, read_records
    from eval.score import score
    from harness.corpora import load
    from harness.runs import find_run

    file = path if path.is_file() else find_run(str(path)) / "predictions.jsonl"
    settings = {} if path.is_file() else _run_settings(file.parent)
    records = read_records(file, partial=partial)
    task, split = _task_and_split(file, records, task or settings.get("task"), split or settings.get("split"))
    _check_benchmark(task, benchmark)
    items = load(task, split)
    known = {item.id for item in items}
    predictions = decode(file, records, task, known, _parse)
    if ids is None:
        items = items[: settings.get("limit")]
    else:
        wanted = set(ids)
        if strange := wanted - known:
            raise UsageError(f"{min(strange)!r} is not an item of {task}/{split}")
        items = [item for item in items if item.id in wanted]
    return score(task, split, items, predictions, benchmark=benchmark or "legacy", rollout=rollout, seed=seed)


def _run_settings(folder: Path) -> dict[str, Any]:
    """What run.yaml says of the items that were to be answered: task, split and limit, as far as it does."""
    import yaml

    file = folder / "run.yaml"
    if not file.exists():
        return {}
    try:
        settings = yaml.safe_load(file.read_bytes())["settings"]
        kinds = {"task": str, "split": str, "limit": int}
        return {key: settings[key] for key, kind in kinds.items() if isinstance(settings.get(key), kind)}
    except (OSError, yaml.YAMLError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"{file}: not a run's description; score {folder / 'predictions.jsonl'} itself") from error


def _parse(name: str, task: str, text: str) -> Iterable[Any]:
    from serialization.formats import get_format

    return get_format(task, name).parse(text).actions


def _task_and_split(file: Path, records: list[Any], task: str | None, split: str | None) -> tuple[str, str]:
    """Those of the ids, checked against what was asked for."""
    from eval.predictions import infer_split
    from harness.corpora import SPLITS, split_name

    found = infer_split(file, records)
    if found is None:
        if task is None or split is None:
            raise UsageError(f"{file} holds no predictions to tell the task and the split from: give --task and --split")
        return task, split_name(task, split)
    if found[1] not in SPLITS.get(found[0], ()):
        known = ", ".join(f"{name}/{part}" for name, parts in SPLITS.items() for part in parts)
        raise DataError(f"{file}:{records[0].line}: no corpus has the items of {'/'.join(found)}; known: {known}")
    if task not in (None, found[0]) or (split is not None and split_name(found[0], split) != found[1]):
        asked = f"{task or found[0]}/{split or found[1]}"
        raise DataError(f"{file}:{records[0].line}: predictions for {'/'.join(found)}, not for {asked} as asked for")
    return found


def _check_benchmark(task: str, benchmark: str | None) -> None:
    from eval.score import BENCHMARKS

    if benchmark and task != "minecraft":
        raise UsageError(f"--benchmark is for minecraft; {task} has one set of scores")
    if benchmark == "v2":
        raise UsageError("--benchmark v2 cannot be computed by this version: choose legacy or fair")
    if benchmark:
        choose("benchmark", benchmark, BENCHMARKS)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--task", help="Checked against the ids in the file; needed where it has none.")
@click.option("--split", help="Checked against the ids in the file; needed where it has none.")
@click.option("--benchmark", help="Minecraft: legacy (default) or fair.")
@click.option("--annotation", type=click.Path(path_type=Path), help="Annotation file of the v2 benchmark.")
@click.option("--rollout", is_flag=True, help="HEXAGONS: also score boards drawn on the predicted boards.")
@click.option("--partial", is_flag=True, help="Leave out a half-written last line, for a run in progress.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with fractions, instead of tables in percent.")
def score(
    file: Path,
    task: str | None,
    split: str | None,
    benchmark: str | None,
    annotation: Path | None,
    rollout: bool,
    partial: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Score a predictions file or a run folder."""
    if annotation and benchmark != "v2":
        raise UsageError("--annotation is for --benchmark v2 only")
    scores = score_file(file, task=task, split=split, benchmark=benchmark, rollout=rollout, partial=partial, seed=seed)
    if as_json:
        click.echo(json.dumps(scores))
    else:
        print_scores(scores)
