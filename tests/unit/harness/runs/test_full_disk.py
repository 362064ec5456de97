"""A full disk ends a command with one line that says so, and the run goes on later."""

import errno
import os
import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from harness.corpora import load
from harness.util.files import full_disk
from tests.helpers.scored import write_lines


def prompted(folder: Path, *, most: int = resource.RLIM_INFINITY) -> subprocess.CompletedProcess[str]:
    """A scripted run in a process that can write files of at most `most` bytes."""
    write_lines(folder / "script.jsonl", [{"id": item.id, "text": "red: 1 1; " * 40} for item in load("hexagons", "dev")])
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, resource.RLIM_INFINITY))"
    command = f"{limit}; import sys; from harness.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ("prompt", "--engine", "scripted", "--model", "script.jsonl", "--name", "a", "--no-cache")
    # git would leave a half-written lock in our repository.
    own = {"HARNESS_CACHE": str(folder / "cache"), "GIT_DIR": str(folder)}
    environment = {**os.environ, **own, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = [sys.executable, "-P", "-c", command, *words]
    return subprocess.run(run, capture_output=True, text=True, env=environment, cwd=folder, check=False)


def test_a_run_that_filled_the_disk_is_resumed(tmp_path: Path) -> None:
    full = prompted(tmp_path, most=4_000)
    line = "Error: File too large; make room, then run the same command again, which goes on where it can\n"
    assert (full.returncode, full.stderr) == (1, line)
    file = tmp_path / "runs" / "a" / "predictions.jsonl"
    torn = file.read_bytes()
    assert len(torn) == 4_000
    again = prompted(tmp_path)
    assert again.returncode == 0
    assert "items are already answered" in again.stderr
    assert file.read_bytes().startswith(torn)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (OSError(errno.EROFS, "Read-only file system", "a/b"), "a/b: Read-only file system"),
        (RuntimeError("I/O error: No space left on device (os error 28)"), "a file cannot be written, as on a full disk: "),
        (sqlite3.OperationalError("database or disk is full"), "a file cannot be written, as on a full disk: "),
        (FileNotFoundError(errno.ENOENT, "No such file"), None),
        (RuntimeError("I/O error: No such file (os error 2)"), None),
    ],
)
def test_a_full_disk_is_told_from_other_errors(error: Exception, reason: str | None) -> None:
    behind = ValueError("cannot save")
    behind.__cause__ = error
    for one in (error, behind):
        found = full_disk(one)
        assert found is None if reason is None else found is not None and found.startswith(reason)
