"""What several engines need, and training with them: memory, precision, brief messages."""

from __future__ import annotations

import ctypes
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.engines.engine import Completion
from harness.errors import AdapterError, HarnessError, UsageError
from prompts.rendered import Rendered


def brief(error: BaseException | str, limit: int = 300) -> str:
    """A message as one line of at most `limit` characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def item_seed(seed: int, item_id: str) -> int:
    """The seed of one item's sample, 31 bits: it does not depend on the batch, and two items do not share their noise."""
    return zlib.crc32(f"{seed}/{item_id}".encode()) & 0x7FFFFFFF


def adapter_config(folder: str | Path) -> dict[str, Any]:
    """What peft wrote of the adapter in `folder`. Raises AdapterError if there is none."""
    path = Path(folder) / "adapter_config.json"
    try:
        config: Any = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise AdapterError(f"{folder} holds no adapter: adapter_config.json is not there") from None
    except (OSError, ValueError, RecursionError) as error:
        raise AdapterError(f"{path} cannot be read: {brief(error)}") from error
    if not isinstance(config, dict):
        raise AdapterError(f"{path} cannot be read: it must hold a mapping")
    return config


def adapter_rank(folder: str | Path) -> int:
    """The rank of the LoRA adapter in `folder`. Raises AdapterError if there is none."""
    config, path = adapter_config(folder), Path(folder) / "adapter_config.json"
    rank = config.get("r")
    if not isinstance(rank, int) or rank < 1:
        raise AdapterError(f"{path} has no LoRA rank (r): {rank!r}")
    # One adapter may give single modules other ranks.
    others = config.get("rank_pattern") or {}
    if not isinstance(others, dict):
        raise AdapterError(f"{path}: rank_pattern is no mapping: {brief(str(others))}")
    return max([rank, *(value for value in others.values() if isinstance(value, int))])


def keep_memory() -> None:
    """Tell glibc to keep freed memory for the next step instead of returning it: batches of changing length otherwise spend a
    third of a step on a CPU in page faults. Does nothing with another C library."""
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        trim_threshold, mmap_threshold = -1, -3
        mallopt(mmap_threshold, 1 << 30)
        mallopt(trim_threshold, (1 << 31) - 1)


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Suppresses the bars and warnings that transformers prints while it reads and writes models."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def fast_bf16() -> bool:
    """Whether bfloat16 is the faster arithmetic here: a GPU that has it, or a CPU with AVX512_BF16 or AMX."""
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    checks = (getattr(torch.cpu, f"_is_{name}_supported", None) for name in ("avx512_bf16", "amx_tile"))
    return any(supported() for supported in checks if supported)


def missing_for_quantization() -> str | None:
    """What this machine lacks to load weights in 4 bits, and for the optimizers of bitsandbytes."""
    import torch

    if not torch.cuda.is_available():
        return "an NVIDIA GPU"
    return None if find_spec("bitsandbytes") else "bitsandbytes (pip install bitsandbytes)"


def quantized_weights(kind: str, *, double: bool) -> Any:
    """How transformers loads weights in 4 bits of a kind; `double` quantizes their scales, too. Raises UsageError where this
    machine cannot."""
    import torch

    if missing := missing_for_quantization():
        raise UsageError(f"4-bit weights ({kind}) need {missing}")
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type=kind,
        bnb_4bit_use_double_quant=double,
        bnb_4bit_compute_dtype=torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16,
    )


def refusal(prompt: Rendered, context_length: int) -> Completion | None:
    """Why a local model cannot take a prompt, which would fail the whole batch; None if it can."""
    length = len(prompt.token_ids)
    if length == 0:
        return Completion(error="the prompt is empty")
    if length >= context_length:
        return Completion(error=f"the prompt has {length} tokens, and the model takes {context_length} including the answer")
    return None


@contextmanager
def memory_for(size: int, flag: str, then: str = "", *, unit: str = "items") -> Iterator[None]:
    """Raises HarnessError, in one line, where memory is too small for `size` units at a time; `flag` is what makes them fewer."""
    try:
        yield
    except RuntimeError as error:
        # Matched by name, to avoid importing torch; its allocator for CPUs has no error of its own.
        on_gpu = type(error).__name__ == "OutOfMemoryError"
        if not on_gpu and "DefaultCPUAllocator" not in str(error):
            raise
        where = "the GPU" if on_gpu else "the machine"
        advice = f"try {flag}{size // 2}{then}" if size > 1 else f"{where.replace('the', 'this')} is too small for the network"
        raise HarnessError(f"{where} runs out of memory with {size} {unit} at a time: {advice}") from None
