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
