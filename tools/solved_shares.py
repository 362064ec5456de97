"""Record what players score on the benchmark `everyday`, for the page: `python tools/solved_shares.py PLAYER=RUN ...`.

A run must answer the whole test split of everyday-hexagons or everyday-minecraft. harness/everyday/solved.json keeps the others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.score_run import read_answers, score_answers
from harness.errors import HarnessError, UsageError
from harness.everyday.solved import FILE, shares
from harness.tasks import get_task, world_of
from harness.util.files import write_atomically


def record(named: Sequence[str], file: Path = FILE) -> None:
    """Add the shares of runs, each as PLAYER=RUN. Raises UsageError for a run that does not answer all of a test split."""
    known = {player: dict(own) for player, own in shares().items()}
    for one in named:
        player, equals, run = one.partition("=")
        if not (player and equals and run):
            raise UsageError(f"{one}: write PLAYER=RUN, the player's name and the run that it answered in")
        answers = read_answers(Path(run))
        scores = score_answers(answers)
        if not get_task(answers.task).judged or answers.split != "test":
            raise UsageError(f"{run} answers {answers.task}/{answers.split}: take a run over the test split of an everyday task")
        if answers.only is not None or scores["missing"] or scores["errors"]:
            raise UsageError(f"{run} does not answer all of {answers.task}/test: run it again without --limit, to its end")
        known.setdefault(player, {})[world_of(answers.task)] = round(scores["requests"]["solved"], 4)
    ordered = {player: dict(sorted(own.items())) for player, own in sorted(known.items())}
    write_atomically(file, json.dumps(ordered, indent=1) + "\n")


if __name__ == "__main__":
    try:
        record(sys.argv[1:])
    except HarnessError as error:
        sys.exit(f"Error: {error}")
