"""How much each key may ask: requests at a time, and requests a minute."""

from __future__ import annotations

from collections import Counter
from time import monotonic


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


class Rate:
    """A token bucket for each key. It holds `limit` requests and fills by as many a minute; None means that there is no limit."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._buckets: dict[str, tuple[float, float]] = {}
        """For each key, the requests that were left, and when that was."""

    def admit(self, name: str) -> float:
        """0 if a request is admitted, which counts it; otherwise the seconds until one is."""
        if self._limit is None:
            return 0
        now, most = monotonic(), self._limit
        left, at = self._buckets.get(name, (most, now))
        left = min(most, left + (now - at) * most / 60)
        # A rounding error must not make a client that waited as long as it was told wait again.
        admitted = left > 1 - 1e-6
        self._buckets[name] = left - admitted, now
        return 0 if admitted else (1 - left) * 60 / most
