"""`harness serve` as a user starts it, for tests that ask what it serves."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.helpers import ROOT


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(folder: Path, *options: str) -> Iterator[str]:
    """The URL of the OpenAI protocol, as the server says it when it answers; it ends with the context."""
    words = [sys.executable, "-m", "harness.cli", "serve", "--port", str(free_port()), *options]
    environment = {name: value for name, value in os.environ.items() if name != "HARNESS_API_KEY"} | {"PYTHONPATH": str(ROOT)}
    with (folder / "serve.stderr").open("wb") as stderr:
        process = subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True)
    assert process.stdout is not None
    try:
        said = iter(process.stdout.readline, "")
        url = next((match[1] for line in said if (match := re.search(r"^Serving .* at (http://\S+)", line))), None)
        assert url, (folder / "serve.stderr").read_text()
        yield url.rstrip("/")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(90)
        process.stdout.close()
