"""Who may ask: API keys from a file that only its owner can read, compared in constant time."""

import hashlib
import hmac
import os
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.engines.openai.endpoint import clean_key
from harness.errors import UsageError

VARIABLE = "HARNESS_API_KEY"
SHORTEST = 16
"""The fewest characters of a key: as many as `openssl rand -base64 12` makes, and too many to guess over a network."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""The addresses that only this machine reaches."""
ANYONE = "anyone"
"""Who asks a server without keys: this machine's own programs and pages. All others have been refused before."""


class Keys:
    """The keys that a server takes: the holders by the digest of their key. A holder is named by the line of the key and never by
    the key itself. Without any, the server takes every request of this machine."""

    refusal = 401, "this server needs a key: Authorization: Bearer KEY"
    """The answer to a request without one: the status, and what to do."""

    def __init__(self, holders: Mapping[bytes, str] | None = None) -> None:
        self._holders = dict(holders or {})

    def __len__(self) -> int:
        return len(self._holders)

    def principal(self, scope: Mapping[str, Any]) -> str | None:
        """Who sent the request of an ASGI scope; None if no key fits. The time it takes does not tell how nearly one did."""
        if not self._holders:
            return ANYONE
        scheme, _, key = header(scope, b"authorization").partition(" ")
        return self.owner(key) if scheme.lower() == "bearer" else None

    def owner(self, key: str) -> str | None:
        """Whose key it is; None if nobody's."""
        asked, owner = digest(key), None
        for known, holder in self._holders.items():
            if hmac.compare_digest(known, asked):
                owner = holder
        return owner


def server_keys(host: str, file: Path | None) -> dict[bytes, str]:
    """The keys of a server that listens at `host`, as `Keys` takes them: from the file, and from the environment variable
    HARNESS_API_KEY.

    Raises UsageError for a key that is empty, too short or given twice, for a file that `read_keys` refuses, and if there is no
    key and other machines can reach the host.
    """
    keys = read_keys(file) if file else {}
    if (text := os.environ.get(VARIABLE)) is not None:
        if not (text := clean_key(text, VARIABLE)):
            raise UsageError(f"{VARIABLE} is empty: unset it, or set it to a key of at least {SHORTEST} characters")
        if keys.setdefault(_long_enough(text, VARIABLE), VARIABLE) != VARIABLE:
            raise UsageError(f"{VARIABLE} holds a key that --api-keys {file} has too: keep one of them")
    if not keys and host not in LOOPBACK:
        raise UsageError(f"--host {host}: other machines can reach it, so it needs a key: set {VARIABLE}, or --api-keys FILE")
    return keys


def read_keys(path: Path) -> dict[bytes, str]:
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
    keys: dict[bytes, str] = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        place, holder = f"--api-keys {path}, line {number}", f"key of line {number}"
        if len(words) > 1:
            raise UsageError(f"{place}: write one key on each line")
        if words and keys.setdefault(_long_enough(words[0], place), holder) != holder:
            raise UsageError(f"{place}: the key appears twice")
    if not keys:
        raise UsageError(f"--api-keys {path}: the file holds no key")
    return keys


def header(scope: Mapping[str, Any], name: bytes) -> str:
    """A header of an ASGI scope by its name in lower case; empty if it is not there."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def digest(key: str) -> bytes:
    """A hash, which has the same length for all keys."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def _long_enough(key: str, place: str) -> bytes:
    """The digest of a key. Raises UsageError if it is too short."""
    if len(key) < SHORTEST:
        raise UsageError(f"{place}: the key has {len(key)} characters and needs at least {SHORTEST}: openssl rand -base64 24")
    return digest(key)
