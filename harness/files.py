"""Writing files so that a reader, or a crash, never meets half of one."""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import HarnessError


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file's content at once, making its folder if need be. Raises HarnessError on failure."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(temporary, path)
    except OSError as error:
        if temporary.is_file():
            temporary.unlink()
        raise HarnessError(f"{path}: cannot be written: {error.strerror or error}") from error


def hold(lock: Path, busy: str) -> int:
    """The descriptor of a lock file, held while that is open. Raises HarnessError, with `busy` if another process holds it."""
    import fcntl

    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise HarnessError(f"{lock.parent}: cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        raise HarnessError(busy) from error
    return file
