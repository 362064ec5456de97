"""A training as a run in its own folder, whatever is trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eval.report.curves import training_curve
from harness.engines.shared import keep_memory
from harness.runs.folder import Run, log_to
from harness.training.job import Job, Trained
from harness.training.processes import first_says, processes
from harness.util.files import write_atomically


def train(job: Job, folder: Path, say: Callable[[str], None], more: Mapping[str, Any] | None = None) -> Trained | None:
    """Train in a run's folder, resuming a killed run; None if the run is finished. `more` are further settings of the run.

    Of several processes, the first writes and reports. Raises UsageError for a folder with a run of other settings, before any
    process begins, and else as `Job.train` does.
    """
    keep_memory()
    own = processes()
    with own.main_process_first():
        run = Run(folder, job.settings() | dict(more or {})) if own.is_main_process else None
        finished = job.is_finished(folder)
    try:
        if finished:
            return None
        if run:
            log_to(folder)
        result = job.train(folder, first_says(say))
    finally:
        if run:
            run.close()
    if run and result.curve:
        write_atomically(folder / "curve.svg", training_curve(result.curve, result.kept))
    return result
