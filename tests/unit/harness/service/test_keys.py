"""Keys from a file and from the environment, their holders, and the servers that need one."""

from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.service.keys import ANYONE, VARIABLE, Keys, read_keys, server_keys

ONE, TWO = "sk-one-of-sixteen", "sk-two-of-sixteen"


def key_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "keys"
    path.write_text(text)
    path.chmod(mode)
    return path


def asked(key: str = "") -> dict[str, Any]:
    return {"headers": [(b"authorization", f"Bearer {key}".encode("latin-1"))] if key else []}


def test_the_holders_of_a_file_are_admitted_by_their_lines(tmp_path: Path) -> None:
    keys = Keys(read_keys(key_file(tmp_path, f"# ours\n{ONE}\n\n  {TWO}  # the lead\n")))
    assert (keys.principal(asked(ONE)), keys.principal(asked(TWO))) == ("key of line 2", "key of line 4")
    for wrong in (ONE[:-1], f"{ONE} ", ONE.upper(), "", "# ours", "é"):
        assert keys.principal(asked(wrong)) is None
    assert keys.principal({"headers": [(b"authorization", ONE.encode())]}) is None
    assert Keys().principal(asked()) == ANYONE


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        (f"{ONE}\n", 0o640, "chmod 600"),
        (f"{ONE}\n", 0o604, "chmod 600"),
        (f"{ONE}\n{TWO} admin\n", 0o600, "line 2: write one key on each line"),
        (f"{ONE}\n{ONE}\n", 0o600, "line 2: the key appears twice"),
        ("sk-short\n", 0o600, "line 1: the key has 8 characters and needs at least 16"),
        ("# none\n", 0o600, "the file holds no key"),
        ("sk-é\n", 0o600, "plain ASCII"),
    ],
)
def test_an_invalid_file_of_keys_is_refused_without_printing_the_keys(text: str, mode: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        read_keys(key_file(tmp_path, text, mode))
    assert "sk-" not in str(caught.value)


def test_only_a_regular_file_holds_keys() -> None:
    with pytest.raises(UsageError, match="--api-keys /dev/null: not a file"):
        read_keys(Path("/dev/null"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org"])
def test_a_server_that_other_machines_reach_needs_a_key(host: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(UsageError, match=f"--host {host}: other machines can reach it.* set {VARIABLE}, or --api-keys FILE"):
        server_keys(host, None)
    assert len(server_keys(host, key_file(tmp_path, f"{ONE}\n"))) == 1
    monkeypatch.setenv(VARIABLE, TWO)
    assert len(server_keys(host, None)) == 1


@pytest.mark.parametrize(("key", "told"), [("", "is empty"), ("x" * 15, "has 15 characters"), (ONE, "keep one of them")])
def test_an_unfit_key_of_the_environment_is_refused(key: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert server_keys("127.0.0.1", None) == server_keys("::1", None) == server_keys("localhost", None) == {}
    monkeypatch.setenv(VARIABLE, key)
    with pytest.raises(UsageError, match=told):
        server_keys("127.0.0.1", key_file(tmp_path, f"{ONE}\n"))
