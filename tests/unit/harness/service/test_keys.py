"""Keys from a file and from the environment, their holders, and the servers that need one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.service.keys import VARIABLE, Key, Keys, Principal, read_keys, server_keys

ONE, TWO = "sk-one-of-sixteen", "sk-two-of-sixteen"


def key_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "keys"
    path.write_text(text)
    path.chmod(mode)
    return path


def asked(key: str = "") -> dict[str, Any]:
    return {"headers": [(b"authorization", f"Bearer {key}".encode("latin-1"))] if key else []}


def test_keys_of_a_file(tmp_path: Path) -> None:
    keys = Keys(read_keys(key_file(tmp_path, f"# ours\n{ONE}\n\n  {TWO}  # the lead\n")))
    one, two = keys.principal(asked(ONE)), keys.principal(asked(TWO))
    assert (one, two) == (Principal("key of line 2"), Principal("key of line 4"))
    for wrong in (ONE[:-1], f"{ONE} ", ONE.upper(), "", "# ours", "é"):
        assert keys.principal(asked(wrong)) is None
    assert keys.principal({"headers": [(b"authorization", ONE.encode())]}) is None
    assert "sk-" not in f"{read_keys(tmp_path / 'keys')!r} {keys!r} {one!r}"


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    for mode in (0o640, 0o604):
        path = key_file(tmp_path, f"{ONE}\n", mode)
        with pytest.raises(UsageError, match=f"chmod 600 {path}$"):
            read_keys(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{ONE}\n{TWO} admin\n", "line 2: write one key on each line"),
        (f"{ONE}\n{ONE}\n", "line 2: the key appears twice"),
        ("sk-short\n", "line 1: the key has 8 characters and needs at least 16"),
        ("# none\n", "the file holds no key"),
        ("sk-é\n", "plain ASCII"),
    ],
)
def test_an_invalid_file_of_keys_is_refused_without_printing_the_keys(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        read_keys(key_file(tmp_path, text))
    assert "sk-" not in str(caught.value)


def test_without_keys_anyone_is_admitted_and_with_keys_their_holders_are() -> None:
    assert Keys().principal(asked()) == Principal("anyone")
    keys = Keys([Key.of("sk-one", "one")])
    assert keys.principal(asked()) is None
    assert keys.principal(asked("sk-one")) == Principal("one")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org"])
def test_a_server_that_other_machines_reach_needs_a_key(host: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(UsageError, match=f"--host {host}: other machines can reach it.* set {VARIABLE}, or --api-keys FILE"):
        server_keys(host, None)
    assert len(server_keys(host, key_file(tmp_path, f"{ONE}\n"))) == 1
    monkeypatch.setenv(VARIABLE, TWO)
    assert len(server_keys(host, None)) == 1


def test_keys_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    for host in ("127.0.0.1", "::1", "localhost"):
        assert server_keys(host, None) == []
    monkeypatch.setenv(VARIABLE, "")
    with pytest.raises(UsageError, match=f"{VARIABLE} is empty"):
        server_keys("127.0.0.1", None)
    monkeypatch.setenv(VARIABLE, "x" * 15)
    with pytest.raises(UsageError, match=f"{VARIABLE}: the key has 15 characters and needs at least 16"):
        server_keys("127.0.0.1", None)
    monkeypatch.setenv(VARIABLE, ONE)
    with pytest.raises(UsageError, match="keep one of them"):
        server_keys("127.0.0.1", key_file(tmp_path, f"{ONE}\n"))
