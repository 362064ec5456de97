"""Harness commands that listen at a port, started as by a user."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from tests.helpers import ROOT


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(true: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def rest(connection: socket.socket) -> bytes:
    """Everything that arrives until the server closes the connection or the connection is reset."""
    connection.settimeout(20)
    answer = b""
    try:
        while piece := connection.recv(65536):
            answer += piece
    except ConnectionError:
        pass
    return answer


class ServedCommand:
    """A command at a free port; `said` holds the first `lines` lines of its output. It can be restarted."""

    def __init__(self, folder: Path, *words: str, module: str = "harness.cli", lines: int = 3, **variables: str) -> None:
        self.folder, self.lines = folder, lines
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.errors = folder / "stderr"
        folder.mkdir(exist_ok=True)
        name, *options = words
        self.command = [sys.executable, "-m", module, name, "--port", str(self.port), *options]
        kept = {name: value for name, value in os.environ.items() if name not in ("HARNESS_DATA", "HARNESS_API_KEY")}
        self.environment = {**kept, "PYTHONPATH": str(ROOT), **variables}
        self.start()

    def start(self) -> None:
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                self.command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert self.process.stdout is not None
        self.said = [self.process.stdout.readline() for _ in range(self.lines)]
        assert all(self.said), self.errors.read_text()

    def child(self, name: bytes) -> int:
        """The id of the child process whose command line contains a name."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return next(int(child) for child in children if name in Path(f"/proc/{child}/cmdline").read_bytes())

    def end(self, sign: signal.Signals = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(sign)
        code = self.process.wait(90)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()
