"""vLLM's OpenAI-compatible server as a child process: started, watched, and never left behind. The child runs this module."""

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.engines.vllm.engine import FEASIBLE_TOKENS, device_options, max_lora_rank, vllm_environment
from harness.errors import EngineError
from harness.util.extras import require
from harness.util.processes import trusts_remote_code

if TYPE_CHECKING:
    from httpx2 import Client

STARTING = 1800.0
"""Seconds allowed for the server to load its model; a large one from a slow disk takes many minutes."""

ROUNDS, PAUSE = 4, 5.0
"""How often the server is asked to stop before it is killed, and the seconds it gets each time."""

VLLM_URL = "http://vllm"
"""The address of a server behind a socket: the name is sent as Host and never looked up."""

# -P: nothing in the current folder shadows a package.
COMMAND = (sys.executable, "-P", "-m", "harness.engines.vllm.server", "serve")

_WATCH = "read _; for _ in 1 2 3 4; do kill -s INT -- -$1 || exit; sleep 5; done; kill -s KILL -- -$1"
"""For a shell that outlives this process: its standard input closes when we end, even by SIGKILL, and it stops the server."""


@dataclass(frozen=True, slots=True)
class ServedAdapter:
    """A LoRA adapter under the name that requests ask for it by."""

    name: str
    path: Path
    rank: int


def server_options(
    base: str,
    name: str,
    adapters: Sequence[ServedAdapter],
    socket: Path,
    chat_template: Path | None,
    given: Container[str] = (),
    generation_config: Path | None = None,
) -> list[str]:
    """The options of `vllm serve` for a server at a Unix socket, without those that are `given` elsewhere. None is secret.

    `generation_config` is a folder whose generation_config.json says which tokens end an answer; None leaves it to the model's.
    """
    options = [base, "--served-model-name", name, "--uds", str(socket)]
    # Requests get the decoding they ask for, not the one in the model's generation_config.json.
    chosen: dict[str, Any] = {"generation_config": generation_config or "vllm", "max_model_len": -1, **device_options(draws=True)}
    chosen["trust_remote_code"] = trusts_remote_code()
    # All its requests come from the reverse proxy.
    chosen["disable_uvicorn_access_log"] = True
    if adapters:
        chosen["max_lora_rank"] = max_lora_rank(max(adapter.rank for adapter in adapters))
        chosen["max_loras"] = len(adapters)
    for key, value in chosen.items():
        flag = key.replace("_", "-")
        if key not in given:
            options.append(f"--no-{flag}" if value is False else f"--{flag}" if value is True else f"--{flag}={value}")
    # For requests whose answers must be feasible (`harness prompt --constrain feasible`).
    options += ["--logits-processors", FEASIBLE_TOKENS]
    if chat_template is not None:
        options += ["--chat-template", str(chat_template)]
    if adapters:
        options += ["--enable-lora", "--lora-modules", *(f"{adapter.name}={adapter.path}" for adapter in adapters)]
    return options


def server_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The server's environment, made from this process's, without keys and without what lets clients load adapters."""
    own = {**environment, **vllm_environment(), "PYTHONUNBUFFERED": "1"}
    # A `VllmEngine` in this process may have set both to other values: the server needs a process for its engine, and a log.
    own |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "1", "VLLM_LOGGING_LEVEL": "INFO"}
    # Longer than the client keeps a connection, so that the client uses none that is closing.
    own["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"] = "90"
    for name in ("VLLM_API_KEY", "VLLM_ALLOW_RUNTIME_LORA_UPDATING", "HARNESS_API_KEY"):
        own.pop(name, None)
    return own


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder for sockets that no other user may enter, in /tmp wherever TMPDIR points: the paths of sockets must be short.
    Raises EngineError if none can be made."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="harness-", dir="/tmp")
    except OSError as error:
        raise EngineError(f"no folder for vLLM's sockets: /tmp cannot be written ({error.strerror})") from error
    with folder as name:
        yield Path(name)


def socket_client(path: Path, seconds: float) -> "Client":
    """A client of the server behind a socket, at `VLLM_URL`, with a timeout of `seconds` and no proxy of the environment."""
    from httpx2 import Client, HTTPTransport

    return Client(base_url=VLLM_URL, transport=HTTPTransport(uds=str(path)), timeout=seconds, trust_env=False)


def end_by_exceptions() -> None:
    """Make SIGTERM and SIGINT raise exceptions, so that open resources are closed on the way out.

    Shells start background jobs with SIGINT ignored.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    signal.signal(signal.SIGINT, signal.default_int_handler)


