"""Training rows: an item's prompt and answer as tokens, with the loss on the answer and its stop token only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.corpora.item import Item
from prompts.render import Renderer
from prompts.rendered import TrainingRow
from prompts.shots import ShotPool


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that fit, and how many were dropped because they did not."""

    kept: tuple[TrainingRow, ...]
    dropped: int

    def dataset(self) -> Any:
        """The columns that TRL's SFTTrainer takes: `input_ids` and `completion_mask`, 1 where the loss is."""
        from datasets import Dataset

        return Dataset.from_dict(
            {
                "input_ids": [[*row.prompt_ids, *row.completion_ids] for row in self.kept],
                "completion_mask": [[0] * len(row.prompt_ids) + [1] * len(row.completion_ids) for row in self.kept],
            }
        )


def make_rows(items: Sequence[Item], renderer: Renderer, pool: ShotPool, shots: int, max_length: int) -> Rows:
    """One row an item, in order; a row of more than `max_length` tokens is dropped, for a cut one would teach half an answer."""
    rows = [renderer.training_row(item, pool.choose(item, shots)) for item in items]
    kept = tuple(row for row in rows if len(row.prompt_ids) + len(row.completion_ids) <= max_length)
    return Rows(kept, len(rows) - len(kept))
