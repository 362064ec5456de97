"""The checkpoints that ship with the package: exporting a trained model, and the list of all baselines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.baselines import BASELINES, Ruled
from harness.engines.shared import brief
from harness.errors import DataError, UsageError
from harness.tasks.registry import world_of
from harness.training.checkpoints import CARD, CONFIG, SHIPPED, VOCABULARY, WEIGHTS, read_weights, read_words, write_model
from harness.util.registry import resolve

SCORES = "scores.json"
"""The file of a checkpoint's scores in its folder; no answer depends on them, so they are not part of the digest."""


def export_model(folder: Path, target: Path, *, half: bool) -> None:
    """Copy a model to a new folder; `half` stores its weights in float16, which are loaded as float32.

    Raises UsageError if the target exists, and DataError if the model cannot be read or float16 cannot hold it.
    """
    import torch

    if target.exists():
        raise UsageError(f"{target} already exists: name a new folder")
    weights, card = read_weights(folder), (folder / CARD).read_text() if (folder / CARD).is_file() else ""
    if half:
        weights = {name: value.half() if value.dtype == torch.float32 else value for name, value in weights.items()}
        card += "\nThe weights are stored in float16 and used in float32.\n"
    for name, value in weights.items():
        if not value.isfinite().all():
            raise DataError(f"{folder / WEIGHTS}: {name} holds values that are not numbers{', or too large for float16' * half}")
    words = read_words(folder) if (folder / VOCABULARY).is_file() else None
    write_model(target, _values(folder / CONFIG), weights, words, card)


def catalog() -> list[tuple[str, ...]]:
    """A row for every baseline with each of its shipped checkpoints: the baseline, its tasks, the checkpoint or why there is
    none, its megabytes and parameters, and its score with its label, otherwise its dev loss. Raises DataError if a checkpoint
    cannot be read."""
    folders: dict[str, list[Path]] = {}
    for path in sorted(SHIPPED.glob(f"*/{WEIGHTS}")):
        folders.setdefault(str(_values(path.parent / CONFIG).get("baseline")), []).append(path.parent)
    rows: list[tuple[str, ...]] = []
    for name in BASELINES:
        baseline = resolve("baseline", name, BASELINES)()
        rows += [_row(name, baseline.tasks, folder) for folder in folders.get(name, [])]
        if name not in folders:
            lacking = "needs none" if isinstance(baseline, Ruled) else "none: train it"
            rows.append((name, " or ".join(baseline.tasks), lacking, "", "", ""))
    return rows


def _row(name: str, tasks: Sequence[str], folder: Path) -> tuple[str, ...]:
    config, path = _values(folder / CONFIG), folder / WEIGHTS
    parameters = sum(value.numel() for value in read_weights(folder).values())
    own = str(config["task"]) if "task" in config else " or ".join(tasks)
    return name, own, folder.name, f"{path.stat().st_size / 1e6:,.1f}", f"{parameters:,}", _judged(folder, config)


def _judged(folder: Path, config: dict[str, Any]) -> str:
    if (folder / SCORES).is_file():
        scores = _values(folder / SCORES)
        numbers = scores["action"] if world_of(scores["task"]) == "hexagons" else scores["micro"]["overall"]
        return f"F1 {100 * numbers['f1']:.2f} on {scores['split']}"
    return f"dev loss {config['dev_loss']:.3f}" if "dev_loss" in config else ""


def _values(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {brief(error)}") from None
    if not isinstance(values, dict):
        raise DataError(f"{path}: not a JSON object")
    return values
