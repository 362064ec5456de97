"""How much each key may ask: requests at a time, requests and tokens a minute.

Tokens are known only when an answer ends, so a limiter must be able to charge after it has admitted; the usual libraries cannot.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from pydantic_core import from_json

BYTES_PER_TOKEN = 4
"""For the estimate that counts until an answer reports its tokens, and if it breaks off before it does."""
MOST_READ = 10_000_000
"""The most bytes of an answer, or of one event of a stream, in which its usage is looked for."""


class Slots:
    """Slots for requests that are answered at the same time. Half of them are divided equally among the keys, so that no key can
    take another's; the rest goes to whoever comes first."""

    def __init__(self, total: int, keys: int) -> None:
        self._share = max(1, total // 2 // keys)
        self._free = total - self._share * keys
        self._used: Counter[str] = Counter()

    @property
    def used(self) -> int:
        return self._used.total()

    def take(self, name: str) -> bool:
        """Take a slot for this key, and return True; False if there is none."""
        beyond = sum(max(0, used - self._share) for used in self._used.values())
        if self._used[name] >= self._share and beyond >= self._free:
            return False
        self._used[name] += 1
        return True

    def give_back(self, name: str) -> None:
        self._used[name] -= 1


@dataclass(slots=True)
class Bucket:
    """A token bucket that fills by `rate` a minute, up to `rate`. `take` may leave its level below zero."""

    rate: float
    level: float = field(init=False)
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self.level, self._at = self.rate, monotonic()

    def wait(self, amount: float) -> float:
        """Seconds until the bucket holds `amount`; 0 if it does."""
        now = monotonic()
        self.level = min(self.rate, self.level + (now - self._at) * self.rate / 60)
        self._at = now
        seconds = (amount - self.level) * 60 / self.rate
        return seconds if seconds > 1e-6 else 0.0

    def take(self, amount: float) -> None:
        self.level -= amount


class Limits:
    """The buckets of all keys, by name. None as a limit means that there is none."""

    def __init__(self, requests: int | None = None, tokens: int | None = None) -> None:
        rates = {"requests": requests, "tokens": tokens}
        self._buckets = {
            kind: defaultdict[str, Bucket](partial(Bucket, rate)) for kind, rate in rates.items() if rate is not None
        }

    def admit(self, name: str) -> tuple[str, float] | None:
        """None if a request is admitted, which counts it; otherwise, which limit is reached and the seconds until it is not."""
        for kind, buckets in self._buckets.items():
            if seconds := buckets[name].wait(1):
                return kind, seconds
        if "requests" in self._buckets:
            self._buckets["requests"][name].take(1)
        return None

    def charge(self, name: str, tokens: float) -> None:
        """Count tokens; a negative number gives back what an earlier estimate charged too much."""
        if "tokens" in self._buckets:
            self._buckets["tokens"][name].take(tokens)


@dataclass(slots=True)
class Usage:
    """The tokens of one request and its answer."""

    sent: int
    """Bytes of the request's body."""
    total: int | None = None
    """The tokens as vLLM counts them; None until it has reported them."""
    answered: int = 0
    """Bytes of the answer so far."""

    @property
    def tokens(self) -> float:
        """The tokens as vLLM counts them; estimated from the bytes until it has reported them."""
        return (self.sent + self.answered) / BYTES_PER_TOKEN if self.total is None else self.total


class UsageReader:
    """Reads the usage from vLLM's answer as it passes: from the field of a JSON answer, or from the event of a stream.

    Only parsed JSON counts, so a string that a model writes is never taken for usage. With `hidden`, the event that holds only
    the usage is removed from the stream, because the client has not asked for it.
    """

    def __init__(self, usage: Usage, *, stream: bool, hidden: bool) -> None:
        self._usage, self._stream, self._hidden = usage, stream, hidden
        self._rest = bytearray()

    def feed(self, piece: bytes) -> bytes:
        """Take the next piece of the answer, and return what the client gets now: in a stream, whole events only."""
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
        """What the client gets when the answer has ended: the rest of a stream."""
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
        """The JSON object if it holds a usage, which is counted; None otherwise."""
        try:
            match read := from_json(text):
                case {"usage": {"total_tokens": int(total)}} if total >= 0:
                    self._usage.total = total
                    return dict(read)
        except ValueError:
            pass
        return None
