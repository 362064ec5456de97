"""A published corpus is downloaded from a host like its authors', unpacked within bounds, checked, and found by every command."""

import io
import re
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from harness.corpora import download, load, locate
from harness.tasks import SAMPLE
from harness.tasks.registry import TASKS, get_task
from tests.helpers import Command

HOSTED = [name for name, task in TASKS.items() if task.published]
Serve = Callable[[bytes], str]


def repository(task: str) -> bytes:
    """A .tar.gz as GitHub makes it, with the shipped sample in the place of the corpus, and other files."""
    published, made = get_task(task).published, io.BytesIO()
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
        published = get_task(task).published
        assert published
        fixed = replace(published, items_sha256=download.items_sha256(task, SAMPLE / task))
        monkeypatch.setitem(TASKS, task, replace(get_task(task), published=fixed))
    return tmp_path / "cache" / "data"


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a host that sends these bytes at every path; it continues downloads, and its addresses are in `asked`."""
    servers: list[ThreadingHTTPServer] = []

    def start(content: bytes) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
                begin = int(asked[1]) if asked else 0
                self.send_response(206 if asked else 200)
                self.send_header("Content-Length", str(len(content) - begin))
                self.end_headers()
                self.wfile.write(content[begin:])

            def log_message(self, *_: object) -> None:
                pass

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("task", HOSTED)
def test_a_corpus_is_downloaded_and_found(task: str, folder: Path, serve: Serve, command: Command) -> None:
    code, out, err = command("data", "get", task, "--host", serve(repository(task)))
    assert (code, out.strip()) == (0, str(folder / task))
    assert get_task(task).license in err
    assert locate(task).kind == "official"
    assert len(load(task)) > 0
    assert not list(folder.parent.rglob("*.md"))
    assert not list(folder.parent.rglob("escaped.jsonl"))
    assert command("data", "get", task, "--host", "http://127.0.0.1:9")[0] == 0, "what is there is not downloaded again"


@pytest.mark.parametrize("part", [0.4, 1.0], ids=["cut short", "whole"])
def test_an_interrupted_download_goes_on(part: float, folder: Path, serve: Serve, command: Command) -> None:
    content = repository("hexagons")
    have = int(len(content) * part)
    published = get_task("hexagons").published
    assert published
    partial = folder.parent / "downloads" / f"hexagons-{published.revision[:12]}.tar.gz.partial"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(content[:have])
    # The host's own first bytes are others: they are not asked for again.
    assert command("data", "get", "hexagons", "--host", serve(bytes(have) + content[have:]))[0] == 0
    assert locate("hexagons").kind == "official"
    assert not list(partial.parent.iterdir())


def test_another_corpus_or_a_damaged_archive_is_refused(folder: Path, serve: Serve, command: Command) -> None:
    content = repository("iglu")
    for sent, said in (
        (content[:-2000], "is damaged"),
        (b"<html>", "is damaged"),
        (repository("minecraft"), "no corpus of iglu"),
    ):
        code, _, err = command("data", "get", "iglu", "--host", serve(sent))
        assert code == 1
        assert said in err
        assert not (folder / "iglu").exists()
    task = get_task("iglu")
    assert task.published
    TASKS["iglu"] = replace(task, published=replace(task.published, items_sha256="0" * 64))
    code, _, err = command("data", "get", "iglu", "--host", serve(content))
    assert code == 1
    assert "the sha256 of the items of iglu is" in err
    assert not (folder / "iglu").exists()


def test_a_host_that_sends_too_much_is_left(serve: Serve, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MOST_DOWNLOADED", 100_000)
    code, _, err = command("data", "get", "iglu", "--host", serve(bytes(10_000_000)))
    assert code == 1
    assert "sends more than 100,000 bytes" in err


def test_without_a_network_one_line_says_so(command: Command) -> None:
    code, _, err = command("data", "get", "hexagons", "--host", "http://127.0.0.1:9")
    assert code == 1
    assert "cannot be downloaded: " in err.splitlines()[-1]


def test_a_proxy_is_asked(serve: Serve, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", serve(repository("hexagons")))
    assert command("data", "get", "hexagons", "--host", "http://nowhere.invalid")[0] == 0


def test_files_in_the_way_are_kept(folder: Path, serve: Serve, command: Command) -> None:
    (folder / "hexagons").mkdir(parents=True)
    (folder / "hexagons" / "mine.txt").touch()
    code, _, err = command("data", "get", "hexagons", "--host", serve(repository("hexagons")))
    assert code == 2
    assert "is not empty and holds no corpus" in err
    assert (folder / "hexagons" / "mine.txt").is_file()


def test_everyday_requests_come_with_the_project(command: Command) -> None:
    code, _, err = command("data", "get", "everyday-hexagons")
    assert code == 2
    assert "no published corpus" in err


@pytest.mark.data
@pytest.mark.parametrize("task", HOSTED)
def test_the_sums_are_those_of_the_published_corpora(task: str, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("HARNESS_DATA", str(data_dir))
    published = get_task(task).published
    assert published
    assert download.items_sha256(task, locate(task).path) == published.items_sha256
