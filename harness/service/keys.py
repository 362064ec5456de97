"""Who may ask: API keys from a file that only its owner can read, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import os
import shlex
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from harness.engines.openai.endpoint import clean_key
from harness.errors import UsageError

VARIABLE = "HARNESS_API_KEY"
SHORTEST = 16
"""The fewest characters of a key: as many as `openssl rand -base64 12` makes, and too many to guess over a network."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks, named by the line of their key and never by the key itself."""

    name: str


ANYONE = Principal("anyone")
"""Who asks a server without keys: this machine's own programs and pages. All others have been refused before."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key as the server keeps it: printing it does not show it."""

    principal: Principal
    digest: bytes = field(repr=False)

    @classmethod
    def of(cls, text: str, name: str) -> Key:
        return cls(Principal(name), _digest(text))


class Keys:
    """The keys that a server takes; without any, it takes every request of this machine."""

    refusal = 401, "this server needs a key: Authorization: Bearer KEY"
    """The answer to a request without one: the status, and what to do."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self._keys = tuple(keys)

    def __len__(self) -> int:
        return len(self._keys)

    def principal(self, scope: Mapping[str, Any]) -> Principal | None:
        """Who sent the request of an ASGI scope; None if no key fits. The time it takes does not tell how nearly one did."""
        if not self._keys:
            return ANYONE
        scheme, _, key = header(scope, b"authorization").partition(" ")
        return self.owner(key) if scheme.lower() == "bearer" else None

    def owner(self, key: str) -> Principal | None:
        """Whose key it is; None if nobody's."""
        digest, principal = _digest(key), None
        for one in self._keys:
            if hmac.compare_digest(one.digest, digest):
                principal = one.principal
        return principal


def server_keys(host: str, file: Path | None) -> list[Key]:
    """The keys of a server that listens at `host`: from the file, and from the environment variable HARNESS_API_KEY.

    Raises UsageError for a key that is empty, too short or given twice, for a file that `read_keys` refuses, and if there is no
    key and other machines can reach the host.
    """
    keys = read_keys(file) if file else []
    if (text := os.environ.get(VARIABLE)) is not None:
        if not (text := clean_key(text, VARIABLE)):
            raise UsageError(f"{VARIABLE} is empty: unset it, or set it to a key of at least {SHORTEST} characters")
        keys.append(_key(text, VARIABLE, VARIABLE))
    if len({key.digest for key in keys}) < len(keys):
        raise UsageError(f"{VARIABLE} holds a key that --api-keys {file} has too: keep one of them")
    if not keys and not is_loopback(host):
        raise UsageError(f"--host {host}: other machines can reach it, so it needs a key: set {VARIABLE}, or --api-keys FILE")
    return keys


def read_keys(path: Path) -> list[Key]:
    """The keys of a file: one on each line; `#` begins a comment.

    Raises UsageError for a file that cannot be read, that users other than its owner can read, or that holds no keys, and for an
    invalid line.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise UsageError(f"--api-keys {path}: not a file")
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                command = shlex.join(["chmod", "600", str(path)])
                raise UsageError(f"--api-keys {path}: other users of this machine can read it: {command}")
            lines = file.read().decode("ascii").splitlines()
    except OSError as error:
        raise UsageError(f"--api-keys {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--api-keys {path}: keys consist of plain ASCII characters") from None
    keys: dict[bytes, Key] = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        place = f"--api-keys {path}, line {number}"
        if len(words) > 1:
            raise UsageError(f"{place}: write one key on each line")
        key = _key(words[0], f"key of line {number}", place)
        if key.digest in keys:
            raise UsageError(f"{place}: the key appears twice")
        keys[key.digest] = key
    if not keys:
        raise UsageError(f"--api-keys {path}: the file holds no key")
    return list(keys.values())


def header(scope: Mapping[str, Any], name: bytes) -> str:
    """A header of an ASGI scope by its name in lower case; empty if it is not there."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server that listens there."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _key(text: str, name: str, place: str) -> Key:
    if len(text) < SHORTEST:
        raise UsageError(f"{place}: the key has {len(text)} characters and needs at least {SHORTEST}: openssl rand -base64 24")
    return Key.of(text, name)


def _digest(key: str) -> bytes:
    """A hash, which has the same length for all keys."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
