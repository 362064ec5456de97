"""The end of a run: scores it, and reports what was lost."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import click

from eval.score_run import read_answers, score_answers
from eval.tables import print_scores
from harness.corpora.item import Item
from harness.runs.folder import Run
from harness.util.files import write_atomically
from serialization.formats.answer import losses

log = logging.getLogger(__name__)


def finish(run: Run, items: Sequence[Item], *, as_json: bool, longest: str, shots: int = 0) -> int:
    """Score the run, save and print the scores, and report what was left out. Returns the exit code: 1 if items failed.

    `longest` is the flag that bounds the length of an answer, `shots` the number of examples that were asked for.
    """
    scores = score_answers(read_answers(run.folder, ids=[item.id for item in items]))
    write_atomically(run.folder / "scores.json", json.dumps(scores, indent=1) + "\n")
    if as_json:
        click.echo(json.dumps(scores))
    else:
        print_scores(scores)
        click.echo(f"{run.predictions}, {run.folder / 'scores.json'}")
    for line in _losses(run.records, longest, shots):
        log.info(line)
        click.echo(line, err=True)
    errors = [record for record in run.records if "error" in record]
    if errors:
        log.error("%s: %s", errors[0]["id"], errors[0]["error"])
        click.echo(
            f"Error: {len(errors)} of {len(items)} items have no answer and count as empty; run the command again to retry them. "
            f"First: {errors[0]['id']}: {errors[0]['error']}",
            err=True,
        )
    thinking, answered = _thinking(run.records), len(run.records) - len(errors)
    if thinking > answered / 2:
        click.echo(
            f"Error: most answers ({thinking} of {answered}) ended while the model was still thinking, so the scores say little: "
            f"raise {longest}, lower --reasoning-effort or turn thinking off",
            err=True,
        )
    return 1 if errors or thinking > answered / 2 else 0


def _thinking(records: Sequence[Mapping[str, Any]]) -> int:
    return sum(record.get("finish_reason") == "thinking" for record in records)


def _losses(records: Sequence[Mapping[str, Any]], longest: str, shots: int) -> list[str]:
    """What did not fit or was discarded, in words; nothing is cut silently."""
    counts = {
        "turns of history left out to fit the context: {total} in {n} prompts": "dropped_history",
        f"examples missing of the {shots} requested: {{total}} in {{n}} prompts (no room, or no more to choose from)": (
            "dropped_shots"
        ),
    }
    lines = []
    for text, key in counts.items():
        lost = [record[key] for record in records if record.get(key)]
        if lost:
            lines.append(text.format(n=len(lost), total=sum(lost)))
    cut = sum(record.get("finish_reason") == "length" for record in records)
    thinking = _thinking(records)
    lines += [f"{thinking} answers ended while the model was still thinking ({longest})"] if thinking else []
    unread = sum(bool(losses(record.get("discarded") or ())) for record in records)
    lines += [f"{cut} answers were cut at the length limit ({longest})"] if cut else []
    lines += [f"{unread} answers have parts that are not actions"] if unread else []
    return lines
