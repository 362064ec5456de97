"""`harness prompt` with an endpoint that fails: one line, the right exit code, nothing lost, and the same command mends it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.engines.openai import OpenAIEngine
from tests.helpers.endpoint import Answer, FakeServer, chat_answer, failure

BROKEN: dict[str, Answer | None] = {
    "429": failure(429, "slow down"),
    "500": failure(500, "out of memory"),
    "garbage": (200, {}, b"<html>\x00 not JSON"),
    "no choices": (200, {}, b"{}"),
    "nothing": None,
}


def set_timeout(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    given = OpenAIEngine.__init__.__kwdefaults__
    assert given is not None
    defaults = given | {"timeout": seconds, "max_retries": 0}
    monkeypatch.setattr(OpenAIEngine.__init__, "__kwdefaults__", defaults)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    set_timeout(monkeypatch, 60)
    server = FakeServer()
    yield server
    server.stop()


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_items_that_failed_are_asked_again(
    server: FakeServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, broken: Answer | None
) -> None:
    def prompt(name: str) -> tuple[int, str, list[dict[str, Any]]]:
        code = main(["prompt", "--engine", "openai", "--base-url", server.url, "--model", "m", "--limit", "4", "--name", name])
        lines = Path("runs", name, "predictions.jsonl").read_text().splitlines()
        return code, capsys.readouterr().err, [json.loads(line) for line in lines]

    def failing(body: dict[str, Any], n: int) -> Answer | None:
        return broken if n % 2 else chat_answer("red: 1 2")

    if broken is None:
        set_timeout(monkeypatch, 3)  # Only here does the test wait for it: a busy machine must not run into it elsewhere.
    server.reply = failing
    code, err, records = prompt("r")
    assert code == 1
    assert len(records) == 4
    assert sum("error" in record for record in records) == 2
    assert "Error: 2 of 4 items have no answer and count as empty; run the command again to retry them" in err
    assert "Traceback" not in err
    set_timeout(monkeypatch, 60)
    server.reply = lambda body, n: chat_answer("red: 1 2")
    code, _, mended = prompt("r")
    whole_code, _, whole = prompt("whole")
    assert (code, whole_code, mended) == (0, 0, whole)


@pytest.mark.parametrize("images", ["beside", "instead"])
def test_pictures_are_parts_of_the_questions(server: FakeServer, images: str) -> None:
    server.reply = lambda body, n: chat_answer("none")
    words = ["prompt", "--engine", "openai", "--base-url", server.url, "--model", "m", "--context", "oracle-board"]
    assert main([*words, "--images", images, "--shots", "1", "--limit", "2", "--name", "r"]) == 0
    for request in server.requests:
        system, *questions = request["messages"]
        assert isinstance(system["content"], str)
        assert [m["role"] for m in questions] == ["user", "assistant", "user"]
        for question in questions[::2]:
            text, picture = question["content"]
            assert ("Board: in the picture" in text["text"]) == (images == "instead")
            assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert len(server.requests) == 2


def test_a_local_engine_refuses_pictures_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompt", "--images", "beside", "--context", "oracle-board"]) == 2
    assert capsys.readouterr().err == "Error: --images is for openai; --engine vllm does not take it\n"
