"""Well-behaved clients beside four attackers, on a server of `harness serve` that this program starts on this machine.

    python -m tools.soak --seconds 600

The attackers have a key of their own, and take all places beyond the shares of others. One opens requests that never end; one
pipelines requests and sends trailers without end, and reads nothing; one begins streams and does not read them; one asks the task
API for what takes long. vLLM is a stand-in that writes numbered words, so that what is measured is the server before it. Prints,
as a Markdown table, what became of the well-behaved clients' requests and of the server's memory, and exits with 1 where one was
lost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import aiohttp

from tests.helpers.serving import free_port
from tools.load import Load, load, percentile

ROOT = Path(__file__).parents[1]
HOST = "127.0.0.1"
EXECUTE = "/v1/harness/execute"
STREAM = {"model": "smollm2-135m", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 100_000, "stream": True}
HOSTILE = [
    {"task": "iglu", "instruction": "build a tower of 999999999999 blue blocks"},
    {"task": "minecraft", "instruction": "place 19 red blocks"},
    {"task": "hexagons", "instruction": "repeat steps 1 to 5 " * 200},
    {"task": "minecraft", "instruction": "put" + " " * 19_000 + "a red block on top of it"},
    {"task": "hexagons", "instruction": "paint " + "every other " * 1500 + "tile red"},
]
ORDERLY = {"task": "hexagons", "instruction": "Paint the first column red."}


class Attack:
    """What attackers do, again and again, each in a bounded number of connections; `done` counts it."""

    def __init__(self, port: int, key: str, end: float) -> None:
        self._port, self._end = port, end
        self._authorization = f"Authorization: Bearer {key}\r\n".encode()
        self._key = key
        self.done: Counter[str] = Counter()

    async def run(self) -> None:
        """All of them, until the end."""
        kinds: list[tuple[str, int, Callable[[], Awaitable[None]]]] = [
            ("requests that never end", 100, self._unending),
            ("pipelines and trailers that are not read", 20, self._unread_pipeline),
            ("streams that are not read", 20, self._unread_stream),
            ("instructions that take long", 4, self._long),
        ]
        await asyncio.gather(*(self._repeat(name, act) for name, number, act in kinds for _ in range(number)))

    async def _repeat(self, name: str, act: Callable[[], Awaitable[None]]) -> None:
        while time.monotonic() < self._end:
            with suppress(OSError, aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError):
                await act()
            self.done[name] += 1
            await asyncio.sleep(1)

    async def _sent(self, head: bytes, piece: bytes, pause: float, seconds: float) -> None:
        """Send a head, and then a piece again and again, until the server ends the connection or the time is over."""
        reader, writer = await asyncio.open_connection(HOST, self._port, limit=1024)
        stop = min(self._end, time.monotonic() + seconds)
        try:
            writer.write(head)
            while time.monotonic() < stop and not writer.is_closing():
                if piece:
                    writer.write(piece)
                    async with asyncio.timeout(5):
                        await writer.drain()
                await asyncio.sleep(pause)
        finally:
            del reader
            writer.transport.abort()

    async def _unending(self) -> None:
        path = (b"/health", b"/v1/chat/completions", b"/nothing")[self.done.total() % 3]
        head = b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + self._authorization
        await self._sent(head + b"Content-Type: application/json\r\nContent-Length: 9000000\r\n\r\n", b"a", 1, 120)

    async def _unread_pipeline(self) -> None:
        one = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n" + self._authorization + b"\r\n"
        if self.done.total() % 2:
            return await self._sent(one * 500, one * 500, 0.2, 60)
        chunked = b"POST /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        return await self._sent(chunked, b"X-Trailer: " + b"a" * 4000 + b"\r\n", 0.05, 60)

    async def _unread_stream(self) -> None:
        body = json.dumps(STREAM).encode()
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n" + self._authorization
        head += b"Content-Type: application/json\r\n"
        await self._sent(head + b"Content-Length: %d\r\n\r\n" % len(body) + body, b"", 1, 120)

    async def _long(self) -> None:
        headers, timeout = {"Authorization": f"Bearer {self._key}"}, aiohttp.ClientTimeout(30)
        async with aiohttp.ClientSession(f"http://{HOST}:{self._port}", headers=headers, timeout=timeout) as session:
            body = HOSTILE[self.done.total() % len(HOSTILE)]
            async with session.post(EXECUTE, json=body) as response:
                await response.read()
                self.done[f"instructions that take long: {response.status}"] += 1


async def orderly(port: int, key: str, end: float) -> tuple[Counter[str], list[float]]:
    """One client of the parser: the statuses of its answers, and the seconds that each took."""
    statuses: Counter[str] = Counter()
    waits: list[float] = []
    timeout = aiohttp.ClientTimeout(60)
    async with aiohttp.ClientSession(f"http://{HOST}:{port}", headers={"Authorization": f"Bearer {key}"}, timeout=timeout) as one:
        while time.monotonic() < end:
            asked = time.monotonic()
            try:
                async with one.post(EXECUTE, json=ORDERLY) as response:
                    await response.read()
                    statuses[str(response.status)] += 1
            except (OSError, aiohttp.ClientError, TimeoutError):
                statuses["none"] += 1
            waits.append(time.monotonic() - asked)
            await asyncio.sleep(0.5)
    return statuses, waits


async def soak(port: int, keys: dict[str, str], seconds: float, clients: int, pid: int) -> bool:
    """Print the table; whether no well-behaved request was lost or refused."""
    end = time.monotonic() + seconds
    attack = Attack(port, keys["attacker"], end)
    streams, (statuses, waits), _ = await asyncio.gather(
        load(f"http://{HOST}:{port}", "smollm2-135m", clients, seconds, key=keys["user"], pid=pid),
        orderly(port, keys["user"], end),
        attack.run(),
    )
    print(table(streams, statuses, waits, attack.done))
    return not streams.lost and not streams.refused and set(statuses) == {"200"}


def table(streams: Load, statuses: Counter[str], waits: list[float], done: Counter[str]) -> str:
    told = streams.told()
    rows = [
        ("streams of well-behaved clients, answered whole", f"{streams.whole:,}"),
        ("lost or refused", f"{streams.lost + streams.refused.total():,}"),
        ("first piece, median and 99th percentile", f"{told['first_piece_p50']} s, {told['first_piece_p99']} s"),
        ("answers of the parser to a well-behaved client, by status", ", ".join(f"{n:,} x {s}" for s, n in statuses.items())),
        ("its wait, median and 99th percentile", f"{percentile(waits, 0.5)} s, {percentile(waits, 0.99)} s"),
        ("most memory of the server in each half", " MiB, ".join(map(str, told["memory_mib_highest_in_each_half"])) + " MiB"),
        *((f"attacks: {name}", f"{number:,}") for name, number in sorted(done.items())),
    ]
    return "\n".join(["| | |", "|---|---:|", *(f"| {name} | {value} |" for name, value in rows)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=20, help="well-behaved ones, which stream")
    options = parser.parse_args()
    keys = {name: secrets.token_urlsafe(24) for name in ("user", "attacker", "admin")}
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "keys").touch(0o600)
        (folder / "keys").write_text(f"{keys['user']}\n{keys['attacker']}\n{keys['admin']} admin\n")
        command = [sys.executable, "-m", "tests.helpers.fake_serve", "serve", "--no-adapters", "--port", str(port)]
        command += ["--api-keys", str(folder / "keys"), "--max-in-flight", "150", "--tokens-per-minute", "100000000"]
        environment = {key: value for key, value in os.environ.items() if key != "HARNESS_API_KEY"}
        environment |= {"PYTHONPATH": str(ROOT), "FAKE_VLLM_PAUSE": "0.02"}
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            for line in server.stdout:
                if line.startswith("curl") and EXECUTE in line:
                    break
            well = asyncio.run(soak(port, keys, options.seconds, options.clients, server.pid))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
