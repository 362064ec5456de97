import shutil
import tarfile
from pathlib import Path

import pytest

from harness.corpora import load, load_targets, locate
from harness.corpora.item import builder_turns
from harness.errors import DataError

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
    shutil.rmtree(corpus)
    assert load_targets("minecraft", "dev") == {item.group: item.after for item in builder_turns(load("minecraft", "dev"))}


def test_target_files_are_read_from_a_folder_and_from_an_archive_and_moved_into_the_region(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, second, *_ = load_targets("minecraft", "dev")
    (corpus / f"{first}.xml").write_text(BLOCK.format("red", 100, 1, 95) + "\n" + BLOCK.format("blue", 102, 9, 105))
    (corpus / f"{second}.xml").write_text(BLOCK.format("red", 107, 1, 90) + BLOCK.format("red", 108, 1, 92))
    targets = load_targets("minecraft", "dev")
    assert [tuple(block) for block in targets[first].blocks()] == [(0, 1, -5, "red"), (2, 9, 5, "blue")]
    assert [tuple(block) for block in targets[second].blocks()] == [(4, 1, -5, "red"), (5, 1, -3, "red")]
    (tmp_path / "packed" / "minecraft").mkdir(parents=True)
    with tarfile.open(tmp_path / "packed" / "minecraft" / "mdc.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "minecraft" / "data", "data")
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "packed"))
    assert load_targets("minecraft", "dev") == targets


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BLOCK.format("red", 90, 1, 100) + BLOCK.format("red", 101, 1, 100), "the target is 12 x 1 x 1 blocks.*holds 11 x 9"),
        (BLOCK.format("red", 100, 10, 100), "from height 10; the build region"),
        (BLOCK.format("red", 100, 1, 100) + "<DrawBlock", r":2: expected a block such as"),
        (BLOCK.format("red", "a", 1, 100), r":1: expected a block such as"),
    ],
)
def test_a_target_that_cannot_be_is_refused(corpus: Path, content: str, message: str) -> None:
    name = next(iter(load_targets("minecraft", "dev")))
    (corpus / f"{name}.xml").write_text(content)
    with pytest.raises(DataError, match=rf"{name}\.xml.*{message}"):
        load_targets("minecraft", "dev")
