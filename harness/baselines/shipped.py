"""The checkpoints that ship with the package: exporting a trained model, and the list of all baselines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from harness.baselines import BASELINES, Ruled
from harness.engines.shared import brief
from harness.errors import DataError, UsageError
from harness.tasks import world_of
from harness.training.checkpoints import CARD, CONFIG, SHIPPED, VOCABULARY, WEIGHTS, read_weights, read_words, write_model
from harness.util.registry import resolve

SCORES = "scores.json"
"""The file of a checkpoint's scores in its folder; no answer depends on them, so they are not part of the digest."""


@dataclass(frozen=True, slots=True)
class CheckpointEntry:
    """A baseline, with one of its shipped checkpoints if it has any."""

    baseline: str
    tasks: tuple[str, ...]
    checkpoint: str
    """The name of the shipped checkpoint, or why there is none."""
    megabytes: float | None = None
    parameters: int | None = None
    judged: str = ""
    """The checkpoint's score with its label, otherwise its dev loss."""


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


def catalog() -> list[CheckpointEntry]:
    """Every baseline with each of its shipped checkpoints. Raises DataError if a checkpoint cannot be read."""
    folders: dict[str, list[Path]] = {}
    for path in sorted(SHIPPED.glob(f"*/{WEIGHTS}")):
        folders.setdefault(str(_values(path.parent / CONFIG).get("baseline")), []).append(path.parent)
    entries = []
    for name in BASELINES:
        baseline = resolve("baseline", name, BASELINES)()
        entries += [_entry(name, baseline.tasks, folder) for folder in folders.get(name, [])]
        if name not in folders:
            entries.append(
                CheckpointEntry(name, baseline.tasks, "needs none" if isinstance(baseline, Ruled) else "none: train it")
            )
    return entries


def _entry(name: str, tasks: tuple[str, ...], folder: Path) -> CheckpointEntry:
    from safetensors import SafetensorError, safe_open

    config, path = _values(folder / CONFIG), folder / WEIGHTS
    try:
        with safe_open(path, "np") as weights:
            parameters = sum(prod(weights.get_slice(key).get_shape()) for key in weights.keys())  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise DataError(f"{path} cannot be read: {brief(error)}") from error
    own = (str(config["task"]),) if "task" in config else tasks
    return CheckpointEntry(name, own, folder.name, path.stat().st_size / 1e6, parameters, _judged(folder, config))


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
