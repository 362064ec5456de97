"""The end of a run: scores it, and reports what was lost."""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from eval.answers import answers_to
from eval.predictions import Record
from eval.printing import print_scores
from eval.score_run import score_answers
from harness.corpora.item import Item
from harness.runs.folder import Run, described
from harness.util.files import write_atomically
from serialization.formats.answer import losses

log = logging.getLogger(__name__)


def finish(run: Run, items: Sequence[Item], *, as_json: bool, longest: str) -> int:
    """Score the run's records, save and print the scores, and report what was left out. Returns the exit code: 1 if items failed.

    `longest` is the flag that bounds the length of an answer.
    """
    records = [Record(number, record["id"], record) for number, record in enumerate(run.records, start=1)]
    settings = described(run.folder) or {}
    answers = answers_to(items, settings.get("items_file"), run.folder.name, run.predictions, records, settings)
    scores = score_answers(answers)
    write_atomically(run.folder / "scores.json", json.dumps(scores, indent=1) + "\n")
    if as_json:
        click.echo(json.dumps(scores))
    else:
        print_scores(scores)
        click.echo(f"{run.predictions}, {run.folder / 'scores.json'}")
    for label, lost in what_was_lost(run.records, longest).items():
        log.info("%s: %s", label, lost)
        click.echo(f"{label}: {lost}", err=True)
    errors = [record for record in run.records if "error" in record]
    if errors:
        log.error("%s: %s", errors[0]["id"], errors[0]["error"])
        click.echo(
            f"Error: {len(errors)} of {len(items)} items have no answer and count as empty; run the command again to retry them. "
            f"First: {errors[0]['id']}: {errors[0]['error']}",
            err=True,
        )
    thinking = sum(record.get("finish_reason") == "thinking" for record in run.records)
    answered = len(run.records) - len(errors)
    if thinking > answered / 2:
        click.echo(
            f"Error: most answers ({thinking} of {answered}) ended while the model was still thinking, so the scores say little: "
            f"raise {longest}, lower its reasoning_effort or turn thinking off",
            err=True,
        )
    return 1 if errors or thinking > answered / 2 else 0


def what_was_lost(records: Iterable[Mapping[str, Any]], longest: str = "") -> dict[str, str]:
    """By a label, how much of prompts and answers was left out, cut or not understood; labels without any are missing. `longest`
    is the flag that bounds the length of an answer."""
    records = list(records)
    lost = {}
    for label, key in (("turns of history left out", "dropped_history"), ("examples left out", "dropped_shots")):
        counts = [record[key] for record in records if isinstance(record.get(key), int) and record[key]]
        lost[label] = f"{sum(counts):,} in {len(counts):,} prompts" if counts else ""
    limit = f"answers cut at the length limit{f' ({longest})' if longest else ''}"
    for label, end in ((limit, "length"), ("answers ended while thinking", "thinking")):
        lost[label] = f"{sum(record.get('finish_reason') == end for record in records):,}"
    pieces = ([p for p in record.get("discarded") or () if isinstance(p, list | tuple) and len(p) == 2] for record in records)
    lost["answers with parts that are not actions"] = f"{sum(bool(losses(of)) for of in pieces):,}"
    return {label: count for label, count in lost.items() if count not in ("", "0")}
