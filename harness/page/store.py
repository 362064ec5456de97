"""Sessions of the page in an SQLite file: a game in progress is not lost if the server is killed.

A session is a JSON state with a version. A change names the version that it was made for, so that the later one of two tabs that
change the same session is refused. A change also has an id, so that one whose answer was lost can be sent again.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, Literal, get_args
from uuid import uuid4

from harness.errors import HarnessError, UsageError
from harness.util.files import make_private

State = dict[str, Any]
Kind = Literal["description", "execution"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The kinds of sessions. A file of an earlier version may hold others, which count as not there."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS people (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, person INTEGER NOT NULL REFERENCES people, about TEXT NOT NULL,
    version INTEGER NOT NULL, change TEXT NOT NULL, finished INTEGER NOT NULL, begun REAL NOT NULL, changed REAL NOT NULL,
    state TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS by_kind ON sessions (kind, about);
CREATE TABLE IF NOT EXISTS tokens (token TEXT NOT NULL);
"""
_SELECT = (
    "SELECT sessions.id, kind, person, name, about, version, change, finished, begun, changed, state "
    "FROM sessions JOIN people ON people.id = person "
)


class StoreError(HarnessError):
    """A file of the page cannot be read or written, for example because the disk is full."""


class StaleError(UsageError):
    """A change was made for an earlier version of the session; `session` is as it is now."""

    def __init__(self, session: "Session") -> None:
        self.session = session
        super().__init__("this session was changed elsewhere, perhaps in another tab: this is how it is now")


@dataclass(frozen=True)
class Session:
    id: str
    kind: str
    person: int
    """The number of the person who plays, from 1."""
    name: str
    about: str
    """For an execution, the id of its description; empty otherwise."""
    version: int
    change: str
    """The id of the last change."""
    finished: bool
    begun: float
    """In seconds since 1970, like `changed`."""
    changed: float
    state: State


class Store:
    """All methods may be called from any thread, and raise StoreError if the file cannot be used. `token` opens the page."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.RLock()
        try:
            # SQLite creates its other files with the mode of this one.
            make_private(file)
        except OSError as error:
            raise StoreError(f"{file.parent}: cannot be written: {error.strerror}") from None
        with self._failing():
            self.connection = sqlite3.connect(file, timeout=10, check_same_thread=False, isolation_level=None)
            self.connection.row_factory = sqlite3.Row
            self.connection.execute("PRAGMA journal_mode = WAL")
            # A change that was answered is on disk, whatever happens next.
            self.connection.execute("PRAGMA synchronous = FULL")
            self.connection.executescript(_SCHEMA)
            # It outlives the server, so that an open page goes on when the server is started again.
            new = "INSERT INTO tokens SELECT ? WHERE NOT EXISTS (SELECT * FROM tokens)"
            self.connection.execute(new, (token_urlsafe(32),))
            (self.token,) = self.connection.execute("SELECT token FROM tokens").fetchone()

    def begin(self, kind: Kind, name: str, state: State, about: str = "") -> Session:
        """A new session of a person, who is known by name."""
        now, new = time.time(), uuid4().hex
        with self._writing():
            self.connection.execute("INSERT OR IGNORE INTO people (name) VALUES (?)", (name,))
            (person,) = self.connection.execute("SELECT id FROM people WHERE name = ?", (name,)).fetchone()
            row = (new, kind, person, about, 1, "", False, now, now, json.dumps(state))
            self.connection.execute(f"INSERT INTO sessions VALUES ({', '.join('?' * len(row))})", row)
        return self.get(new)

    def get(self, session_id: str) -> Session:
        """Raises UsageError if there is no such session."""
        with self._failing():
            row = self.connection.execute(f"{_SELECT} WHERE sessions.id = ?", (session_id,)).fetchone()
        if row is None or row["kind"] not in KINDS:
            raise UsageError(f"there is no session {session_id[:40]!r}")
        return _session(row)

    def list(self, kind: str, about: str | None = None) -> list[Session]:
        """The sessions of a kind, in the order in which they began."""
        with self._failing():
            rows = self.connection.execute(
                f"{_SELECT} WHERE kind = ? AND (about = ? OR ? IS NULL) ORDER BY begun, sessions.rowid", (kind, about, about)
            ).fetchall()
        return [_session(row) for row in rows]

    def change(self, session_id: str, version: int, change: str, make: Callable[[State], tuple[State, bool]]) -> Session:
        """The session after a change: `make` takes its state and returns the new one, and whether the session is finished.

        A change that is sent again is made only once. Raises StaleError if the session has another version, and what `make`
        raises.
        """
        with self._writing():
            session = self.get(session_id)
            if session.change == change:
                return session
            if session.version != version:
                raise StaleError(session)
            state, finished = make(session.state)
            self.connection.execute(
                "UPDATE sessions SET version = ?, change = ?, finished = ?, changed = ?, state = ? WHERE id = ?",
                (version + 1, change, finished, time.time(), json.dumps(state), session_id),
            )
        return self.get(session_id)

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction: either all of it is written or nothing."""
        with self._failing(), self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            yield

    @contextmanager
    def _failing(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise StoreError(f"{self.file}: {error}; nothing was changed: free some space, or make it writable") from error


def _session(row: sqlite3.Row) -> Session:
    fields = dict(row)
    return Session(**fields | {"finished": bool(fields["finished"]), "state": json.loads(fields["state"])})
