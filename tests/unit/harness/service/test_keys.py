"""Keys from a file, who holds one, and who may administer a server without keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.service.keys import Key, Keys, read_keys


def key_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "keys"
    path.write_text(text)
    path.chmod(mode)
    return path


def asked(key: str = "", client: str = "127.0.0.1", **headers: str) -> dict[str, Any]:
    named = (
        {"authorization": f"Bearer {key}", "host": "127.0.0.1:8000", **headers} if key else {"host": "localhost:8000", **headers}
    )
    return {"client": (client, 1), "headers": [(name.encode(), value.encode("latin-1")) for name, value in named.items()]}


def test_keys_of_a_file(tmp_path: Path) -> None:
    keys = Keys(read_keys(key_file(tmp_path, "# ours\nsk-one\n\n  sk-two admin  # the lead\n")))
    one, two = keys.holder(asked("sk-one")), keys.holder(asked("sk-two"))
    assert (one and one.name, one and one.admin) == ("key of line 2", False)
    assert (two and two.name, two and two.admin) == ("key of line 4", True)
    for wrong in ("sk-on", "sk-one ", "sk-ONE", "", "# ours", "é"):
        assert keys.holder(asked(wrong)) is None
    assert keys.holder({"client": None, "headers": [(b"authorization", b"sk-one")]}) is None


def test_no_key_is_printed(tmp_path: Path) -> None:
    keys = read_keys(key_file(tmp_path, "sk-very-secret admin\n"))
    assert "secret" not in f"{keys!r} {Keys(keys)!r} {Keys(keys).holder(asked('sk-very-secret'))!r}"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_file_that_others_can_read_is_refused(mode: int, tmp_path: Path) -> None:
    path = key_file(tmp_path, "sk-one\n", mode)
    with pytest.raises(UsageError, match=f"chmod 600 {path}$"):
        read_keys(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sk-one root\n", "line 1: write KEY, or KEY admin"),
        ("sk-one\nsk-two admin now\n", "line 2: write KEY"),
        ("sk-one\nsk-one admin\n", "line 2: the key is there twice"),
        ("# none\n", "there is no key in it"),
        ("sk-é\n", "plain ASCII"),
    ],
)
def test_what_is_no_file_of_keys_is_refused_without_saying_them(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        read_keys(key_file(tmp_path, text))
    assert "sk-" not in str(caught.value)


def test_a_file_that_is_not_there_or_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_keys(tmp_path / "none")
    with pytest.raises(UsageError, match="--api-keys"):
        read_keys(tmp_path)


@pytest.mark.parametrize(
    ("scope", "admin"),
    [
        (asked(), True),
        (asked(client="::1", host="[::1]:80"), True),
        (asked(host="localhost"), True),
        (asked(client="10.0.0.7"), False),
        (asked(origin="http://elsewhere.example"), False),
        (asked(host="elsewhere.example:8000"), False),
        (asked(client="somewhere"), False),
    ],
)
def test_without_keys_programs_of_this_machine_administer(scope: dict[str, Any], admin: bool) -> None:
    holder = Keys().holder(scope)
    assert holder is not None
    assert holder.admin == admin


def test_with_keys_this_machine_is_not_enough() -> None:
    keys = Keys([Key.of("sk-one", "one")])
    assert keys.holder(asked()) is None
    assert not keys.holder(asked("sk-one")).admin  # type: ignore[union-attr]
