"""The score as a reward for TRL; `harness.plugins.rows.dataset` makes the prompts.

from harness.plugins.rows import dataset
from harness.plugins.trl import reward

trainer = GRPOTrainer(model, reward_funcs=reward, train_dataset=dataset("minecraft", "train"), ...)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.plugins.rows import score_row


def reward(completions: Sequence[Any], id: Sequence[str], spec: Sequence[str], **_: Any) -> list[float]:
    """The F1 of each answer, 0..1, plus 0.5 if it is exact. `completions` are texts or lists of messages."""
    texts = [one if isinstance(one, str) else one[-1]["content"] for one in completions]
    counts = [score_row(*row) for row in zip(id, spec, texts, strict=True)]
    return [row.f1 + 0.5 * row.exact for row in counts]
