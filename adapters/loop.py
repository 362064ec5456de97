"""What both kinds of training share: where a run that was killed goes on, and a clock that does not stop there."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from harness.engines.shared import fast_bf16 as fast_bf16


def last_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint of transformers' Trainer; its state file is what it writes last."""
    complete = [path.parent for path in folder.glob("checkpoint-*/trainer_state.json")]
    return max(complete, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def clock() -> Any:
    """A Trainer callback that adds `seconds` to every entry of the log: training time over all processes of the run, where
    one that was killed counts up to its last checkpoint."""
    from transformers import TrainerCallback

    class Clock(TrainerCallback):  # type: ignore[misc]
        start = 0.0

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.start = time.monotonic() - max((entry.get("seconds", 0.0) for entry in state.log_history), default=0.0)

        def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            state.log_history[-1]["seconds"] = round(time.monotonic() - self.start, 1)

    return Clock()
