"""Sessions in SQLite: versions, repeated changes, two servers, a full disk."""

import os
from pathlib import Path

import pytest

from harness.page.store import StaleError, State, Store, StoreError


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "folder" / "sessions.sqlite")


def counted(state: State) -> tuple[State, bool]:
    return {"count": state["count"] + 1}, state["count"] == 2


def test_a_session_continues_where_it_stopped(store: Store) -> None:
    begun = store.begin("execution", "Ada", {"count": 0}, "other")
    assert (begun.person, begun.name, begun.version, begun.finished, begun.about) == (1, "Ada", 1, False, "other")
    changed = store.change(begun.id, 1, "first-change", counted)
    assert (changed.state, changed.version) == ({"count": 1}, 2)
    # A second server on the same file, as after a restart.
    again = Store(store.file)
    assert again.token == store.token
    assert again.get(begun.id) == changed
    assert (again.list("execution", "other"), again.list("execution", "none")) == ([changed], [])
    assert again.begin("execution", "Bo", {}).person == 2
    assert again.begin("description", "Ada", {}).person == 1


def test_a_change_that_is_sent_again_is_made_once(store: Store) -> None:
    session = store.begin("execution", "Ada", {"count": 0})
    first = store.change(session.id, 1, "change-one", counted)
    assert store.change(session.id, 1, "change-one", counted) == first
    with pytest.raises(StaleError) as error:
        store.change(session.id, 1, "change-two", counted)
    assert error.value.session == first


def test_a_full_disk_is_reported_and_keeps_the_earlier_state(store: Store) -> None:
    session = store.begin("execution", "Ada", {"count": 0})
    (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
    store.connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="full"):
        store.change(session.id, 1, "change-one", lambda state: ({"text": "x" * 100_000}, False))
    assert store.get(session.id) == session
    store.connection.execute(f"PRAGMA max_page_count = {pages + 100}")
    assert store.change(session.id, 1, "change-two", lambda state: ({"text": "x" * 100_000}, True)).finished


def test_other_users_cannot_read_sessions(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = tmp_path / "runs" / "app"
        store = Store(folder / "sessions.sqlite")
        store.begin("execution", "Ada", {"count": 0})
        modes = {path.name: path.stat().st_mode & 0o777 for path in [folder, folder.parent, *folder.iterdir()]}
        store.connection.close()
    finally:
        os.umask(before)
    files = ("sessions.sqlite", "sessions.sqlite-wal", "sessions.sqlite-shm")
    assert modes == {"runs": 0o700, "app": 0o700, **dict.fromkeys(files, 0o600)}
