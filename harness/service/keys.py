"""Who may ask: API keys from a file that only its owner can read, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from harness.errors import UsageError

ADMIN = "admin"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class Holder:
    """Who asks: the holder of a key, known by its place and never by the key itself."""

    name: str
    admin: bool = False
    """Whether adapters may be loaded and unloaded."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is kept: nothing that is printed shows it."""

    holder: Holder
    digest: bytes = field(repr=False)

    @classmethod
    def of(cls, text: str, name: str, admin: bool = False) -> Key:
        return cls(Holder(name, admin), _digest(text))


class Keys:
    """The keys that a server takes; without any, it takes every request."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self._keys = tuple(keys)

    def __bool__(self) -> bool:
        return bool(self._keys)

    def holder(self, scope: Mapping[str, Any]) -> Holder | None:
        """Who asks, of an ASGI scope; None if no key fits. The time does not tell which key nearly did."""
        if not self._keys:
            return Holder("anyone", _is_local(scope))
        scheme, _, key = header(scope, b"authorization").partition(" ")
        asked, found = _digest(key), None
        for one in self._keys:
            if hmac.compare_digest(one.digest, asked):
                found = one.holder
        return found if scheme.lower() == "bearer" else None


def read_keys(path: Path) -> list[Key]:
    """The keys of a file: one a line, `KEY` or `KEY admin`; `#` begins a comment.

    Raises UsageError for a file that cannot be read or that others than its owner can, and for a line that is no key.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise UsageError(f"--api-keys {path}: not a file")
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise UsageError(f"--api-keys {path}: other users of this machine can read it: chmod 600 {path}")
            lines = file.read().decode("ascii").splitlines()
    except OSError as error:
        raise UsageError(f"--api-keys {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--api-keys {path}: keys are of plain ASCII characters") from None
    keys: dict[bytes, Key] = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) > 2 or words[1:] not in ([], [ADMIN]):
            raise UsageError(f"--api-keys {path}, line {number}: write KEY, or KEY {ADMIN}")
        key = Key.of(words[0], f"key of line {number}", bool(words[1:]))
        if key.digest in keys:
            raise UsageError(f"--api-keys {path}, line {number}: the key is there twice")
        keys[key.digest] = key
    if not keys:
        raise UsageError(f"--api-keys {path}: there is no key in it")
    return list(keys.values())


def header(scope: Mapping[str, Any], name: bytes) -> str:
    """A header of an ASGI scope by its name in lower case; empty if it is not there."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _is_local(scope: Mapping[str, Any]) -> bool:
    """Whether a program of this machine asks, not a page that its browser shows: that names its origin, or another host."""
    address = (scope.get("client") or ("",))[0]
    try:
        local = ip_address(address).is_loopback
    except ValueError:
        return False
    host = header(scope, b"host").rpartition(":")
    named = host[0] if host[0] and host[2].isdigit() else "".join(host)
    return local and named in LOOPBACK_NAMES and not header(scope, b"origin")


def _digest(key: str) -> bytes:
    """Of equal length for all keys."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
