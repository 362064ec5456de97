"""The files of a corpus: members of a .tar.xz, read in one pass, and one hash of an archive or of many files."""

from __future__ import annotations

import hashlib
import lzma
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from harness.errors import DataError


def members(archive: Path, needed: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    """The (name, content) of the members whose name is `needed`. Raises DataError for an archive that is damaged or cut short."""
    last = "its start"
    try:
        with lzma.open(archive) as xz, tarfile.open(fileobj=xz, mode="r|") as tar:
            for member in tar:
                last = member.name
                file = tar.extractfile(member) if needed(last) else None
                if file is not None:
                    yield last, file.read()
            xz.read()  # tarfile takes an archive that was cut between two members for a complete one.
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise DataError(f"{archive} is damaged at {last}: {error}; fetch it again") from None


def read_file(path: Path) -> bytes:
    """Raises DataError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None


def digest(source: Path, files: Callable[[], Iterable[tuple[str, bytes]]]) -> str:
    """The sha256 of an archive, or of the (name, content) of an unpacked corpus's files, in hexadecimal.

    Names count from `source` on. Raises DataError if something cannot be read.
    """
    if source.is_file():
        try:
            with source.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError(f"cannot read {source}: {error.strerror}") from None
    total = hashlib.sha256()
    for name, data in files():
        total.update(f"{name.removeprefix(str(source))}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return total.hexdigest()
