"""Archives are read within bounds, whatever they contain."""

from __future__ import annotations

import io
import lzma
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from harness.corpora import archive
from harness.errors import DataError


def packed(path: Path, files: dict[str, bytes], after: bytes = b"") -> Path:
    """An archive of some files, with bytes after its end."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    path.write_bytes(lzma.compress(made.getvalue() + after, preset=0))
    return path


def test_only_needed_files_are_returned(tmp_path: Path) -> None:
    made = packed(tmp_path / "a.tar.xz", {"a.json": b"1", "b.txt": b"2"}, after=bytes(3_000_000))
    assert list(archive.members(made, lambda name: name.endswith("json"))) == [("a.json", b"1")]


@pytest.mark.parametrize("inside", [True, False], ids=["in a member", "behind the members"])
def test_a_bomb_is_refused_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool) -> None:
    monkeypatch.setattr(archive, "MOST_UNPACKED", 2_000_000)
    zeros = bytes(40_000_000)
    made = packed(tmp_path / "bomb.tar.xz", {"a.json": zeros if inside else b"1"}, b"" if inside else zeros)
    del zeros
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"bomb.tar.xz unpacks to more than 2,000,000 bytes"):
            list(archive.members(made, lambda name: name.endswith("json")))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_MEMBERS", 3)
    made = packed(tmp_path / "many.tar.xz", {f"{n}": b"" for n in range(4)})
    with pytest.raises(DataError, match=r"many.tar.xz has more than 3 files"):
        list(archive.members(made, bool))


@pytest.mark.parametrize("part", [0.0, 0.3, 0.99])
def test_a_cut_archive_is_refused(tmp_path: Path, part: float) -> None:
    # Random text does not compress.
    noise = bytes(32 + k * k * 31 % 90 for k in range(40_000))
    whole = packed(tmp_path / "whole.tar.xz", {"a.json": b"1", "noise": noise, "b.json": b"2"}).read_bytes()
    cut = tmp_path / "cut.tar.xz"
    cut.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(DataError, match=r"cut\.tar\.xz is damaged at .*; fetch it again"):
        list(archive.members(cut, bool))
