"""Loading adapters: what an adapter folder must hold, and refusing one that does not fit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from harness.engines.shared import adapter_rank
from harness.errors import AdapterError, UsageError
from harness.models import display_name, fingerprint, resolve_base
from harness.runs import RUNS
from harness.weights import weights_fingerprint
from prompts.spec import PromptSpec

HARNESS_FILE = "harness.json"
CONFIG_FILE = "adapter_config.json"
WEIGHTS_FILE = "adapter_model.safetensors"


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter that fits its base and this harness's prompt format."""

    path: Path
    rank: int
    spec: PromptSpec
    """The prompt format it was trained in, and the only one it may be used with."""
    base: str
    """What to load it on: a local folder or a hub name."""


class _Saved(BaseModel):
    """What loading needs of harness.json."""

    task: str
    context: str
    format: str
    frame: str
    prompt_hash: str
    base: str
    base_fingerprint: str | None


class _Trained(BaseModel):
    """What a learning curve needs of it."""

    items: int


_S = TypeVar("_S", bound=BaseModel)


def load_adapter(folder: Path, base: str | None) -> Adapter:
    """The adapter in `folder`, which may be a run's folder or name, for a base model; None is the default one.

    Raises AdapterError for a folder that is not whole, and for an adapter of another base, of another prompt format or with
    weights beside LoRA's.
    """
    path = _find(folder)
    saved = _read_saved(path / HARNESS_FILE, _Saved)
    _check_modules(path / CONFIG_FILE)
    model = resolve_base(base)
    _check_base(path, saved, model)
    return Adapter(path, adapter_rank(path), _spec(path, saved), model)


def train_items(folder: Path, expected: str) -> int:
    """How many items the adapter in `folder`, given as to `load_adapter`, was trained on.

    Raises AdapterError if its fingerprint is not the expected one: the adapter was trained again since.
    """
    path = _find(folder)
    if (found := fingerprint(path)) != expected:
        raise AdapterError(f"{path} is another adapter ({found}) than the one that the run used ({expected})")
    return _read_saved(path / HARNESS_FILE, _Trained).items


def _find(folder: Path) -> Path:
    """The folder of a whole adapter."""
    places = (folder, folder / "adapter", RUNS / folder / "adapter")
    path = next((place for place in places if (place / CONFIG_FILE).is_file()), folder)
    for name in (CONFIG_FILE, HARNESS_FILE, WEIGHTS_FILE):
        if not (path / name).is_file():
            raise AdapterError(
                f"{folder} holds no adapter of this harness: {name} is not there; make one with `harness finetune`"
            )
    return path


def _read_saved(path: Path, wanted: type[_S]) -> _S:
    try:
        return wanted.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "content"
        raise AdapterError(f"{path}: {where}: {first['msg']}; the adapter must be trained again") from None
    except OSError as error:
        raise AdapterError(f"{path} cannot be read: {error.strerror}") from None


def _check_modules(path: Path) -> None:
    try:
        config: Any = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise AdapterError(f"{path} cannot be read: {error}") from None
    extra = config.get("modules_to_save") if isinstance(config, dict) else None
    if extra:
        raise AdapterError(f"{path}: modules_to_save is {extra}, and vLLM serves LoRA weights only: train without it")


def _check_base(path: Path, saved: _Saved, model: str) -> None:
    there, here = saved.base_fingerprint, weights_fingerprint(model)
    # The name has to do where the weights are not on this machine.
    same = there == here if there and here else saved.base == display_name(model)
    if not same:
        was, now = f"{saved.base} ({there or 'weights unknown'})", f"{display_name(model)} ({here or 'weights unknown'})"
        raise AdapterError(f"{path} was trained on the base {was}, not on {now}: name its own with --base, or train it again")


def _spec(path: Path, saved: _Saved) -> PromptSpec:
    try:
        spec = PromptSpec.make(saved.task, saved.context, saved.format, saved.frame)
    except UsageError as error:
        raise AdapterError(f"{path} was trained in a prompt format that is not known here: {error}") from None
    if spec.hash != saved.prompt_hash:
        raise AdapterError(
            f"{path} was trained with the prompt format {spec.name} as it was then ({saved.prompt_hash}); "
            f"its text is another now ({spec.hash}): train the adapter again"
        )
    return spec
