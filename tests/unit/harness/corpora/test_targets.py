from __future__ import annotations

import re
import shutil
import tarfile
from pathlib import Path

import pytest

from harness.corpora import load, load_targets, locate
from harness.corpora.item import builder_turns
from harness.errors import DataError, UsageError

BLOCK = '<DrawBlock type="cwcmod:cwc_minecraft_{}_rn" x="{}" y="{}" z="{}"/>\n'


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample in the form of the published corpus; returns the folder of its target files."""
    shutil.copytree(locate("minecraft").path, tmp_path / "minecraft")
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    folder = tmp_path / "minecraft" / "data" / "gold-configurations"
    assert folder.is_dir()
    return folder


def test_without_target_files_a_target_is_what_its_last_game_ends_in(corpus: Path) -> None:
    (corpus / "C905.xml").write_text(BLOCK.format("red", 100, 1, 100))
    assert len(load_targets("minecraft", "dev")["C905"]) == 1
    shutil.rmtree(corpus)
    found = load_targets("minecraft", "dev")
    assert found == {item.group: item.after for item in builder_turns(load("minecraft", "dev"))}
    assert list(found) == sorted(found)
    with pytest.raises(UsageError, match="no split of minecraft named 'validation'"):
        load_targets("minecraft", "validation")


def test_target_files_are_read_from_a_folder_and_from_an_archive(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = next(iter(load_targets("minecraft", "dev")))
    (corpus / f"{name}.xml").write_text(BLOCK.format("red", 100, 1, 95) + "\n" + BLOCK.format("blue", 102, 9, 105))
    found = load_targets("minecraft", "dev")
    assert [tuple(block) for block in found[name].blocks()] == [(0, 1, -5, "red"), (2, 9, 5, "blue")]
    (tmp_path / "packed" / "minecraft").mkdir(parents=True)
    with tarfile.open(tmp_path / "packed" / "minecraft" / "mdc.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "minecraft" / "data", "data")
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "packed"))
    assert load_targets("minecraft", "dev") == found


def test_a_target_outside_of_the_region_is_moved_into_it(corpus: Path) -> None:
    name = next(iter(load_targets("minecraft", "dev")))
    (corpus / f"{name}.xml").write_text(BLOCK.format("red", 107, 1, 90) + BLOCK.format("red", 108, 1, 92))
    assert [tuple(block) for block in load_targets("minecraft", "dev")[name].blocks()] == [(4, 1, -5, "red"), (5, 1, -3, "red")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BLOCK.format("red", 90, 1, 100) + BLOCK.format("red", 101, 1, 100), "the target is 12 x 1 x 1 blocks.*holds 11 x 9"),
        (BLOCK.format("red", 100, 10, 100), "from height 10; the build region"),
        (BLOCK.format("red", 100, 1, 100) + "<DrawBlock", r"\.xml:2: expected a block such as"),
        (BLOCK.format("pink", 100, 1, 100), r"\.xml:1: expected a block such as"),
        (BLOCK.format("red", "a", 1, 100), r"\.xml:1: expected a block such as"),
    ],
)
def test_a_target_that_cannot_be_is_refused(corpus: Path, content: str, message: str) -> None:
    name = next(iter(load_targets("minecraft", "dev")))
    (corpus / f"{name}.xml").write_text(content)
    with pytest.raises(DataError, match=message) as error:
        load_targets("minecraft", "dev")
    assert re.search(rf"{name}\.xml", str(error.value))


@pytest.mark.data
def test_the_published_targets(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_DATA", str(data_dir))
    found = load_targets("minecraft", "dev")
    assert len(found) == 29
    assert sum(map(len, found.values())) == 735
