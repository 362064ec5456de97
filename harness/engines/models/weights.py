"""Fingerprints of model weights, independent of file names and sharding."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from harness.engines.shared import brief
from harness.errors import EngineError
from harness.util.hashing import short_hash

_WHOLE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_SAMPLE, _SAMPLES = 32, 4
"""Bytes of a sample, and samples of a tensor."""


class _Tensor(NamedTuple):
    name: str
    kind: str
    shape: tuple[int, ...]
    sample: bytes


def weights_fingerprint(base: str | Path) -> str | None:
    """16 hex digits that identify a model's weights: a hash of the names, shapes and types of its tensors and of up to 128
    bytes of each, so that only a small part of the files is read.

    `base` is a folder or a hub name, which stands for its snapshot in the local hub cache. None if there are no safetensors.
    Raises EngineError for files that are not safetensors.
    """
    files = _files_of(base)
    if not files:
        return None
    tensors = sorted(tensor for path in files for tensor in _tensors(path))
    return short_hash(f"{tensor.name} {tensor.kind} {tensor.shape} ".encode() + tensor.sample for tensor in tensors)


def weights_size(base: str | Path) -> int:
    """The size of a model's safetensors in bytes; 0 if there are none. Raises EngineError for an index that cannot be read."""
    return sum(path.stat().st_size for path in _files_of(base) if path.is_file())


def snapshot(name: str, revision: str | None = None) -> Path | None:
    """A hub model's folder in the local hub cache, by default of its main revision; None if it is not there."""
    from huggingface_hub import try_to_load_from_cache

    try:
        config = try_to_load_from_cache(name, "config.json", revision=revision)
    except ValueError:
        return None
    return Path(config).parent if isinstance(config, str) else None


def downloaded(name: str, files: Sequence[str]) -> Path:
    """The local snapshot of the hub's USER/NAME or USER/NAME@REVISION, with those of its files that match `files`, downloaded if
    missing. Raises EngineError if there is no such repository or revision, or no way to it."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    repository, _, revision = name.partition("@")
    try:
        return Path(snapshot_download(repository, revision=revision or None, allow_patterns=[*files]))
    except LocalEntryNotFoundError:
        raise EngineError(f"{name} is not on this machine, and the hub cannot be reached") from None
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise EngineError(f"{name} cannot be had from the hub: {brief(error)}") from error


def base_folder(base: str | Path) -> Path | None:
    """The folder of a base; of a hub model, that of its snapshot in the local hub cache. None if it is not on this machine."""
    return Path(base) if Path(base).is_dir() else snapshot(str(base))


def _files_of(base: str | Path) -> list[Path]:
    """The files that transformers loads: a folder may hold the same weights in other files, too."""
    folder = base_folder(base)
    if folder is None:
        return []
    if (folder / _WHOLE).is_file():
        return [folder / _WHOLE]
    index = folder / _INDEX
    if not index.is_file():
        return []
    try:
        names = set(json.loads(index.read_bytes())["weight_map"].values())
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise EngineError(f"{index} names no weights: {error}") from None
    return [folder / name for name in sorted(names)]


def _tensors(path: Path) -> Iterator[_Tensor]:
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            if size > path.stat().st_size:
                raise ValueError("its header is cut off")
            header: dict[str, Any] = json.loads(file.read(size))
            header.pop("__metadata__", None)
            for name, about in header.items():
                begin, end = (8 + size + offset for offset in about["data_offsets"])
                yield _Tensor(name, about["dtype"], tuple(about["shape"]), _sampled(file, begin, end))
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise EngineError(f"{path}: not a safetensors file: {error}") from None


def _sampled(file: BinaryIO, begin: int, end: int) -> bytes:
    """A tensor's first and last bytes, and some between them. Raises ValueError if the file ends before the tensor does."""
    length = min(_SAMPLE, end - begin)
    parts = []
    for n in range(_SAMPLES):
        file.seek(begin + (end - begin - length) * n // (_SAMPLES - 1))
        parts.append(file.read(length))
    if any(len(part) < length for part in parts):
        raise ValueError("it is cut off")
    return b"".join(parts)
