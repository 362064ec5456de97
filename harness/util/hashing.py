"""Fingerprints: 16 hex digits of a sha256, which equal things share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any


def short_hash(parts: Iterable[bytes]) -> str:
    """16 hex digits over some bytes, one part after another."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()[:16]


def json_hash(value: Any) -> str:
    """16 hex digits over a value for `json.dumps`; independent of the order of keys."""
    return short_hash([json.dumps(value, sort_keys=True).encode()])