def check_port(host: str, port: int) -> None:
    """Raises EngineError if nothing can listen there."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise EngineError(f"port {port} of {host} is in use: choose another with --port") from error
        raise EngineError(f"--host {host} --port {port}: cannot listen there ({error.strerror})") from error


@dataclass(slots=True)
class Server:
    """A running server; `log` holds everything it prints. Use it in a `with`: the server ends with the block.

    It listens only at `socket`: whoever may enter the socket's folder may ask it anything, without a key. `options` follow
    `command`. With `again`, its log is continued.
    """

    options: Sequence[str]
    socket: Path
    log: Path
    again: bool = False
    command: Sequence[str] = COMMAND
    _process: subprocess.Popen[bytes] = field(init=False, repr=False)
    _watch: subprocess.Popen[bytes] = field(init=False, repr=False)

    def __enter__(self) -> "Server":
        require("vllm")
        self.log.parent.mkdir(parents=True, exist_ok=True)
        # A server that was killed leaves its socket behind.
        self.socket.unlink(missing_ok=True)
        with self.log.open("ab" if self.again else "wb") as log:
            self._process = subprocess.Popen(
                [*self.command, *self.options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # vLLM's processes talk through sockets of their own, which belong into the private folder, too.
                env={**server_environment(os.environ), "VLLM_RPC_BASE_PATH": str(self.socket.parent)},
                # A separate session: Ctrl-C reaches only this process, and `stop` reaches all of the server's processes.
                start_new_session=True,
            )
        watch = ["/bin/sh", "-c", _WATCH, "watch", str(self._process.pid)]
        self._watch = subprocess.Popen(watch, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def wait_until_ready(self) -> None:
        """Block until the server answers. Raises EngineError if it ends first or hangs."""
        deadline = time.monotonic() + STARTING
        with socket_client(self.socket, 5) as client:
            while not (_listens(self.socket) and _healthy(client)):
                if self._process.poll() is not None:
                    raise self._failure()
                if time.monotonic() > deadline:
                    raise EngineError(f"the server does not answer after {STARTING:.0f} s; its log: {self.log}")
                time.sleep(0.2)

    def wait(self) -> None:
        """Block as long as the server runs. By itself it ends only after a failure, so this raises EngineError."""
        self._process.wait()
        raise self._failure()

    def stop(self) -> None:
        """End the server and every process it has started."""
        try:
            # SIGINT, because vLLM ignores SIGTERM while it is starting; killed outright, it leaves shared memory behind.
            for _ in range(ROUNDS):
                self._signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(PAUSE)
                    break
            # If its first process was killed, the others still have to clean up.
            deadline = time.monotonic() + PAUSE
            while self._signal(0) and time.monotonic() < deadline:
                time.sleep(0.05)
        finally:
            self._signal(signal.SIGKILL)
            self._process.wait()
            self._watch.kill()
            self._watch.communicate()

    def _signal(self, number: int) -> bool:
        """Send a signal to all of the server's processes; False if none is left."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return False
        return True

    def _failure(self) -> EngineError:
        killed = -(self._process.returncode or 0)
        why = f"it was killed by {signal.Signals(killed).name}" if killed > 0 else last_error(self.log)
        return EngineError(f"the server ended: {why} (the whole log: {self.log})")


def _listens(path: Path) -> bool:
    """Whether a server listens at `path`. It is checked first, because httpx2 leaves a socket open when nothing listens."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def _healthy(client: "Client") -> bool:
    from httpx2 import HTTPError

    try:
        return client.get("/health").status_code == 200
    except HTTPError:
        return False


def last_error(log: Path) -> str:
    """The last line of a log that names an exception and does not merely refer to another one; without any, its last line."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 200_000))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    for line in reversed(lines):
        match = re.search(r"(?:^|[\s\]])((?:\w+\.)*\w*(?:Error|Exception): .*)", line)
        if match and "root cause" not in line:
            return match[1][:300]
    return lines[-1][:300] if lines else "it printed nothing"


def main() -> None:
    """Run `vllm serve` on this process's arguments, as `vllm.entrypoints.cli.main` does: vLLM's own script asks for the version
    of a package `vllm`, and the CPU build is installed under another name."""
    from vllm.entrypoints.cli.serve import cmd_init
    from vllm.entrypoints.serve.utils.api_utils import cli_env_setup
    from vllm.logger import configure_logging_from_args
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    cli_env_setup()
    parser = FlexibleArgumentParser(description="vLLM CLI")
    (serve,) = cmd_init()
    serve.subparser_init(parser.add_subparsers(required=True, dest="subparser"))
    arguments = parser.parse_args()
    configure_logging_from_args(arguments)
    serve.validate(arguments)
    serve.cmd(arguments)


if __name__ == "__main__":
    main()
