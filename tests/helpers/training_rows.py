"""Training rows made without a renderer."""

from collections.abc import Sequence

from adapters.rows import TrainingRows
from prompts.rendered import TrainingRow


def rows_of(groups: Sequence[Sequence[TrainingRow]]) -> TrainingRows:
    """The rows of some procedures or games."""
    return TrainingRows(((row, str(number)) for number, group in enumerate(groups) for row in group), 10**6)
