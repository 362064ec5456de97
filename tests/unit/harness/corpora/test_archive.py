"""Archives are read within bounds, whatever they contain."""

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


def header(kind: bytes, size: int) -> bytes:
    made = tarfile.TarInfo("header")
    made.type, made.size = kind, size
    return made.tobuf(tarfile.GNU_FORMAT)


# Some of them hang tarfile, or make it take any amount of memory.
HEADERS = {
    "a text of digits": header(tarfile.XHDTYPE, 3_072_000) + b"1" * 3_072_000,
    "a number of digits": header(tarfile.XHDTYPE, 512) + b"1" * 510 + b" =",
    "a sparse file of a terabyte": header(tarfile.XHDTYPE, 512)
    + b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n34 GNU.sparse.realsize=999999999999\n".ljust(512, b"\0"),
    "a link": header(tarfile.SYMTYPE, 0),
}


@pytest.mark.parametrize("name", HEADERS)
def test_no_header_hangs_reading(name: str, tmp_path: Path) -> None:
    made = tmp_path / "a.tar.xz"
    file = tarfile.TarInfo("b.json")
    file.size = 1
    made.write_bytes(lzma.compress(HEADERS[name] + file.tobuf() + b"2".ljust(512, b"\0") + bytes(1024)))
    assert made.stat().st_size < 2_000
    assert [data for path, data in archive.members(made, lambda path: path != "header")] == [b"2"]


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_are_read(form: int, tmp_path: Path) -> None:
    name, made = f"{'folder/' * 30}{'b' * 120}ü.json", io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as tar:
        tar.addfile(tarfile.TarInfo(name))
        tar.addfile(tarfile.TarInfo("short"))
    path = tmp_path / "long.tar.xz"
    path.write_bytes(lzma.compress(made.getvalue()))
    assert [path for path, _ in archive.members(path, bool)] == [name, "short"]


@pytest.mark.parametrize("fault", [-512, 1 << 40, 0.3, 0.99], ids=str)
def test_a_false_size_and_a_cut_archive_are_refused(tmp_path: Path, fault: float) -> None:
    made = tmp_path / "a.tar.xz"
    if isinstance(fault, int):
        made.write_bytes(lzma.compress(header(tarfile.REGTYPE, fault) + bytes(1024)))
    else:
        # Random text does not compress.
        noise = bytes(32 + k * k * 31 % 90 for k in range(40_000))
        whole = packed(made, {"a.json": b"1", "noise": noise, "b.json": b"2"}).read_bytes()
        made.write_bytes(whole[: int(fault * len(whole))])
    with pytest.raises(DataError, match=r"a\.tar\.xz is damaged at .*; fetch it again"):
        list(archive.members(made, bool))
