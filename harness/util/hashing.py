"""Fingerprints, which are hex digits of a sha256, mostly the first 16; versions of installed packages."""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any


def short_hash(parts: Iterable[bytes]) -> str:
    """16 hex digits over some bytes, one part after another."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()[:16]


def file_sha256(path: Path) -> str:
    """64 hex digits over a file, which is read in pieces: weights may be larger than the free memory. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_hash(value: Any) -> str:
    """16 hex digits over a value for `json.dumps`; independent of the order of keys."""
    return short_hash([json.dumps(value, sort_keys=True).encode()])


def installed(packages: Iterable[str]) -> dict[str, str]:
    """The versions of the packages, without those that are not installed."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions
