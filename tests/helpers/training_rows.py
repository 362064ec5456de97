"""Training rows made without a renderer."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.labels import Pack
from adapters.packing import plan_packs
from adapters.rows import TrainingRows
from prompts.rendered import TrainingRow


def rows_of(groups: Sequence[Sequence[TrainingRow]]) -> TrainingRows:
    """The rows of some procedures or games."""
    return TrainingRows(((row, str(number)) for number, group in enumerate(groups) for row in group), 10**6)


def pack_of(rows: Sequence[TrainingRow]) -> Pack:
    """One pack of all the rows."""
    (plan,) = plan_packs(rows, [range(len(rows))], 10**6, 10**6)
    return plan.write()
