"""Training rows made without a renderer."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from adapters.rows import TrainingRows
from prompts.rendered import TrainingRow


def rows_of(groups: Sequence[Sequence[TrainingRow]]) -> TrainingRows:
    """The rows of some procedures or games."""
    rows = [(row, str(number)) for number, group in enumerate(groups) for row in group]
    columns = {
        "id": pa.array([row.id for row, _ in rows], pa.string()),
        "cluster": pa.array([cluster for _, cluster in rows], pa.string()),
        "tokens": pa.array([row.token_ids for row, _ in rows], pa.list_(pa.int32())),
        "prompt_length": pa.array([len(row.prompt_ids) for row, _ in rows], pa.int32()),
    }
    return TrainingRows(pa.table(columns), 10**6)
