"""Finding the corpora, and the cache of the Minecraft corpus."""

from __future__ import annotations

import logging
import zlib
from pathlib import Path

import pytest

from harness.corpora import SPLITS, load, load_games, locate, minecraft, minecraft_logs, split_name
from harness.errors import UsageError
from harness.tasks import TASKS
from tests.helpers.corpora_files import pack, state, write_log, write_minecraft


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Caches and corpora in temporary folders; a test of the published corpora keeps their folder."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    if request.node.get_closest_marker("data") is None:
        monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
        (tmp_path / "data").mkdir()


def cached(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").glob("*"))


def refuse_to_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(source: Path) -> None:
        raise AssertionError(f"{source} was parsed again")

    monkeypatch.setattr(minecraft, "read_games", parse)


class TestLocate:
    def test_the_archive_wins_over_the_folder(self, tmp_path: Path) -> None:
        corpus = write_minecraft(tmp_path / "data" / "minecraft")
        assert (locate("minecraft").kind, locate("minecraft").path) == ("official", corpus)
        archive = pack(corpus, corpus / "mdc.tar.xz")
        assert (locate("minecraft").kind, locate("minecraft").path) == ("official", archive)

    @pytest.mark.parametrize("task", sorted(name for name, task in TASKS.items() if not task.shipped))
    def test_the_sample_is_used_if_nothing_else_is_there(
        self, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "data" / task).mkdir()
        source = locate(task)
        assert (source.kind, source.path.parts[-3:]) == ("sample", ("corpora", "sample", task))
        assert "MIT" in source.license
        for value in ("", None):
            if value is None:
                monkeypatch.delenv("HARNESS_DATA")
            else:
                monkeypatch.setenv("HARNESS_DATA", value)
            assert locate(task) == source

    def test_unknown_names(self) -> None:
        with pytest.raises(UsageError, match="did you mean minecraft"):
            locate("mincraft")
        with pytest.raises(UsageError, match="no split of hexagons named 'val'"):
            load("hexagons", "val")
        with pytest.raises(UsageError, match="known: test, train, val"):
            load("minecraft", "all")

    def test_dev_is_minecrafts_val(self) -> None:
        assert [split_name("minecraft", split) for split in ("dev", "val", "test")] == ["val", "val", "test"]
        assert split_name("hexagons", "dev") == "dev"


class TestCache:
    @pytest.fixture
    def corpus(self, tmp_path: Path) -> Path:
        """Utterances and runs, one run dropped, a game in no split, a state without a pose."""
        corpus = write_minecraft(tmp_path / "data" / "minecraft")
        chat = ["<Architect> hi", "<Builder> ünï ''\t"]
        states = [state(chat[:1], pose=None), state(), state(chat[:1]), state(chat[:1], [(6, 1, 0, "red")])]
        states += [
            state(chat, [(6, 1, 0, "red")]),
            state(chat, [], (-1.25, 20.6, 38.2, 359.9999, -90.0)),
            state([*chat, "<Builder> a"]),
        ]
        states += [state([*chat, "<Builder> a"], [(0, 1, 0, "purple"), (5, 9, -5, "yellow")])]
        write_log(corpus, states, "B1-A1-C9-1522000000000")
        return corpus

    def test_the_second_load_is_equal_and_parses_nothing(
        self, tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = load_games()
        assert first == minecraft_logs.read_games(corpus)
        assert len(cached(tmp_path)) == 1
        refuse_to_parse(monkeypatch)
        assert load_games() == first
        assert not any(run.before.cells.flags.writeable for game in load_games() for run in game.runs if run.before)

    def test_a_changed_source_is_parsed(self, tmp_path: Path, corpus: Path) -> None:
        before = load("minecraft")
        write_log(corpus, [state(), state(["<Architect> hi"]), state(["<Architect> hi"], [(3, 1, 3, "green")])])
        assert load("minecraft") != before
        assert len(cached(tmp_path)) == 2

    def test_another_version_of_the_loader_parses(self, tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = load_games()
        monkeypatch.setattr(minecraft, "LOADER", minecraft.LOADER + 1)
        assert load_games() == before
        assert len(cached(tmp_path)) == 2

    @pytest.mark.parametrize("damage", ["empty", "flipped", "something else"])
    def test_a_broken_file_is_remade(
        self, damage: str, tmp_path: Path, corpus: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = load_games()
        (path,) = cached(tmp_path)
        whole = path.read_bytes()
        flipped = whole[:40] + bytes(byte ^ 0xFF for byte in whole[40:60]) + whole[60:]
        path.write_bytes({"empty": b"", "flipped": flipped, "something else": zlib.compress(b'[{"name": "B1"}]')}[damage])
        with caplog.at_level(logging.INFO, "harness.corpora.archive"):
            assert load_games() == before
        assert "is broken and is rebuilt" in caplog.text
        assert cached(tmp_path) == [path]
        refuse_to_parse(monkeypatch)
        assert load_games() == before

    def test_a_folder_that_cannot_be_written(
        self, tmp_path: Path, corpus: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").write_text("not a folder")
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
        with caplog.at_level(logging.INFO, "harness.corpora.archive"):
            assert load_games() == minecraft_logs.read_games(corpus)
        assert "cannot be written" in caplog.text


@pytest.mark.slow
@pytest.mark.data
def test_the_published_corpus_is_cached_without_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = load_games()
    refuse_to_parse(monkeypatch)
    assert load_games() == parsed
    assert [len(load("minecraft", split)) for split in SPLITS["minecraft"]] == [3709, 1331, 1616]
