"""Checkpoints: where a killed training run resumes, and the folder of a baseline's trained model.

A model's folder holds config.json, model.safetensors, and possibly vocabulary.json. Every file is complete or absent.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from harness.engines.shared import brief
from harness.errors import DataError, UsageError
from harness.runs.folder import RUNS
from harness.training import SHIPPED
from harness.util.files import write_atomically
from harness.util.hashing import short_hash
from harness.util.settings import first_problem

S = TypeVar("S", bound=BaseModel)

CONFIG, WEIGHTS, VOCABULARY = "config.json", "model.safetensors", "vocabulary.json"
STATE = "trainer_state.json"
"""The state file of a training checkpoint."""


def own_weights(network: Any) -> dict[str, Any]:
    """A network's weights by name, without those of a frozen pretrained encoder and without second names of shared weights: a
    network lists the prefixes of such names in its attribute `borrowed`."""
    borrowed = tuple(getattr(network, "borrowed", ()))
    weights = network.state_dict().items()
    return {name: value.detach().cpu().contiguous() for name, value in weights if not name.startswith(borrowed)}


def last_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint of transformers' Trainer, which writes the state file last; None if there is none."""
    for path in sorted(folder.glob(f"checkpoint-*/{STATE}"), key=lambda path: checkpoint_step(path.parent), reverse=True):
        with suppress(OSError, ValueError):
            json.loads(path.read_bytes())
            return path.parent
    return None


def last_state(folder: Path) -> dict[str, Any]:
    """Trainer's state in the last checkpoint of the run in `folder`; empty if there is none."""
    checkpoint = last_checkpoint(folder / "checkpoints")
    return dict(json.loads((checkpoint / STATE).read_bytes())) if checkpoint else {}


def finished_at(state: Mapping[str, Any]) -> int | None:
    """The step at which the training that wrote this state finished; None if it did not."""
    over = state and state["stateful_callbacks"]["TrainerControl"]["args"]["should_training_stop"]
    return int(state["global_step"]) if over else None


def checkpoint_step(checkpoint: Path) -> int:
    """The step at which a checkpoint was written."""
    return int(checkpoint.name.rpartition("-")[2])


def restored(network: Any, folder: Path) -> Any:
    """The network with a model's weights, ready to answer. Raises DataError, in one line, for weights of another network."""
    weights, where = read_weights(folder), folder / WEIGHTS
    own = {name: tuple(value.shape) for name, value in own_weights(network).items()}
    stored = {name: tuple(value.shape) for name, value in weights.items()}
    for name in sorted({*own, *stored}):
        if own.get(name) != stored.get(name):
            here, theirs = own.get(name, "nothing"), stored.get(name, "nothing")
            raise DataError(f"{where}: the weights are of another variant: {name} is {theirs} there and {here} in this network")
    network.load_state_dict(weights, strict=False)
    return network.eval()


def write_model(folder: Path, config: Mapping[str, Any], weights: Mapping[str, Any], words: list[str] | None = None) -> None:
    """Write or overwrite a model's folder; its weights come last."""
    from safetensors.torch import save

    write_atomically(folder / CONFIG, json.dumps(config, indent=1) + "\n")
    if words is not None:
        write_atomically(folder / VOCABULARY, json.dumps(words, ensure_ascii=False, indent=0) + "\n")
    write_atomically(folder / WEIGHTS, save(dict(weights)))


def find_model(name: str) -> Path:
    """A model's folder, given by its path, by the folder or the name of the run that made it, or by a shipped model's name.

    Raises UsageError if there is none.
    """
    path = Path(name)
    for folder in (path, path / "model", RUNS / path / "model", SHIPPED / path):
        if (folder / WEIGHTS).is_file():
            return folder
    raise UsageError(f"--checkpoint {name}: no trained model is there; make one with `harness baseline train`")


def default_model(baseline: str, task: str) -> Path:
    """The folder of a baseline's default model: that of the run BASELINE-TASK, otherwise the one shipped for the task, otherwise
    the one shipped for the baseline.

    Raises UsageError if there is none.
    """
    for folder in (RUNS / f"{baseline}-{task}" / "model", SHIPPED / f"{baseline}-{task}", SHIPPED / baseline):
        if (folder / WEIGHTS).is_file():
            return folder
    raise UsageError(
        f"{baseline} has no trained model here: make one with `harness baseline train {baseline}`, or name one with --checkpoint"
    )


def model_source(folder: Path) -> str:
    """A model's folder in words, for a shipped model the same on every machine."""
    return f"the shipped checkpoint {folder.name}" if folder.parent == SHIPPED else str(folder)


def read_config(folder: Path, baseline: str) -> dict[str, Any]:
    """A model's configuration. Raises DataError for an invalid one, and for another baseline's."""
    path = folder / CONFIG
    try:
        config = json.loads(path.read_bytes())
        owner = config["baseline"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path} is not the configuration of a baseline: {brief(error)}") from None
    if owner != baseline:
        raise DataError(f"{folder} is a checkpoint of {owner}, not of {baseline}: use `harness baseline ... {owner}`")
    return dict(config)


def read_settings(folder: Path, schema: type[S], values: object, part: str = "") -> S:
    """A part of a model's configuration. Raises DataError, which names the part, if it does not fit the schema."""
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        raise DataError(f"{folder / CONFIG}: {f'{part}: ' if part else ''}{first_problem(error)}") from None


def read_words(folder: Path) -> list[str]:
    """A model's vocabulary. Raises DataError unless it is a list of words."""
    path = folder / VOCABULARY
    try:
        return TypeAdapter(list[str]).validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is no list of words: {brief(error)}") from None


def read_weights(folder: Path) -> dict[str, Any]:
    """A model's weights; those stored in float16 are converted to float32. Raises DataError for an invalid safetensors file."""
    import torch
    from safetensors.torch import load_file

    try:
        stored = load_file(folder / WEIGHTS)
    except Exception as error:
        raise DataError(f"{folder / WEIGHTS} cannot be read: {brief(error)}") from error
    return {name: value.float() if value.dtype == torch.float16 else value for name, value in stored.items()}


def digest(folder: Path) -> str:
    """16 hex digits over everything that decides a model's answers."""
    files = (path for path in (folder / CONFIG, folder / VOCABULARY, folder / WEIGHTS) if path.is_file())
    return short_hash(f"{path.name} {path.stat().st_size}".encode() + path.read_bytes() for path in files)
