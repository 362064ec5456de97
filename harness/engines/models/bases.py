"""Base models by name (the default one, a local folder or a hub name) and their fingerprints."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.engines.models.known import KNOWN, converted
from harness.engines.models.weights import base_folder, downloaded, snapshot
from harness.engines.shared import brief
from harness.errors import EngineError
from harness.util.hashing import short_hash
from harness.util.processes import trusts_remote_code
from prompts.render import template_date

DEFAULT_BASE = next(iter(KNOWN))
_MIB = 1 << 20
_READ = ("*.json", "*.safetensors", "*.jinja", "*.model", "*.txt")
"""The files of a base that are downloaded: weights in other formats can run code when they are read."""
_DESCRIBING = ("adapter_config.json", "chat_template.jinja", "config.json", "tokenizer.json", "tokenizer_config.json")


def resolve_base(name: str | None) -> str:
    """The folder or hub name that transformers and vLLM load. The name of a known base, by default "smollm2-135m", stands for its
    folder, which is converted first if necessary; the path of a local folder stays as it is; NAME@REVISION is the folder of that
    snapshot in the local hub cache, downloaded if it is missing; anything else counts as a hub name.

    Raises EngineError for a missing folder, a folder without a model, a snapshot that cannot be downloaded, and if a known base
    is not here or cannot be converted.
    """
    name = name or DEFAULT_BASE
    if base := KNOWN.get(name):
        return str(converted(base))
    if Path(name).is_dir():
        if not (Path(name) / "config.json").is_file():
            raise EngineError(f"--base {name}: the folder has no config.json, so it holds no model")
        return name
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise EngineError(f"--base {name}: no such folder")
    hub_name, _, revision = name.partition("@")
    if not revision:
        return name
    try:
        return str(snapshot(hub_name, revision) or downloaded(name, _READ))
    except EngineError as error:
        raise EngineError(f"--base {error}; get it with `hf download {hub_name} --revision {revision}`") from error


def display_name(base: str) -> str:
    """A folder's name, NAME@REVISION for a snapshot in a hub cache, or the hub name as it is."""
    folder = Path(base)
    if folder.is_dir() and folder.parent.name == "snapshots":
        return f"{folder.parents[1].name.removeprefix('models--').replace('--', '/')}@{folder.name}"
    return folder.name if folder.is_dir() else base


def fingerprint(base: str | Path) -> str | None:
    """16 hex digits that identify the model or adapter in a folder: a hash of its config, tokenizer and chat template, and of
    the size and the first and last MiB of every weight file. None for a hub name."""
    folder = Path(base)
    if not folder.is_dir():
        return None
    return short_hash(_telling(folder))


def _telling(folder: Path) -> Iterator[bytes]:
    for path in sorted(folder.iterdir()):
        if path.name in _DESCRIBING:
            yield path.name.encode() + path.read_bytes()
        elif path.suffix == ".safetensors":
            size = path.stat().st_size
            with path.open("rb") as file:
                yield f"{path.name} {size}".encode() + file.read(_MIB)
                file.seek(max(0, size - _MIB))
                yield file.read()


def _chat_template(folder: Path | None) -> str | None:
    """The chat template in a model's folder; None if there is none."""
    with suppress(OSError, ValueError, AttributeError):
        if folder and (folder / "chat_template.jinja").is_file():
            return (folder / "chat_template.jinja").read_text()
        if folder:
            template = json.loads((folder / "tokenizer_config.json").read_bytes()).get("chat_template")
            # Some models have several templates, by name.
            named = {one["name"]: one["template"] for one in template} if isinstance(template, list) else {}
            return named.get("default") if named else template
    return None


def base_origin(base: str) -> dict[str, str]:
    """What is known of a base that is on this machine: the commit of a hub model's snapshot, the hash of its chat template, and
    the date that the template writes as today's. What is unknown is left out."""
    folder = base_folder(base)
    template = _chat_template(folder)
    known = {
        "base_revision": folder.name if folder and not Path(base).is_dir() else None,
        "chat_template_hash": short_hash([template.encode()]) if template else None,
        "chat_template_date": template_date(template),
    }
    return {key: value for key, value in known.items() if value}


def load_tokenizer(base: str) -> Any:
    """The base's tokenizer. Raises EngineError if it cannot be loaded."""
    from transformers import AutoTokenizer

    return _load(AutoTokenizer, base, "tokenizer")


def load_config(base: str) -> Any:
    """The base's configuration. Raises EngineError if it cannot be loaded."""
    from transformers import AutoConfig

    return _load(AutoConfig, base, "model configuration")


def _load(kind: Any, base: str, what: str) -> Any:
    try:
        return kind.from_pretrained(base, trust_remote_code=trusts_remote_code())
    except (OSError, ValueError) as error:
        raise EngineError(f"--base {base}: no {what}: {_why(base, error)}") from error


def model_class(config: Any) -> Any:
    """The causal language model class of transformers for a configuration; None if the model brings its own code."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM._model_mapping.get(type(config), None)


def savable(model: Any) -> Any:
    """The model, without generation settings that transformers refuses to write, as some bases have: only its token ids stay.
    Every engine here sets the others itself."""
    from transformers import GenerationConfig

    try:
        model.generation_config.validate(strict=True)
    except ValueError:
        kept = {name: getattr(model.generation_config, name) for name in ("bos_token_id", "eos_token_id", "pad_token_id")}
        model.generation_config = GenerationConfig(**kept)
    return model


def exact_attention(config: Any) -> str | None:
    """The attention implementation that a model needs: "eager" for attention sinks and soft caps, which torch's fused attention
    silently leaves out; None if any implementation will do."""
    softcap = getattr(config.get_text_config(), "attn_logit_softcapping", None)
    return "eager" if softcap or not getattr(model_class(config), "_supports_sdpa", True) else None


def context_length_of(config: Any) -> int | None:
    """The most tokens that a model of this configuration takes; None if it does not say. A model that also sees or hears has a
    configuration of its own for text."""
    length = getattr(config.get_text_config(), "max_position_embeddings", None)
    return None if length is None else int(length)


def model_context_length(base: str) -> int:
    """The most tokens that a model takes, by its configuration. Raises EngineError if the configuration cannot be loaded or
    does not say."""
    if (length := context_length_of(load_config(base))) is None:
        raise EngineError(f"--base {base}: its configuration has no max_position_embeddings; prompt with --context-length")
    return length


def _why(base: str, error: Exception) -> str:
    """Why a part of a base cannot be loaded, and what to do if it is a hub model that is not on this machine."""
    if Path(base).is_dir():
        return brief(error)
    why = "it is not on this machine" if "connect" in str(error) else brief(error).rstrip(".")
    return f"{why}; get it with `hf download {base}` (some models need `hf auth login`), or use --base {DEFAULT_BASE}"
