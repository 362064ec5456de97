"""How a baseline's answers become a run: its options, the batches, and the boards that its own answers draw."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.baselines import Baseline, Decoding, Predictor, Ruled
from harness.corpora.item import Item
from harness.errors import UsageError
from harness.runs.answering import Rollout, batches, resume_batches
from harness.runs.folder import Run
from harness.util.progress import bar

log = logging.getLogger(__name__)


def decoding_of(name: str, baseline: Baseline | Ruled, asked: Mapping[str, Any]) -> Decoding:
    """The decoding that is asked for; a value of None or False was not asked for. Raises UsageError for what it does not know."""
    given = {key: value for key, value in asked.items() if value is not None and value is not False}
    for key in given:
        if key not in baseline.decoding:
            known = ", ".join(f"--{own}" for own in baseline.decoding)
            raise UsageError(f"--{key}: {name} has no such option; it has {known or 'none of the kind'}")
    if "share" in given and "samples" not in given:
        raise UsageError("--share is of the votes of drawn answers: give --samples too")
    return replace(Decoding(), **given)


def known_decoding(baseline: Baseline | Ruled, decoding: Decoding) -> dict[str, Any]:
    """The part of it that decides this baseline's answers."""
    return {key: getattr(decoding, key) for key in baseline.decoding}


def answer(
    run: Run, items: Sequence[Item], predictor: Predictor, decoding: Decoding, say: Callable[[str], None] = log.info
) -> None:
    """The answers that are not there yet, in fixed batches, each on disk before the next batch is asked for.

    A batch that was interrupted is done again as a whole, so that the end is the same as if nothing had happened.
    `say` is told where a run is gone on with.
    """
    planned = batches(items, predictor.batch_size, rolls_out=predictor.rolls_out)
    todo = resume_batches(run, planned)
    rollout = Rollout(run.records) if predictor.rolls_out else None
    before = len(run.records)
    if before:
        say(f"{before} items are answered already; going on with the rest")
    with bar("items", len(items) - before) as update:
        for batch in todo:
            began = time.monotonic()
            seen = [rollout.before(item) for item in batch] if rollout else batch
            for item, given in zip(batch, predictor.predict(seen, decoding), strict=True):
                end = "stop" if given.stopped else "length"
                actions = [list(action) for action in given.actions]
                record = {"id": item.id, "actions": actions, "finish_reason": end, **given.notes}
                run.append(record)
                if rollout:
                    rollout.draw(record)
            update(len(run.records) - before)
            log.info("%d items, 0 errors, 0 + 0 tokens in %.1f s", len(batch), time.monotonic() - began)
