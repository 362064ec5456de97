"""Adapters that others published, as peft saved them: checked, copied to a run's folder, and marked as imported."""

import json
import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapters.registry import CONFIG_FILE, HARNESS_FILE, WEIGHTS_FILE, Adapter, check_weights, from_hub, save_template
from harness.engines.models.bases import base_origin, display_name, resolve_base
from harness.engines.models.weights import weights_fingerprint
from harness.engines.shared import adapter_config, adapter_rank, brief
from harness.errors import AdapterError, EngineError, HarnessError, UsageError
from harness.runs.folder import RUNS, provenance
from harness.util.files import filled
from harness.util.hashing import file_sha256
from prompts.probe import described
from prompts.spec import PromptSpec


def import_adapter(source: str, spec: PromptSpec, base: str | None = None, name: str | None = None) -> Adapter:
    """Copy the peft adapter in the folder `source` or on the hub, USER/NAME or USER/NAME@REVISION, to runs/`name`/adapter (by
    default the folder's name, or NAME), complete or absent.

    `spec` is the prompt format that it answers best in, which none of its files record. With `base` None, the base is the one
    that its configuration names. Raises UsageError if the run exists, and AdapterError for a folder that holds no LoRA adapter
    in safetensors, for links out of it, for broken weights and for a base whose weights are here and do not fit.
    """
    downloaded = from_hub(source)
    folder = downloaded or Path(source)
    run = RUNS / (name or (Path(source.partition("@")[0]) if downloaded else folder.resolve()).name)
    if run.exists() and (not run.is_dir() or any(run.iterdir())):
        raise UsageError(f"{run} already exists: choose another --name")
    _check_files(folder)
    config = adapter_config(folder)
    _check_config(folder, config)
    adapter = Adapter(folder, adapter_rank(folder), spec, _base(folder, config, base))
    check_weights(adapter)
    try:
        with filled(run) as partial:
            own = partial / "adapter"
            own.mkdir()
            for file in (CONFIG_FILE, WEIGHTS_FILE):
                shutil.copyfile(folder / file, own / file)
            save_template(spec, own)
            about = _about(folder, own, adapter, config)
            (own / HARNESS_FILE).write_text(json.dumps(about, indent=1) + "\n")
    except OSError as error:
        raise HarnessError(f"{run} cannot be written: {error.strerror or brief(error)}") from error
    return replace(adapter, path=run / "adapter")


def _check_files(folder: Path) -> None:
    """Raises AdapterError unless the folder itself holds a configuration and weights in safetensors."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: give the one that holds {CONFIG_FILE} and {WEIGHTS_FILE}")
    for file in (CONFIG_FILE, WEIGHTS_FILE):
        path = folder / file
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            raise AdapterError(f"{path} is a link to a file outside the folder: copy it with cp -rL")
        if not path.is_file():
            why = "; other formats of weights can run code when they are read, and are never loaded: convert them to safetensors"
            raise AdapterError(f"{folder} holds no adapter: {file} is not there{why if file == WEIGHTS_FILE else ''}")


def _check_config(folder: Path, config: dict[str, Any]) -> None:
    """Raises AdapterError for another kind of adapter than LoRA, and for a configuration that peft rejects."""
    from peft import LoraConfig

    path = folder / CONFIG_FILE
    if config.get("peft_type") != "LORA":
        raise AdapterError(f"{path}: peft_type is {config.get('peft_type')!r}; this harness takes LORA (also DoRA and rsLoRA)")
    if config.get("megatron_config"):
        raise AdapterError(f"{path}: megatron_config names a module to import, which this harness does not do")
    try:
        with warnings.catch_warnings(action="ignore"):
            LoraConfig.from_pretrained(str(folder))
    except Exception as error:
        raise AdapterError(f"{path}: peft rejects it: {brief(error)}") from error


def _base(folder: Path, config: dict[str, Any], base: str | None) -> str:
    """The base to load it on. Raises AdapterError if its configuration names none that could be found."""
    named, revision = base or config.get("base_model_name_or_path"), config.get("revision")
    if not isinstance(named, str) or not named:
        raise AdapterError(f"{folder / CONFIG_FILE} names no base: give it with --base")
    if not base and revision not in (None, "main") and not Path(named).is_dir():
        named = f"{named}@{revision}"
    try:
        return resolve_base(named)
    except EngineError as error:
        if base:
            raise
        raise AdapterError(f"{folder / CONFIG_FILE} names the base {named}, which is not here: give it with --base") from error


def _about(folder: Path, copied: Path, adapter: Adapter, config: dict[str, Any]) -> dict[str, Any]:
    """The content of harness.json. It says nothing about the training, which nobody recorded."""
    return {
        **described(adapter.spec),
        "base": display_name(adapter.base),
        "base_fingerprint": weights_fingerprint(adapter.base),
        **base_origin(adapter.base),
        "imported": {
            "from": folder.resolve().name,
            "base": config.get("base_model_name_or_path"),
            "sha256": {file: file_sha256(copied / file) for file in (CONFIG_FILE, WEIGHTS_FILE)},
        },
        **provenance(),
    }
