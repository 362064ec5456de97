"""`harness prompt` with a failing endpoint: one line, the right exit code, nothing lost, and a rerun completes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import main
from tests.helpers.endpoint import Answer, FakeServer, Handling, chat_answer, cut_short, endless, failure, slow_drip
from tests.helpers.scored import run_records

pytestmark = pytest.mark.usefixtures("empty_folder")

FAULTS: dict[str, tuple[Answer | Handling, str, str]] = {
    # the server's reaction to the second request; the outcome of that request; the message
    "429 and when to come back": (failure(429, "slow down", Retry_After="0.2"), "again", ""),
    "quota": (failure(429, "You exceeded your current quota", code="insufficient_quota"), "stop", "answers no more for now"),
    "slow drip": (slow_drip, "error", "no answer within"),
    "cut short": (cut_short, "again", ""),
    "length": (chat_answer("red: 1 2", "length"), "answer", "answers cut at the length limit (--max-new-tokens): 1"),
    "another model": (chat_answer("red: 1 2", model="other"), "answer", "answers with the model other although m was asked"),
    "100 MB": (endless, "error", "more than 10,000,000 bytes"),
    "thinking": (chat_answer("<think>red: 5 5", "length"), "answer", "answers ended while thinking: 1"),
    "one refused": (failure(400, "the prompt is unsafe"), "error", "the prompt is unsafe"),
}


@pytest.mark.parametrize(("fault", "outcome", "said"), FAULTS.values(), ids=FAULTS)
def test_every_fault_of_a_server(
    server: FakeServer, capsys: pytest.CaptureFixture[str], fault: Answer | Handling, outcome: str, said: str
) -> None:
    """The second of three items meets the fault. Nothing is lost, and nothing is silently scored as wrong."""
    seconds = "1" if fault is slow_drip else "60"
    words = ["--limit", "3", "--timeout", seconds, "--retries", "0" if fault is slow_drip else "1", "--concurrency", "1"]
    server.reply = lambda body, n: fault if n == 1 else chat_answer("red: 1 2")
    code = command(server, *words)
    err = capsys.readouterr().err
    records = run_records()
    assert (said in err, "Traceback" in err, records[0]["text"]) == (True, False, "red: 1 2")
    assert code == (1 if outcome in ("stop", "error") else 0)
    assert len(records) == (2 if outcome == "stop" else 3)
    assert len(server.requests) == {"again": 4, "stop": 2}.get(outcome, 3)
    assert ("error" in records[1]) == (outcome in ("stop", "error"))
    if outcome == "error":
        assert said in records[1]["error"]
        assert "1 of 3 items have no answer" in err
    server.reply = lambda body, n: chat_answer("red: 1 2")
    assert command(server, *words) == 0
    records = run_records()
    assert [record.get("error") for record in records] == [None] * 3
    assert len({record["id"] for record in records}) == 3


def command(server: FakeServer, *words: str) -> int:
    return main(["prompt", "--engine", "openai", "--base-url", server.url, "--model", "m", "--name", "r", *words])


def test_a_run_whose_answers_are_all_cut_off_while_thinking_says_so(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = {"completion_tokens_details": {"reasoning_tokens": 3}, "prompt_tokens_details": {"cached_tokens": 5}}
    server.reply = lambda body, n: chat_answer(None, "length", usage)
    assert command(server, "--limit", "3") == 1
    assert "most answers (3 of 3) ended while the model was still thinking" in capsys.readouterr().err
    records = run_records()
    assert {(record["reasoning_tokens"], record["cached_tokens"]) for record in records} == {(3, 5)}
    assert Path("runs/r/scores.json").exists()


def test_a_limit_stops_a_run_that_goes_on_later(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--concurrency", "1", "--limit", "6")
    assert command(server, *words, "--max-tokens-total", "25") == 1
    assert "--max-tokens-total 25 is reached (21 + 9 tokens): raise it" in capsys.readouterr().err
    assert len(server.requests) == 3
    assert command(server, *words, "--max-tokens-total", "45") == 1
    assert "--max-tokens-total 45 is reached (35 + 15 tokens)" in capsys.readouterr().err
    assert len(server.requests) == 5
    assert command(server, *words) == 0
    assert len(server.requests) == 6


def test_a_dry_run_counts_and_asks_nothing(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--dry-run", "--limit", "4", "--max-new-tokens", "100")
    assert command(server, *words) == 0
    out = capsys.readouterr().out
    assert "requests: 4\n" in out
    assert "completion tokens at most: 400\n" in out
    assert command(server, *words, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["requests"], facts["completion_tokens_at_most"]) == (4, 400)
    assert server.requests == []
    assert not Path("runs").exists()


KEY = "sk-secret-in-the-environment"
WRONG_PLACES: dict[str, tuple[list[str], str]] = {
    "extra body": (["--extra-body", '{"a": [{"api_key": "sk-secret-body"}]}'], "'api_key' looks like a key"),
    "header": (["--extra-body", '{"x": "Bearer sk-secret-x"}'], "'x' looks like a key"),
    "a flag": (["--extra-body", json.dumps({"note": KEY})], "--extra-body"),
    "template": (["--template", "./mine"], "hexagons.user.txt holds the key"),
    "url": ([], ""),
}


@pytest.mark.parametrize(("words", "said"), WRONG_PLACES.values(), ids=WRONG_PLACES)
def test_a_key_in_the_wrong_place_is_written_nowhere(
    server: FakeServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    Path("mine").mkdir()
    Path("mine/hexagons.user.txt").write_text(KEY + "{{ turns | join }}")
    server.reply = lambda body, n: failure(400, f"{server.keys} no {n} sk-secret-query") if n else chat_answer("red: 1 2")
    url = f"{server.url}?api_key=sk-secret-query"
    code = command(server, "--base-url", url, "--limit", "3", "--concurrency", "1", *words)
    captured = capsys.readouterr()
    assert code == (2 if words else 1)
    assert said in captured.err
    assert "sk-secret" not in captured.out + captured.err
    for path in Path("runs").rglob("*"):
        assert "sk-secret" not in (path.read_text() if path.is_file() else ""), path


def test_an_adapter_that_is_served_elsewhere_brings_its_prompt_format(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.reply = lambda body, n: chat_answer("none")
    assert command(server, "--adapter", "hexagons", "--limit", "1") == 0
    assert server.requests[0]["model"] == "m"
    settings = Path("runs/r/run.yaml").read_text()
    assert "adapter_fingerprint: " in settings
    assert "base_fingerprint: null" in settings
    for flag, other in (("--format", "json"), ("--context", "full-history"), ("--frame", "builder")):
        assert command(server, "--adapter", "hexagons", flag, other) == 2
        assert f"{flag} {other}: the adapter hexagons was trained with" in capsys.readouterr().err
