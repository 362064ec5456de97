"""A published corpus is downloaded from a host like its authors', unpacked within bounds, checked, and found by every command."""

import io
import re
import tarfile
from collections.abc import Callable
from dataclasses import replace
from email.message import Message
from pathlib import Path

import pytest

from harness.corpora import download, load, locate
from harness.tasks import SAMPLE
from harness.tasks.registry import TASKS
from tests.helpers import Command
from tests.helpers.endpoint import Answer, FakeServer

HOSTED = [name for name, task in TASKS.items() if task.published]
Serve = Callable[[bytes], str]


def repository(task: str) -> bytes:
    """A .tar.gz as GitHub makes it, with the shipped sample in the place of the corpus, and other files."""
    published, made = TASKS[task].published, io.BytesIO()
    assert published
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        sample = SAMPLE / task if task != "minecraft" else SAMPLE / task / "data"
        tar.add(sample, f"repository-{published.revision}/{published.folder}")
        for name in ("README.md", f"{published.folder}/notes.md", f"{published.folder}/../../../escaped.jsonl"):
            tar.addfile(tarfile.TarInfo(f"repository-{published.revision}/{name}"), io.BytesIO())
    return made.getvalue()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    for task in HOSTED:
        published = TASKS[task].published
        assert published
        fixed = replace(published, items_sha256=download.items_sha256(task, SAMPLE / task))
        monkeypatch.setitem(TASKS, task, replace(TASKS[task], published=fixed))
    return tmp_path / "cache" / "data"


@pytest.fixture
def serve(server: FakeServer) -> Serve:
    """Starts a host that sends these bytes at every path; it continues downloads."""

    def start(content: bytes) -> str:
        def get(path: str, headers: Message) -> Answer:
            asked = re.fullmatch(r"bytes=(\d+)-", headers.get("Range", ""))
            return (206, {}, content[int(asked[1]) :]) if asked else (200, {}, content)

        server.get = get
        return server.host

    return start


@pytest.mark.parametrize("task", HOSTED)
def test_a_corpus_is_downloaded_and_found(task: str, folder: Path, serve: Serve, command: Command) -> None:
    code, out, err = command("data", "get", task, "--host", serve(repository(task)))
    assert (code, out.strip()) == (0, str(folder / task))
    assert TASKS[task].license in err
    assert locate(task).kind == "official"
    assert len(load(task)) > 0
    assert not list(folder.parent.rglob("*.md"))
    assert not list(folder.parent.rglob("escaped.jsonl"))
    assert command("data", "get", task, "--host", "http://127.0.0.1:9")[0] == 0, "what is there is not downloaded again"


@pytest.mark.parametrize("part", [0.4, 1.0], ids=["cut short", "whole"])
def test_an_interrupted_download_goes_on(part: float, folder: Path, serve: Serve, command: Command) -> None:
    content = repository("hexagons")
    have = int(len(content) * part)
    published = TASKS["hexagons"].published
    assert published
    partial = folder.parent / "downloads" / f"hexagons-{published.revision[:12]}.tar.gz.partial"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(content[:have])
    # The host's own first bytes are others: they are not asked for again.
    assert command("data", "get", "hexagons", "--host", serve(bytes(have) + content[have:]))[0] == 0
    assert locate("hexagons").kind == "official"
    assert not list(partial.parent.iterdir())


def refused(command: Command, task: str, host: str) -> tuple[int, str]:
    """The exit code and the error of a download that fails."""
    code, _, err = command("data", "get", task, "--host", host)
    return code, err.splitlines()[-1]


def test_another_corpus_or_a_damaged_archive_is_refused(folder: Path, serve: Serve, command: Command) -> None:
    content, published = repository("iglu"), TASKS["iglu"].published
    assert published
    TASKS["iglu"] = replace(TASKS["iglu"], published=replace(published, items_sha256="0" * 64))
    wrong = ((content[:-2000], "is damaged"), (b"<html>", "is damaged"), (repository("minecraft"), "no corpus of iglu"))
    for sent, said in (*wrong, (content, "the sha256 of the items of iglu is")):
        code, err = refused(command, "iglu", serve(sent))
        assert (code, said in err) == (1, True), err
        assert not (folder / "iglu").exists()


def test_a_host_that_sends_too_much_or_nothing_is_left(serve: Serve, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MOST_DOWNLOADED", 100_000)
    for host, said in (
        (serve(bytes(10_000_000)), "sends more than 100,000 bytes"),
        ("http://127.0.0.1:9", "cannot be downloaded: "),
    ):
        code, err = refused(command, "iglu", host)
        assert (code, said in err) == (1, True), err


def test_a_proxy_is_asked(serve: Serve, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", serve(repository("hexagons")))
    assert command("data", "get", "hexagons", "--host", "http://nowhere.invalid")[0] == 0


def test_files_in_the_way_are_kept_and_everyday_requests_come_with_the_project(
    folder: Path, serve: Serve, command: Command
) -> None:
    (folder / "hexagons").mkdir(parents=True)
    (folder / "hexagons" / "mine.txt").touch()
    for task, said in (("hexagons", "is not empty and holds no corpus"), ("everyday-hexagons", "no published corpus")):
        code, err = refused(command, task, serve(repository("hexagons")))
        assert (code, said in err) == (2, True), err
    assert (folder / "hexagons" / "mine.txt").is_file()


@pytest.mark.data
@pytest.mark.parametrize("task", HOSTED)
def test_the_sums_are_those_of_the_published_corpora(task: str, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("HARNESS_DATA", str(data_dir))
    published = TASKS[task].published
    assert published
    assert download.items_sha256(task, locate(task).path) == published.items_sha256
