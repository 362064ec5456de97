"""`harness prompt` with a failing endpoint: one line, the right exit code, nothing lost, and a rerun completes it."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.helpers import Command
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


@pytest.fixture
def ask(server: FakeServer, command: Command) -> Command:
    return partial(command, "prompt", "--engine", "openai", "--base-url", server.url, "--model", "m", "--name", "r")


@pytest.mark.parametrize(("fault", "outcome", "said"), FAULTS.values(), ids=FAULTS)
def test_every_fault_of_a_server(server: FakeServer, ask: Command, fault: Answer | Handling, outcome: str, said: str) -> None:
    """The second of three items meets the fault. Nothing is lost, and nothing is silently scored as wrong."""
    seconds = "1" if fault is slow_drip else "60"
    words = ["--limit", "3", "--timeout", seconds, "--retries", "0" if fault is slow_drip else "1", "--concurrency", "1"]
    server.reply = lambda body, n: fault if n == 1 else chat_answer("red: 1 2")
    code, _, err = ask(*words)
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
    assert ask(*words)[0] == 0
    records = run_records()
    assert [record.get("error") for record in records] == [None] * 3
    assert len({record["id"] for record in records}) == 3


def test_a_run_whose_answers_are_all_cut_off_while_thinking_says_so(server: FakeServer, ask: Command) -> None:
    usage = {"completion_tokens_details": {"reasoning_tokens": 3}, "prompt_tokens_details": {"cached_tokens": 5}}
    server.reply = lambda body, n: chat_answer(None, "length", usage)
    code, _, err = ask("--limit", "3")
    assert (code, "most answers (3 of 3) ended while the model was still thinking" in err) == (1, True)
    records = run_records()
    assert {(record["reasoning_tokens"], record["cached_tokens"]) for record in records} == {(3, 5)}
    assert Path("runs/r/scores.json").exists()


def test_a_limit_stops_a_run_that_goes_on_later(server: FakeServer, ask: Command) -> None:
    words = ("--concurrency", "1", "--limit", "6")
    for most, used, requests in (("25", "21 + 9", 3), ("45", "35 + 15", 5)):
        code, _, err = ask(*words, "--max-tokens-total", most)
        assert (code, len(server.requests)) == (1, requests)
        assert f"--max-tokens-total {most} is reached ({used} tokens): raise it" in err
    assert (ask(*words)[0], len(server.requests)) == (0, 6)


def test_a_dry_run_counts_and_asks_nothing(server: FakeServer, ask: Command) -> None:
    words = ("--dry-run", "--limit", "4", "--max-new-tokens", "100")
    assert "completion tokens at most: 400\n" in ask(*words)[1]
    facts = json.loads(ask(*words, "--json")[1])
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
    server: FakeServer, ask: Command, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    Path("mine").mkdir()
    Path("mine/hexagons.user.txt").write_text(KEY + "{{ turns | join }}")
    server.reply = lambda body, n: failure(400, f"{server.keys} no {n} sk-secret-query") if n else chat_answer("red: 1 2")
    url = f"{server.url}?api_key=sk-secret-query"
    code, out, err = ask("--base-url", url, "--limit", "3", "--concurrency", "1", *words)
    assert (code, said in err) == (2 if words else 1, True)
    assert "sk-secret" not in out + err
    for path in Path("runs").rglob("*"):
        assert "sk-secret" not in (path.read_text() if path.is_file() else ""), path


def test_an_adapter_that_is_served_elsewhere_brings_its_prompt_format(server: FakeServer, ask: Command) -> None:
    server.reply = lambda body, n: chat_answer("none")
    assert ask("--adapter", "hexagons", "--limit", "1")[0] == 0
    assert server.requests[0]["model"] == "m"
    settings = Path("runs/r/run.yaml").read_text()
    assert "adapter_fingerprint: " in settings
    assert "base_files_fingerprint: null" in settings
    for flag, other in (("--format", "json"), ("--context", "full-history"), ("--frame", "builder")):
        code, _, err = ask("--adapter", "hexagons", flag, other)
        assert (code, f"{flag} {other}: the adapter hexagons was trained with" in err) == (2, True)
