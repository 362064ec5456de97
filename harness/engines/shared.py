"""Helpers that the engines and training share: memory, precision, brief messages."""

import ctypes
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from harness.engines.engine import Completion
from harness.errors import AdapterError, EngineError, HarnessError, UsageError
from prompts.rendered import Rendered
from serialization.formats.thoughts import SPECIAL

BF16 = "HARNESS_BF16"
"""The environment variable that decides whether "auto" is bfloat16, whatever is fast on this machine."""
Precision = Literal["auto", "float32", "bfloat16"]


def brief(error: BaseException | str, limit: int = 300) -> str:
    """A message as one line of at most `limit` characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def item_seed(seed: int, item_id: str) -> int:
    """The 31-bit sampling seed of one item: it does not depend on the batch, and items do not share their random numbers."""
    return zlib.crc32(f"{seed}/{item_id}".encode()) & 0x7FFFFFFF


def adapter_config(folder: str | Path) -> dict[str, Any]:
    """The adapter_config.json that peft wrote into `folder`. Raises AdapterError if it is missing or cannot be read."""
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
    """The highest LoRA rank of the adapter in `folder`. Raises AdapterError if the folder has no adapter with a rank."""
    config, path = adapter_config(folder), Path(folder) / "adapter_config.json"
    rank = config.get("r")
    if not isinstance(rank, int) or rank < 1:
        raise AdapterError(f"{path} has no LoRA rank (r): {rank!r}")
    # An adapter may give some modules a rank of their own.
    others = config.get("rank_pattern") or {}
    if not isinstance(others, dict):
        raise AdapterError(f"{path}: rank_pattern is not a mapping: {brief(str(others))}")
    return max([rank, *(value for value in others.values() if isinstance(value, int))])


def keep_memory() -> None:
    """Tell glibc to keep freed memory for the next step instead of returning it to the system. Otherwise, with batches of
    changing length, a third of a step on a CPU goes into page faults. Does nothing with another C library."""
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        trim_threshold, mmap_threshold = -1, -3
        mallopt(mmap_threshold, 1 << 30)
        mallopt(trim_threshold, (1 << 31) - 1)


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Suppresses the progress bars and warnings that transformers prints while it reads and writes models."""
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


def in_bf16(precision: Precision = "auto") -> bool:
    """Whether to compute in bfloat16. "auto" is the environment variable HARNESS_BF16, on or off; without it, whether bfloat16 is
    fast here: there is a GPU that supports it, or a CPU with AVX512_BF16 or AMX. Raises UsageError for another value of it."""
    import torch

    if precision != "auto":
        return precision == "bfloat16"
    if forced := os.environ.get(BF16):
        if forced not in ("on", "off"):
            raise UsageError(f"{BF16}={forced}: give on or off")
        return forced == "on"
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    checks = (getattr(torch.cpu, f"_is_{name}_supported", None) for name in ("avx512_bf16", "amx_tile"))
    return any(supported() for supported in checks if supported)


def missing_for_quantization() -> str | None:
    """What this machine lacks for 4-bit weights and the optimizers of bitsandbytes; None if it lacks nothing."""
    import torch

    if not torch.cuda.is_available():
        return "an NVIDIA GPU"
    return None if find_spec("bitsandbytes") else "bitsandbytes (pip install bitsandbytes)"


def quantized_weights(kind: str, *, double: bool, precision: Precision = "auto") -> Any:
    """The transformers configuration that loads weights in 4 bits of this kind; `double` quantizes their scales, too. Raises
    UsageError if this machine cannot load them."""
    import torch

    if missing := missing_for_quantization():
        raise UsageError(f"4-bit weights ({kind}) need {missing}")
    from transformers import BitsAndBytesConfig

    half = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type=kind,
        bnb_4bit_use_double_quant=double,
        bnb_4bit_compute_dtype=torch.float32 if precision == "float32" else half,
    )


def marks_thoughts(tokenizer: Any) -> bool:
    """Whether special tokens mark the model's thoughts: without them, nobody could tell its thought from its answer."""
    added = (token.content for token in getattr(tokenizer, "added_tokens_decoder", {}).values() if token.special)
    return any(SPECIAL.search(token) for token in (*added, *tokenizer.all_special_tokens))


def refusal(prompt: Rendered, context_length: int) -> Completion | None:
    """A completion whose error says why a local model cannot take the prompt, which would make the whole batch fail; None if
    it can."""
    length = len(prompt.token_ids)
    if length == 0:
        return Completion(error="the prompt is empty")
    if length >= context_length:
        return Completion(error=f"the prompt has {length} tokens, and the model takes {context_length} including the answer")
    return None


def check_tokens(tokens: Iterable[int], config: Any) -> None:
    """Raises EngineError if a model of this configuration does not know one of the tokens: then the tokenizer does not fit."""
    largest, known = max(tokens, default=0), config.get_text_config().vocab_size
    if largest >= known:
        raise EngineError(f"the tokenizer does not fit the model, which knows {known:,} tokens: a prompt has token {largest:,}")


@contextmanager
def memory_for(size: int, flag: str, then: str = "", *, unit: str = "items") -> Iterator[None]:
    """Raises HarnessError, in one line, if memory is too small for `size` units at a time. It advises to halve the number, which
    `flag` sets; `then` is further advice."""
    try:
        yield
    except RuntimeError as error:
        # Matched by name, to avoid importing torch; torch's CPU allocator has no error class of its own.
        on_gpu = type(error).__name__ == "OutOfMemoryError"
        if not on_gpu and "DefaultCPUAllocator" not in str(error):
            raise
        where = "the GPU" if on_gpu else "the machine"
        advice = f"try {flag}{size // 2}{then}" if size > 1 else f"{where.replace('the', 'this')} is too small for the network"
        raise HarnessError(f"{where} runs out of memory with {size} {unit} at a time: {advice}") from None
