"""Adapters merged into their bases: complete models, which vLLM runs as fast as the bases, in the user's cache or in a folder.

The cache holds a folder for each pair of a base and an adapter, named by the content of both, complete or absent.
"""

import errno
import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adapters.registry import CONFIG_FILE, HARNESS_FILE, WEIGHTS_FILE, Adapter, save_template
from harness.engines.models.bases import display_name, fingerprint, load_tokenizer, savable
from harness.engines.models.weights import weights_fingerprint, weights_size
from harness.engines.shared import brief, quiet_transformers
from harness.engines.transformers import with_adapter
from harness.errors import AdapterError, HarnessError, UsageError
from harness.runs.folder import provenance, trained_name
from harness.util.files import cache_folder, drop_old, filled, made_once
from harness.util.hashing import short_hash
from harness.util.processes import trusts_remote_code
from prompts.probe import described
from prompts.render import answering

UNUSED = 3600
"""Seconds for which a merged model has not been used before it may be removed: an engine reads it only while it starts."""
MERGER = 2
"""Increment whenever a merged model's weights change."""
LARGEST = 4 << 30
"""Largest base, in bytes of weights, that is merged by default: a copy of a larger one costs more than it saves."""


def folder() -> Path:
    return cache_folder() / "merged"


def worth_merging(adapter: Adapter) -> bool:
    """Whether to merge by default: the base is a local folder and not too large."""
    return Path(adapter.base).is_dir() and 0 < weights_size(adapter.base) <= LARGEST


def merged_model(adapter: Adapter, say: Callable[[str], None]) -> Path:
    """The folder of the base with the adapter merged in; created if it is not in the cache.

    It stays for an hour at least. Raises AdapterError for an adapter that cannot be merged, and HarnessError if the
    cache cannot be written.
    """
    if not Path(adapter.base).is_dir():
        raise AdapterError(f"{adapter.path} cannot be merged: its base {adapter.base} is not a local folder; use --no-merge")
    target = folder() / _key(adapter)

    def make(partial: Path) -> None:
        say(f"merging the adapter into a copy of {display_name(adapter.base)}, once: {target}")
        merge(adapter, partial)

    try:
        made_once(target, make, lambda: say("waiting for another process that is merging"))
    except AdapterError as error:
        raise AdapterError(f"{error}; use --no-merge") from error
    except OSError as error:
        why, ways = error.strerror or brief(error), "make room, set HARNESS_CACHE to another folder, or use --no-merge"
        raise HarnessError(f"the merged model cannot be written to {folder()}: {why}; {ways}") from error
    drop_old(target, UNUSED)
    return target


def merge(adapter: Adapter, out: Path) -> None:
    """Write the merged model to `out`: added in float32, stored in the base's precision."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM

    try:
        with quiet_transformers(), torch.inference_mode(), warnings.catch_warnings(action="ignore"):
            model = AutoModelForCausalLM.from_pretrained(adapter.base, dtype="auto", trust_remote_code=trusts_remote_code())
            dtype, plain = model.dtype, _ends(model)
            adapted = with_adapter(savable(model).float(), adapter.path)
            if _ends(model) != plain and None not in plain and plain[0].weight is plain[1].weight:
                # The adapter changes one of two layers that share their weights: the head gets weights of its own.
                plain[1].weight = torch.nn.Parameter(plain[1].weight.clone())
            adapted.merge_and_unload(safe_merge=True).to(dtype).save_pretrained(out)
            answering(load_tokenizer(adapter.base), adapter.spec.think).save_pretrained(out)
    except (AdapterError, OSError):
        raise
    except SafetensorError as error:
        # This is how safetensors reports a full disk.
        raise OSError(errno.EIO, brief(error)) from error
    except Exception as error:
        raise AdapterError(f"{adapter.path} cannot be merged into {adapter.base}: {brief(error)}") from error


def _ends(model: Any) -> tuple[Any, Any]:
    """The layers that read tokens and predict them."""
    return model.get_input_embeddings(), model.get_output_embeddings()


def write_merged(adapter: Adapter, target: Path) -> dict[str, Any]:
    """Write the base with the adapter merged in to a new folder, complete or absent, with a harness.json that says what it is.

    Returns what harness.json holds. Raises UsageError if `target` exists, HarnessError if it cannot be written, and AdapterError
    for an adapter that cannot be merged.
    """
    if target.exists() or target.is_symlink():
        raise UsageError(f"{target} already exists: name a new folder")
    about = {
        **described(adapter.spec),
        "base": display_name(adapter.base),
        "base_fingerprint": weights_fingerprint(adapter.base),
        "merged": {"adapter": trained_name(adapter.path), "adapter_fingerprint": fingerprint(adapter.path)},
        **provenance(),
    }
    try:
        with filled(target) as partial:
            merge(adapter, partial)
            save_template(adapter.spec, partial)
            (partial / HARNESS_FILE).write_text(json.dumps(about, indent=1) + "\n")
    except OSError as error:
        raise HarnessError(f"{target} cannot be written: {error.strerror or brief(error)}") from error
    return about


def _key(adapter: Adapter) -> str:
    """The base's name and 16 hex digits over the base, every byte of the adapter and `MERGER`."""
    files = [hashlib.sha256((adapter.path / name).read_bytes()).digest() for name in (CONFIG_FILE, WEIGHTS_FILE)]
    parts = [str(fingerprint(adapter.base)).encode(), *files, bytes([MERGER])]
    return f"{Path(adapter.base).name}-{short_hash(parts)}"
