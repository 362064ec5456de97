"""Puts load on a server of `harness serve`: streaming clients that ask again as soon as they are answered.

    harness serve --port 8000 &
    python -m tests.helpers.load --url http://127.0.0.1:8000 --model hexagons --clients 200 --seconds 120

Prints, as JSON: the requests answered in full, refused (by status, and whether Retry-After is missing) and lost (admitted, but
not answered in full), the seconds until the first piece of an answer, tokens a second, and the memory of the server's process,
if its id is given.
"""

import argparse
import asyncio
import io
import json
import os
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

PROMPT = "Paint the tile in row {}, column {} red."
TOKENS = 16
"""The tokens of each answer, exactly."""
CHAT, EXECUTE = "/v1/chat/completions", "/v1/harness/execute"
JSON = {"Content-Type": "application/json"}
LOST = aiohttp.ClientError, OSError, TimeoutError


def _request(**fields: Any) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1, **fields}).encode()


ATTACKS: dict[str, tuple[str, bytes]] = {
    "template": (CHAT, _request(chat_template="{% for n in range(10**9) %}{{ n }}{% endfor %}")),
    "unknown fields": (CHAT, _request(**{str(n): n for n in range(100_000)})),
    "unknown keys": (CHAT, _request(messages=[{str(n): n for n in range(100_000)}])),
    "junk": (CHAT, b'{"messages":[' + b"{}," * 3_000_000 + b"{}]}"),
    "history": (EXECUTE, b'{"task":"minecraft","instruction":"a","history":[' + b"{}," * 300_000 + b"{}]}"),
    "body of a GET": ("/v1/models", b"a" * 5_000_000),
}
"""Large requests that a server must refuse without delay for others: path and body, by name."""


@dataclass
class Load:
    """What the clients saw."""

    whole: int = 0
    lost: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    attacks: Counter[str] = field(default_factory=Counter)
    """The answers to attacks, as `NAME: STATUS`."""
    firsts: list[float] = field(default_factory=list)
    """Seconds until the first piece of each answer: the time in queues, and for reading the prompt."""
    tokens: int = 0
    seconds: float = 0.0
    memory: list[float] = field(default_factory=list)
    """MiB of the server's process, one sample a second."""

    def summary(self) -> dict[str, Any]:
        firsts, half = sorted(self.firsts), len(self.memory) // 2
        return {
            "whole": self.whole,
            "lost": self.lost,
            "refused": self.refused,
            "first_piece_p50_p99": [firsts[int(share * len(firsts))] for share in (0.5, 0.99) if firsts],
            "tokens_per_second": self.tokens / self.seconds,
            "seconds": self.seconds,
            "memory_mib_highest_in_each_half": [max(part) for part in (self.memory[:half], self.memory[half:]) if part],
        }


async def load(
    url: str, model: str, clients: int, seconds: float, *, pid: int = 0, socket: Path | None = None, attack: bool = False
) -> Load:
    """Ask from `clients` at a time, through a Unix `socket` if it is given, with the key in HARNESS_API_KEY. After `seconds`, no
    request begins. `attack`: the requests of ATTACKS go on meanwhile."""
    counts, begun = Load(), time.monotonic()
    headers = {"Authorization": f"Bearer {key}"} if (key := os.environ.get("HARNESS_API_KEY")) else {}
    connector = aiohttp.UnixConnector(str(socket), limit=0) if socket else aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(None, sock_connect=30)
    async with aiohttp.ClientSession(url, headers=headers, connector=connector, timeout=timeout) as session:
        watching = asyncio.create_task(_watch(pid, counts))
        end = begun + seconds
        work = [_client(session, model, n, end, counts) for n in range(clients)]
        if attack:
            work += [_attack(session, name, end, counts) for name in ATTACKS]
        await asyncio.gather(*work)
        watching.cancel()
    counts.seconds = time.monotonic() - begun
    return counts


async def _client(session: aiohttp.ClientSession, model: str, number: int, end: float, counts: Load) -> None:
    body = {"model": model, "max_tokens": TOKENS, "temperature": 0, "stream": True}
    body |= {"stream_options": {"include_usage": True}, "ignore_eos": True}
    turn = 0
    while time.monotonic() < end:
        said = PROMPT.format(turn % 10, number % 18)
        turn += 1
        try:
            wait = await _ask(session, {**body, "messages": [{"role": "user", "content": said}]}, counts)
        except LOST:
            counts.refused["no connection"] += 1
            wait = 1.0
        await asyncio.sleep(min(wait, max(0.0, end - time.monotonic())))


async def _ask(session: aiohttp.ClientSession, body: dict[str, Any], counts: Load) -> float:
    """Send one request; returns the seconds to wait after a refusal. Raises aiohttp's error if there is no connection."""
    asked, lines, first = time.monotonic(), list[bytes](), 0.0
    async with session.post(CHAT, json=body) as response:
        if response.status != 200:
            after = response.headers.get("Retry-After", "")
            counts.refused[f"{response.status}{'' if after.isdigit() else ' without Retry-After'}"] += 1
            return float(after) if after.isdigit() else 1.0
        with suppress(*LOST):
            async for line in response.content:
                first = first or time.monotonic() - asked
                lines += [line] if line.startswith(b"data: ") else []
    # A stream may end properly after it reported an error, so an answer without tokens does not count.
    if len(lines) < 2 or not lines[-1].startswith(b"data: [DONE]") or not (usage := json.loads(lines[-2][6:]).get("usage")):
        counts.lost += 1
        return 0.0
    counts.whole += 1
    counts.tokens += usage["completion_tokens"]
    counts.firsts.append(first)
    return 0.0


async def _attack(session: aiohttp.ClientSession, name: str, end: float, counts: Load) -> None:
    path, body = ATTACKS[name]
    method = "GET" if path == "/v1/models" else "POST"
    while time.monotonic() < end:
        try:
            async with session.request(method, path, data=io.BytesIO(body), headers=JSON) as response:
                counts.attacks[f"{name}: {response.status}"] += 1
                await response.read()
        except LOST:
            counts.attacks[f"{name}: no answer"] += 1
        await asyncio.sleep(1)


async def _watch(pid: int, counts: Load) -> None:
    """Sample a process's memory (Linux only)."""
    while pid:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        counts.memory.append(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)
        await asyncio.sleep(1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--model", default="hexagons", help="the name of a served model")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--pid", type=int, default=0, help="the process whose memory is watched")
    counts = asyncio.run(load(**vars(parser.parse_args())))
    print(json.dumps(counts.summary(), indent=1))
    return 1 if counts.lost or not counts.whole else 0


if __name__ == "__main__":
    sys.exit(main())
