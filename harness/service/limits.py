"""How much each key may ask: requests at a time, requests and tokens a minute.

Tokens are known when an answer ends, so that a limiter must be able to charge after it has admitted; the usual libraries cannot.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from pydantic_core import from_json

BYTES_PER_TOKEN = 4
"""What a request's body is charged by until its answer says its tokens, and an answer that breaks off before it does."""
MOST_READ = 10_000_000
"""Bytes of an answer, or of one event of a stream, within which its usage is looked for."""


class Slots:
    """Requests that are answered at a time. Half of them are shared out equally among the keys, so that none of them can take
    another's; who comes first has the rest."""

    def __init__(self, total: int, keys: int) -> None:
        self._share = max(1, total // 2 // keys)
        self._free = total - self._share * keys
        self._used: Counter[str] = Counter()

    @property
    def used(self) -> int:
        return self._used.total()

    def take(self, name: str) -> bool:
        """Whether there is a slot for this key, which is then taken."""
        beyond = sum(max(0, used - self._share) for used in self._used.values())
        if self._used[name] >= self._share and beyond >= self._free:
            return False
        self._used[name] += 1
        return True

    def give_back(self, name: str) -> None:
        self._used[name] -= 1


@dataclass(slots=True)
class Bucket:
    """Fills by `rate` a minute up to `rate`; what is taken out afterwards may leave it below zero."""

    rate: float
    level: float = field(init=False)
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self.level, self._at = self.rate, monotonic()

    def wait(self, amount: float) -> float:
        """Seconds until `amount` is in it; 0 if it is."""
        now = monotonic()
        self.level = min(self.rate, self.level + (now - self._at) * self.rate / 60)
        self._at = now
        seconds = (amount - self.level) * 60 / self.rate
        return seconds if seconds > 1e-6 else 0.0

    def take(self, amount: float) -> None:
        self.level -= amount


class Limits:
    """The buckets of all keys, by name. A limit that is None is no limit."""

    def __init__(self, requests: int | None = None, tokens: int | None = None) -> None:
        rates = {"requests": requests, "tokens": tokens}
        self._buckets = {
            kind: defaultdict[str, Bucket](partial(Bucket, rate)) for kind, rate in rates.items() if rate is not None
        }

    def admit(self, name: str) -> tuple[str, float] | None:
        """None if a request is admitted, and is counted; else which limit is reached and the seconds until it is not."""
        for kind, buckets in self._buckets.items():
            if seconds := buckets[name].wait(1):
                return kind, seconds
        if "requests" in self._buckets:
            self._buckets["requests"][name].take(1)
        return None

    def charge(self, name: str, tokens: float) -> None:
        """Count tokens; a negative number gives back what was estimated too high."""
        if "tokens" in self._buckets:
            self._buckets["tokens"][name].take(tokens)


@dataclass(slots=True)
class Usage:
    """The tokens of one request and its answer."""

    sent: int
    """Bytes of the request's body."""
    total: int | None = None
    """As vLLM counts them; None until it has said so."""
    answered: int = 0
    """Bytes of the answer so far."""

    @property
    def tokens(self) -> float:
        """As vLLM counts them; estimated from the bytes where the answer breaks off before that."""
        return (self.sent + self.answered) / BYTES_PER_TOKEN if self.total is None else self.total


class UsageReader:
    """Reads the usage out of vLLM's answer while it passes: the field of a JSON answer, or the event of a stream.

    Only JSON that is parsed counts: what a model writes into a string is never taken for it. With `hidden`, the event that holds
    nothing but the usage is taken out of the stream: the client has not asked for it.
    """

    def __init__(self, usage: Usage, *, stream: bool, hidden: bool) -> None:
        self._usage, self._stream, self._hidden = usage, stream, hidden
        self._rest = bytearray()

    def feed(self, piece: bytes) -> bytes:
        """The next piece of the answer; returns what the client gets now, which ends with a whole event in a stream."""
        self._usage.answered += len(piece)
        self._rest += piece
        if len(self._rest) > MOST_READ:
            passed = bytes(self._rest) if self._stream else piece
            self._rest.clear()
            return passed
        if not self._stream:
            return piece
        events, mark, rest = self._rest.rpartition(b"\n\n")
        if not mark:
            return b""
        self._rest = rest
        return b"".join(event + mark for event in bytes(events).split(mark) if not self._read(event))

    def end(self) -> bytes:
        """What is left at the end of the answer."""
        rest = bytes(self._rest)
        if not self._stream:
            self._count(rest)
            return b""
        return rest

    def _read(self, event: bytes) -> bool:
        """Count an event of a stream; True if the client must not see it."""
        if b'"usage"' not in event:
            return False
        read = self._count(b"".join(line[5:] for line in event.splitlines() if line.startswith(b"data:")))
        return self._hidden and read is not None and read.get("choices") == []

    def _count(self, text: bytes) -> dict[str, Any] | None:
        """The JSON object, if it says its usage: at the top, or in the object of a response or message that it is about."""
        try:
            read = from_json(text)
        except ValueError:
            return None
        if not isinstance(read, dict):
            return None
        for place in (read, read.get("response"), read.get("message")):
            if isinstance(place, dict) and (total := _total(place.get("usage"))) is not None:
                self._usage.total = total
                return read
        return None


def _total(usage: Any) -> int | None:
    """The tokens of a usage as the chat, responses and messages protocols write it."""
    if not isinstance(usage, dict):
        return None
    counts = [usage.get(name) for name in ("total_tokens", "input_tokens", "output_tokens")]
    total, *parts = (count if isinstance(count, int) and count >= 0 else None for count in counts)
    return sum(part or 0 for part in parts) if total is None and any(part is not None for part in parts) else total
