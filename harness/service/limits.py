"""How much each holder of a key may ask: requests and tokens a minute.

Tokens are known when an answer ends, so that a limiter must be able to charge after it has admitted; the usual libraries cannot.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

BYTES_PER_TOKEN = 4
"""Of a request's body, until the answer says how many tokens it had; of an answer that does not say it."""
_USAGE = re.compile(rb'"total_tokens":\s*(\d{1,12})')
_OVERLAP = 40
"""Bytes within which the count stands, which two pieces of an answer may share."""


@dataclass(slots=True)
class Bucket:
    """Fills by `rate` a minute up to `rate`; what is taken out afterwards may leave it below zero."""

    rate: float
    clock: Callable[[], float] = time.monotonic
    level: float = field(init=False)
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self.level, self._at = self.rate, self.clock()

    def wait(self, amount: float) -> float:
        """Seconds until `amount` is in it; 0 if it is."""
        now = self.clock()
        self.level = min(self.rate, self.level + (now - self._at) * self.rate / 60)
        self._at = now
        seconds = (amount - self.level) * 60 / self.rate
        return seconds if seconds > 1e-6 else 0.0

    def take(self, amount: float) -> None:
        self.level -= amount


class Limits:
    """The buckets of all holders, by name. A limit that is None is no limit."""

    def __init__(
        self, requests: int | None = None, tokens: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rates = {"requests": requests, "tokens": tokens}
        self._clock = clock
        self._buckets: dict[tuple[str, str], Bucket] = {}

    @property
    def counts_tokens(self) -> bool:
        return self._rates["tokens"] is not None

    def admit(self, name: str) -> tuple[str, float] | None:
        """None if a request is admitted, and is counted; else which limit is reached and the seconds until it is not."""
        waits = {kind: bucket.wait(1) for kind in self._rates if (bucket := self._bucket(kind, name))}
        for kind, seconds in waits.items():
            if seconds > 0:
                return kind, seconds
        if bucket := self._bucket("requests", name):
            bucket.take(1)
        return None

    def charge(self, name: str, tokens: float) -> None:
        """Count tokens; a negative number gives back what was reckoned too much."""
        if bucket := self._bucket("tokens", name):
            bucket.take(tokens)

    def _bucket(self, kind: str, name: str) -> Bucket | None:
        rate = self._rates[kind]
        if rate is None:
            return None
        if (kind, name) not in self._buckets:
            self._buckets[kind, name] = Bucket(rate, self._clock)
        return self._buckets[kind, name]


@dataclass(slots=True)
class Tally:
    """Counts the tokens of an exchange while the answer passes."""

    asked: int
    """Bytes of the request's body."""
    _told: int | None = None
    _events: int = 0
    _size: int = 0
    _end: bytes = b""
    _charged: float = 0.0

    def due(self) -> float:
        """What has come to it since this was asked last, or less than nothing."""
        before, self._charged = self._charged, self.tokens
        return self._charged - before

    def see(self, piece: bytes) -> None:
        end = self._end + piece
        if found := _USAGE.findall(end):
            self._told = int(found[-1])
        self._events += piece.count(b"data: ")
        self._size += len(piece)
        self._end = end[-_OVERLAP:]

    @property
    def tokens(self) -> float:
        """As the answer says; else one for each event of a stream, or by the bytes."""
        if self._told is not None:
            return self._told
        return self.asked / BYTES_PER_TOKEN + (self._events or self._size / BYTES_PER_TOKEN)
