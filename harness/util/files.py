"""Atomic writes, locks, and the cache folder."""

import errno
import gzip
import json
import os
import re
import shutil
import time
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import DataError, HarnessError

if TYPE_CHECKING:
    from filelock import BaseFileLock


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}
_FULL_ELSEWHERE = re.compile(
    rf"\(os error (?:{'|'.join(map(str, _FULL))})\)|database or disk is full|unexpected pos \d+ vs \d+|PytorchStreamWriter failed"
)
"""What safetensors, SQLite and torch say of a full disk in errors of their own."""


def full_disk(error: BaseException | None) -> str | None:
    """Why a file cannot be written, if an error or one behind it says that the disk is full or read-only, or that a quota or the
    limit of a file's size is reached; None for any other error."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
        if _FULL_ELSEWHERE.search(str(error)):
            return f"a file cannot be written, as on a full disk: {error}"
        error = error.__cause__ or error.__context__
    return None


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file's content atomically, creating its folder if necessary. Raises HarnessError on failure."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(temporary, path)
    except OSError as error:
        if temporary.is_file():
            temporary.unlink()
        raise HarnessError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextmanager
def filled(target: Path) -> Iterator[Path]:
    """A new folder beside `target` that replaces it when the block ends: `target` is complete or as before. Raises OSError."""
    partial = target.with_name(f".{target.name}.partial")
    # A killed process may have left one.
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        yield partial
        shutil.rmtree(target, ignore_errors=True)
        os.replace(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def make_private(path: Path) -> None:
    """Make sure that a file exists and that only its owner can read it. Only the owner may enter folders created for it.

    Raises OSError.
    """
    # `mkdir` gives only the last folder its mode.
    for folder in reversed([parent for parent in path.parents if not parent.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_RDONLY | os.O_CREAT, 0o600))
    path.chmod(0o600)


def cache_folder() -> Path:
    """$HARNESS_CACHE, or the user's cache folder for this application."""
    if path := os.environ.get("HARNESS_CACHE"):
        return Path(path)
    from platformdirs import user_cache_path

    return user_cache_path("grid-world-harness")


MOST = 8 << 30
"""The most bytes that a folder of the cache may hold; beyond it, the least recently used entries are removed."""


def made_once(folder: Path, make: Callable[[Path], None], waiting: Callable[[], None] = lambda: None) -> None:
    """Unless `folder` exists, have `make` fill it: as `filled`, but only one process does so.

    If another process is making something beside it, calls `waiting`, then waits. Raises OSError, and what `make` raises.
    """
    if folder.exists():
        return
    from filelock import FileLock, Timeout

    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.with_name(".lock"))
    try:
        held = lock.acquire(blocking=False)
    except Timeout:
        waiting()
        held = lock.acquire()
    with held:
        # The process that held the lock may have made it.
        if not folder.exists():
            with filled(folder) as partial:
                make(partial)


def drop_old(used: Path, unused: float) -> None:
    """Mark an entry of a folder in the cache as used, and remove old ones that were not used for `unused` seconds. Other
    processes may do so at the same time."""
    room, now = MOST, time.time()
    with suppress(OSError):
        os.utime(used)
        for entry in sorted(used.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True):
            with suppress(OSError):
                size = sum(path.stat().st_size for path in (entry, *entry.rglob("*")) if path.is_file())
                room -= size
                # Removing an empty file makes no room, and the file may be a lock.
                if size and room < 0 and entry != used and now - entry.stat().st_mtime >= unused:
                    # Renamed first: if this process is killed, the rest must not count as complete.
                    shutil.rmtree(entry.rename(entry.with_name(f".{entry.name}.partial")))


def hold(lock: Path, busy: str) -> "BaseFileLock":
    """The lock file `lock`, held until it is released or garbage-collected.

    Raises HarnessError, with the message `busy` if another process holds the lock file.
    """
    from filelock import FileLock, Timeout

    held = FileLock(lock, thread_local=False)
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        held.acquire(blocking=False)
    except Timeout:
        raise HarnessError(busy) from None
    except OSError as error:
        raise HarnessError(f"{lock.parent}: cannot be written: {error.strerror or error}") from error
    return held


def read_lines(path: Path) -> list[bytes]:
    """The lines of a file of our own, without their newlines, and without the last one if writing it was cut short. Raises
    DataError for a file that cannot be read."""
    try:
        # Not splitlines(): text may hold line separators other than the newline.
        return path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


MOST_LINE = 10_000_000
"""The most bytes of an unpacked line of JSON Lines; the largest item has only thousands."""


def json_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file of JSON Lines (also .gz) with their numbers, from 1, and with their newlines: without a byte order mark
    and without blank lines at the end.

    Raises DataError for a file that cannot be read, and for a line longer than `MOST_LINE`, since a small file may unpack to a
    line of any size.
    """
    blank = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MOST_LINE + 1), b""), start=1):
                if len(line) > MOST_LINE:
                    raise DataError(f"{path}:{number}: the line has more than {MOST_LINE:,} bytes: is this JSON Lines?")
                text = line.removeprefix(BOM_UTF8) if number == 1 else line
                if not text.strip():
                    blank = blank or number
                    continue
                if blank:
                    yield blank, b"\n"
                yield number, text
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def json_line(record: Any) -> str:
    """The record as a line of ASCII: a model may answer with half a surrogate pair, which UTF-8 cannot encode."""
    return json.dumps(record) + "\n"
