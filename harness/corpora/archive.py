"""Reads the files of a corpus, from a folder or in one pass from a .tar.xz or .tar.gz, hashes them, and checks their JSON.

The parsed corpus is kept in the user's cache.
"""

import gzip
import hashlib
import json
import logging
import lzma
import re
import tarfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, TypeVar, cast

import numpy as np
from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator, TypeAdapter, ValidationError

from harness.errors import DataError, HarnessError
from harness.util.files import cache_folder, write_atomically
from harness.util.hashing import file_sha256
from harness.worlds.minecraft import SHAPE, Structure

log = logging.getLogger(__name__)

MOST_UNPACKED = 2_000_000_000
"""The most bytes that an archive may unpack to; the authors' repositories hold more than their corpora."""
MOST_MEMBERS = 100_000
"""The most members that an archive may have: over seven times as many as the larger corpus has."""


_NAMES = {
    tarfile.GNUTYPE_LONGNAME: re.compile(rb"([^\0]+)"),
    tarfile.XHDTYPE: re.compile(rb" path=([^\n]*)\n"),
}
"""The next file's name in the texts of headers, by the headers' types."""
_TEXTS = {*_NAMES, tarfile.GNUTYPE_LONGLINK, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE}
"""The types of headers that a text follows."""


class _Unpacked:
    """The unpacked content of an archive, read in pieces up to a limit: a small archive may unpack to any size."""

    def __init__(self, archive: Path, file: gzip.GzipFile | lzma.LZMAFile) -> None:
        self._archive, self._file, self._size = archive, file, 0

    def read(self, size: int) -> bytes:
        """Raises DataError if more than `MOST_UNPACKED` bytes are read in total."""
        data = self._file.read(size)
        self._size += len(data)
        if self._size > MOST_UNPACKED:
            raise DataError(f"{self._archive} unpacks to more than {MOST_UNPACKED:,} bytes and is no corpus; fetch it again")
        return data

    def content(self, size: int, *, wanted: object = True) -> bytes:
        """The next `size` bytes if they are `wanted`; skips the rest of their last block. Raises EOFError if there are fewer."""
        pieces, left = [], -(-size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
        while left > 0:
            if not (piece := self.read(min(left, 1 << 20))):
                raise EOFError("it is cut short")
            left -= len(piece)
            pieces += [piece] if wanted else []
        return b"".join(pieces)[:size]

    def files(self) -> Iterator[tuple[str, int]]:
        """The name and the size of each file. The caller takes its content before the next one.

        tarfile's own iteration hangs on some headers of a few hundred bytes. Of headers with a text, only the name is read here.
        """
        long = None
        for _ in range(MOST_MEMBERS + 1):
            block = self.read(tarfile.BLOCKSIZE)
            if not block.strip(b"\0"):
                return
            member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
            if member.size < 0:
                raise tarfile.ReadError("a size is negative")
            if member.type in _TEXTS:
                text = self.content(member.size)
                name = _NAMES[member.type].search(text) if member.type in _NAMES else None
                long = name[1].decode("utf-8", "surrogateescape") if name else long
                continue
            if member.isreg():
                yield long or member.name, member.size
            long = None
        raise DataError(f"{self._archive} has more than {MOST_MEMBERS:,} files and is no corpus; fetch it again")


def members(archive: Path, needed: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    """The (name, content) of the members whose name is `needed`. Raises DataError for an archive that is damaged or cut short, or
    unpacks to more than any corpus does."""
    last = "its start"
    try:
        with gzip.open(archive) if archive.suffix == ".gz" else lzma.open(archive) as file:
            unpacked = _Unpacked(archive, file)
            for last, size in unpacked.files():
                wanted = needed(last)
                content = unpacked.content(size, wanted=wanted)
                if wanted:
                    yield last, content
            while unpacked.read(1 << 20):
                pass  # An archive that was cut off between two members ends here, too.
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise DataError(f"{archive} is damaged at {last}: {error}; fetch it again") from None


def files(source: Path, folder: Path, patterns: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The (path, content) of the files of a corpus, from an archive or a folder; a path in an archive begins with its name.

    `patterns` are globs relative to `folder`. Raises DataError if something cannot be read.
    """
    if source.is_file():
        for name, data in members(source, lambda name: any(map(PurePosixPath(name).match, patterns))):
            yield f"{source}: {name}", data
        return
    for pattern in patterns:
        for path in sorted(filter(Path.is_file, folder.glob(pattern))):
            try:
                yield path.as_posix(), path.read_bytes()
            except OSError as error:
                raise DataError(f"cannot read {path}: {error.strerror}") from None


def digest(source: Path, unpacked: Callable[[], Iterable[tuple[str, bytes]]]) -> str:
    """The sha256 of an archive, or of the (name, content) of an unpacked corpus's files, in hexadecimal.

    Names are relative to `source`. Raises DataError if something cannot be read.
    """
    if source.is_file():
        try:
            return file_sha256(source)
        except OSError as error:
            raise DataError(f"cannot read {source}: {error.strerror}") from None
    total = hashlib.sha256()
    for name, data in unpacked():
        total.update(f"{name.removeprefix(str(source))}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return total.hexdigest()


class CorpusRecord(BaseModel):
    """A JSON object of a published corpus. Types are not converted, and undeclared keys are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


R = TypeVar("R", bound=CorpusRecord)


def read_json(
    model: type[R], data: bytes | str | Mapping[str, Any], where: str, hint: str = "is this the file as published?"
) -> R:
    """The record in JSON, or in the row of a table. Raises DataError with `where`, the path inside the record, what is expected
    and found there, and `hint`."""
    try:
        return model.model_validate(data) if isinstance(data, Mapping) else model.model_validate_json(data.rstrip())
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        # Other names are pydantic's, of a union's types.
        places = (part for part in first["loc"] if isinstance(part, int) or part.isidentifier() or len(first["loc"]) == 1)
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part[:80]}" for part in places).removeprefix(".")
        # A record on one line is a line of a file: `where` has its number, and pydantic counts from the record's beginning.
        said = first["msg"].removeprefix("Value error, ").replace(" at line 1 column ", " at column ")
        if path and not isinstance(first["input"], list | dict) and first["type"] not in ("missing", "extra_forbidden"):
            said += f", not {json.dumps(first['input'], default=str)[:80]}"
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise DataError(f"{where}: {path + ': ' if path else ''}{said}{more}; {hint}") from None


CachedStructure = Annotated[
    Structure,
    PlainValidator(lambda text: Structure(np.frombuffer(b64decode(text), np.uint8).reshape(SHAPE))),
    PlainSerializer(lambda structure: b64encode(structure.cells.tobytes()).decode()),
]
"""A structure as `through_cache` writes it."""

T = TypeVar("T")


def through_cache(name: str, kind: Any, parse: Callable[[], T]) -> T:
    """The result of `parse`, a value of the type `kind`, from the cache's file of this name if there is one.

    The name holds the version of the loader and the digest of the source, so a changed source or loader never meets an old file.
    An unreadable file is rebuilt. Raises whatever `parse` raises.
    """
    path = cache_folder() / f"{name}.json.z"
    if path.is_file():
        try:
            return cast(T, _stored(path, path.stat().st_mtime_ns, kind))
        except (OSError, TypeError, ValueError, zlib.error) as error:
            log.info("%s is broken and is rebuilt: %s", path, error)
    parsed = parse()
    try:
        write_atomically(path, zlib.compress(TypeAdapter[T](kind).dump_json(parsed)))
    except HarnessError as error:
        log.info("%s; the next load parses again", error)
    return parsed


@lru_cache(maxsize=2)
def _stored(path: Path, written: int, kind: Any) -> Any:
    """The content of a file of the cache, kept because a command reads a corpus for its own splits and again for the ones to hold
    out. `written`, the time of the file's last change, tells when it was written anew."""
    return TypeAdapter(kind).validate_json(zlib.decompress(path.read_bytes()))
