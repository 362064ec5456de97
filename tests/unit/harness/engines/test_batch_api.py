"""The batch API: one file of requests, a batch found again after a kill, and answers in the prompts' order."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.engines.openai.batch_api import NAME, BatchEngine
from harness.errors import EngineError
from tests.helpers.endpoint import Answer, FakeServer, chat_answer, failure


class Batches:
    """An endpoint with a batch API: a batch ends when its state is queried for the second time."""

    def __init__(self, server: FakeServer) -> None:
        self.server, self.looked = server, 0
        self.asked: list[dict[str, Any]] = []
        self.outcome = "completed"
        self.fails: set[int] = set()
        self.dies = False
        server.reply, server.get = self.reply, self.get

    def reply(self, body: dict[str, Any], n: int) -> Answer:
        if "input_file_id" not in body:
            return chat_answer("a taste")
        self.asked.append(body)
        return 200, {}, json.dumps({"id": f"batch-{len(self.asked)}", "status": "validating"}).encode()

    def lines(self) -> list[dict[str, Any]]:
        """The requests of the last batch."""
        return [json.loads(line) for line in self.server.uploads[-1].splitlines() if line.startswith(b'{"custom_id"')]

    def get(self, path: str) -> Answer:
        if path.endswith("/models"):
            return self.server.models
        if path.endswith("/content"):
            return 200, {}, b"".join(self.output(number, line) for number, line in reversed(list(enumerate(self.lines()))))
        self.looked += 1
        if self.dies:
            return failure(401, "killed")
        status = self.outcome if self.looked > 1 else "in_progress"
        files = {"output_file_id": "out"} if self.outcome == "completed" else {"errors": {"data": [{"message": "bad file"}]}}
        return 200, {}, json.dumps({"id": "batch", "status": status, "request_counts": {"completed": 1}, **files}).encode()

    def output(self, number: int, line: dict[str, Any]) -> bytes:
        fails = number in self.fails
        body = {"error": {"message": "unsafe"}} if fails else json.loads(chat_answer(f"red: {number + 1} 1")[2])
        response = {"status_code": 400 if fails else 200, "body": body}
        return json.dumps({"custom_id": line["custom_id"], "response": response}).encode() + b"\n"


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch, server: FakeServer, empty_folder: None) -> Batches:
    assert BatchEngine.__init__.__kwdefaults__
    monkeypatch.setattr(BatchEngine.__init__, "__kwdefaults__", {"poll": 0.01})
    return Batches(server)


def command(server: FakeServer, *words: str) -> int:
    given = ["--base-url", server.url, "--model", "m", "--name", "r", "--limit", "3", "--retries", "0"]
    return main(["prompt", "--engine", "openai", "--batch-api", *given, *words])


def texts() -> list[Any]:
    lines = Path("runs/r/predictions.jsonl").read_text().splitlines()
    return [json.loads(line).get("text", json.loads(line).get("error")) for line in lines]


def test_all_items_are_asked_in_one_batch(batches: Batches, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(batches.server) == 0
    assert texts() == ["red: 1 1", "red: 2 1", "red: 3 1"]
    assert batches.asked == [{"input_file_id": "file-1", "endpoint": "/v1/chat/completions", "completion_window": "24h"}]
    assert [line["body"]["model"] for line in batches.lines()] == ["m"] * 3
    assert "batch batch-1: 3 requests" in capsys.readouterr().err
    assert not Path("runs/r", NAME).exists()


def test_a_killed_run_finds_its_batch_again(batches: Batches) -> None:
    batches.dies = True
    assert command(batches.server) == 1
    assert list(json.loads(Path("runs/r", NAME).read_text())) == ["batch-1"]
    batches.dies = False
    assert command(batches.server) == 0
    assert texts() == ["red: 1 1", "red: 2 1", "red: 3 1"]
    assert len(batches.asked) == 1


def test_failed_requests_go_into_a_new_batch(batches: Batches) -> None:
    batches.fails = {1}
    assert command(batches.server) == 1
    assert "unsafe" in texts()[1]
    batches.fails = set()
    assert command(batches.server) == 0
    assert len(batches.lines()) == 1
    assert len(batches.asked) == 2


def test_a_refused_batch_ends_the_run(batches: Batches, capsys: pytest.CaptureFixture[str]) -> None:
    batches.outcome = "failed"
    assert command(batches.server) == 1
    assert "batch batch-1 failed: " in capsys.readouterr().err
    assert not Path("runs/r", NAME).exists()


def test_limits_cannot_stop_a_batch(batches: Batches, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(batches.server, "--max-cost", "1") == 2
    assert "--batch-api asks everything at once" in capsys.readouterr().err


def test_a_damaged_memory_is_named(batches: Batches, tmp_path: Path) -> None:
    engine = BatchEngine(batches.server.url, "m")
    engine.folder = tmp_path
    (tmp_path / NAME).write_text("[1]")
    with closing(engine), pytest.raises(EngineError, match="cannot be read: "):
        engine._known()
