"""Finding the corpora, and the cache of the Minecraft corpus."""

import logging
import zlib
from pathlib import Path

import pytest

from harness.corpora import load, load_games, locate, minecraft, minecraft_logs
from harness.errors import DataError
from harness.tasks.registry import TASKS
from tests.helpers.corpora_files import state, write_log, write_minecraft


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caches and corpora in temporary folders."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()


@pytest.mark.parametrize("task", sorted(name for name, task in TASKS.items() if not task.shipped))
def test_the_sample_is_used_if_nothing_else_is_there(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data" / task).mkdir()
    source = locate(task)
    assert (source.kind, source.path.parts[-3:]) == ("sample", ("corpora", "sample", task))
    assert "MIT" in source.license
    monkeypatch.setenv("HARNESS_DATA", "")
    assert locate(task) == source


def test_a_split_without_items_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "hexagons"
    folder.mkdir()
    for split in ("train", "dev", "test"):
        (folder / f"{split}.jsonl").touch()
    with pytest.raises(DataError, match="hexagons: the split dev of hexagons holds no items"):
        load("hexagons", "dev")


class TestCache:
    @pytest.fixture
    def corpus(self, tmp_path: Path) -> Path:
        """Utterances and runs, one run dropped, a game in no split, a state without a pose."""
        corpus = write_minecraft(tmp_path / "data" / "minecraft")
        chat = ["<Architect> hi", "<Builder> ünï ''\t"]
        states = [state(chat[:1], pose=None), state(), state(chat[:1]), state(chat[:1], [(6, 1, 0, "red")])]
        states += [state(chat, [(6, 1, 0, "red")]), state(chat, [], (-1.25, 20.6, 38.2, 359.9999, -90.0))]
        states += [state([*chat, "<Builder> a"], [(0, 1, 0, "purple"), (5, 9, -5, "yellow")])]
        write_log(corpus, states, "B1-A1-C9-1522000000000")
        return corpus

    def test_the_second_load_is_equal_and_parses_nothing_unless_the_source_changes(
        self, corpus: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = load_games()
        assert first == minecraft_logs.read_games(corpus)
        with monkeypatch.context() as patch:
            patch.setattr(minecraft, "read_games", lambda source: pytest.fail(f"{source} was parsed again"))
            assert load_games() == first
        assert not any(run.before.cells.flags.writeable for game in load_games() for run in game.runs if run.before)
        write_log(corpus, [state(), state(["<Architect> hi"]), state(["<Architect> hi"], [(3, 1, 3, "green")])])
        assert load_games() == minecraft_logs.read_games(corpus) != first

    @pytest.mark.parametrize("content", [b"", zlib.compress(b'[{"name": "B1"}]')])
    def test_a_broken_file_is_remade(
        self, content: bytes, tmp_path: Path, corpus: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        before = load_games()
        (path,) = (tmp_path / "cache").glob("*")
        whole = path.read_bytes()
        path.write_bytes(content)
        with caplog.at_level(logging.INFO, "harness.corpora.archive"):
            assert load_games() == before
        assert "is broken and is rebuilt" in caplog.text
        assert path.read_bytes() == whole

    def test_a_folder_that_cannot_be_written(self, tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "file").write_text("not a folder")
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
        assert load_games() == minecraft_logs.read_games(corpus)
