"""The hybrid of two runs over the same items, as scores and as a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from eval.confidence import confidences
from eval.predictions import Predictions
from eval.score_run import Answers, score_answers
from harness.errors import UsageError
from harness.runs.folder import RUNS, Run


@dataclass(frozen=True)
class Hybrid:
    """Two runs over the same items: the first answers where it is confident enough, the second elsewhere.

    Raises UsageError for runs over different items and for a first one without confidences.
    """

    sure: Answers
    other: Answers

    def __post_init__(self) -> None:
        sure, other = ((a.task, a.split, a.only) for a in (self.sure, self.other))
        if sure != other:
            raise UsageError(f"{self.sure.name} and {self.other.name} answer different items; a hybrid needs the same")

    @cached_property
    def _confidence(self) -> Mapping[str, float]:
        return confidences(self.sure)

    def _source(self, item_id: str, below: float) -> Answers:
        """The run that answers an item."""
        return self.sure if self._confidence.get(item_id, 0.0) >= below else self.other

    def scores(self, below: float) -> dict[str, Any]:
        """The hybrid's scores if the second run answers all items with a confidence under `below`."""
        chosen = {item.id: self._source(item.id, below).predictions for item in self.sure.items}
        actions = {item_id: source.actions[item_id] for item_id, source in chosen.items() if item_id in source.actions}
        errors = frozenset(item_id for item_id, source in chosen.items() if item_id in source.errors)
        return score_answers(replace(self.sure, predictions=Predictions(actions, errors)))

    def write(self, below: float, name: str) -> Run:
        """The hybrid as the run `runs/<name>`; every answer says which run it is "from"."""
        settings = {
            "command": "hybrid",
            "task": self.sure.task,
            "split": self.sure.split,
            "runs": [self.sure.name, self.other.name],
            "sha256": [hashlib.sha256(answers.file.read_bytes()).hexdigest() for answers in (self.sure, self.other)],
            "below": below,
            **{key: self.sure.settings[key] for key in ("limit", "items_file") if self.sure.settings.get(key)},
        }
        records = []
        for item in self.sure.items:
            source = self._source(item.id, below)
            if item.id in source.records:
                actions = [list(action) for action in source.predictions.actions.get(item.id, ())]
                records.append({"id": item.id, **source.records[item.id], "actions": actions, "from": source.name})
        with closing(Run(RUNS / name, settings)) as run:
            run.keep(records)
        return run
