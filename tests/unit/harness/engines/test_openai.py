"""The endpoint engine with a fake server: its requests, and its reaction to every kind of bad answer."""

import json
import threading
import time
from contextlib import closing, nullcontext
from typing import Any

import pytest

from harness.engines.engine import Sampling
from harness.engines.openai.endpoint import Endpoint
from harness.engines.openai.engine import OpenAIEngine, TokenUsage
from harness.errors import EngineError, UsageError
from harness.prompting.options import Options
from harness.service.keys import server_keys
from harness.worlds.minecraft import Action
from prompts.rendered import Rendered
from serialization.formats import get_format
from tests.helpers import cases
from tests.helpers.endpoint import Answer, FakeServer, chat_answer, failure

CASES = cases(__file__)

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARNESS_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def prompt(n: int = 0) -> Rendered:
    return Rendered(f"item/{n}", ({"role": "user", "content": f"question {n}"},), f"text {n}", ())


def ask(server: FakeServer, count: int = 1, sampling: Sampling | None = None, **options: Any) -> list[Any]:
    with made(server, **options) as engine:
        return list(engine.generate([prompt(n) for n in range(count)], sampling or Sampling()))


def made(server: FakeServer, **options: Any) -> closing[OpenAIEngine]:
    return closing(OpenAIEngine(server.url, "demo", **{"timeout": 5.0, "max_retries": 0, **options}))


def test_chats_and_plain_completions_have_their_own_paths(server: FakeServer) -> None:
    ask(server)
    choice = {"index": 0, "finish_reason": "stop", "text": "done"}
    server.reply = lambda body, n: (200, {}, json.dumps({"id": "1", "choices": [choice]}).encode())
    (answer,) = ask(server, chat=False)
    assert (answer.text, answer.prompt_tokens) == ("done", 0)
    assert server.paths == ["/v1/chat/completions", "/v1/completions"]
    assert server.requests[0]["messages"] == [{"role": "user", "content": "question 0"}]
    assert server.requests[1]["prompt"] == "text 0"


def test_order_is_kept_when_answers_overtake_each_other(server: FakeServer) -> None:
    together = threading.Barrier(4)

    def reply(body: dict[str, Any], n: int) -> Answer:
        text = body["messages"][0]["content"]
        together.wait(10)  # breaks unless four requests are in flight at once
        time.sleep(0.05 * (3 - int(text.split()[-1]) % 4))
        return chat_answer(text)

    server.reply = reply
    assert [answer.text for answer in ask(server, 12, concurrency=4)] == [f"question {n}" for n in range(12)]


@pytest.mark.parametrize(
    "content",
    [
        b"{not json",
        b"[" * 20_000,
        b"\xff\xfe\x00",
        b'{"choices": [null]}',
        b'{"choices": [{"message": {"content": ["a"]}, "finish_reason": "stop"}]}',
        b'{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}',
    ],
)
def test_garbage_is_an_error_of_the_item(server: FakeServer, content: bytes) -> None:
    server.reply = lambda body, n: (200, {}, content)
    (answer,) = ask(server)
    assert answer.error is not None
    assert "\n" not in answer.error
    assert len(answer.error) < 500


@pytest.mark.parametrize(("reasons", "end"), CASES["ends"])
def test_only_an_answer_that_is_known_to_be_whole_or_cut_is_scored(
    server: FakeServer, reasons: tuple[Any, ...], end: str
) -> None:
    for chat in (True, False):
        for reason in reasons:
            choice = {"message": {"content": "red: 1"}, "text": "red: 1", "finish_reason": reason}
            server.reply = lambda body, n, choice=choice: (200, {}, json.dumps({"choices": [choice]}).encode())  # type: ignore[misc]
            (answer,) = ask(server, chat=chat)
            if end in ("stop", "length"):
                assert (answer.text, answer.finish_reason, answer.error) == ("red: 1", end, None)
            else:
                assert end in (answer.error or "")


def test_an_answer_may_come_in_parts(server: FakeServer) -> None:
    thought = [{"type": "text", "text": "hm "}, {"type": "text", "text": "red"}]
    said = [{"type": "text", "text": "red: "}, {"type": "output_text", "text": "1 2"}]
    replies: list[Any] = [said, [{"type": "thinking", "thinking": thought, "closed": True}, *said]]
    replies += [[{"type": "reasoning", "reasoning": "hm"}, {"type": "thinking"}], [*said, {"type": "picture"}]]
    server.reply = lambda body, n: chat_answer(replies[n])
    *whole, picture = [ask(server)[0] for _ in replies]
    read = [(answer.error, answer.text, answer.reasoning, answer.finish_reason) for answer in whole]
    assert read == [(None, "red: 1 2", "", "stop"), (None, "red: 1 2", "hm red", "stop"), (None, "", "hm", "thinking")]
    assert "no text" in picture.error


def test_calls_of_tools_become_the_text_of_the_format_tools(server: FakeServer) -> None:
    call = {"name": "place", "arguments": '{"color": "red", "x": 0, "y": 1, "z": -2}'}
    broken: list[Any] = [{"function": {"name": "place", "arguments": "{"}}, {"function": None}, 3]
    calls: list[Any] = [{"id": "1", "type": "function", "function": call}, *broken]
    server.reply = lambda body, n: chat_answer(None, "tool_calls", tool_calls=calls)
    (answer,) = ask(server, sampling=Sampling(tools="minecraft"))
    parsed = get_format("minecraft", "tools").parse(answer.text)
    assert (answer.error, parsed.actions) == (None, (Action("place", "red", 0, 1, -2),))
    assert [tool["function"]["name"] for tool in server.requests[-1]["tools"]] == ["place", "remove", "done"]


def test_an_endpoint_without_tools_is_asked_for_text(server: FakeServer) -> None:
    refusal = failure(400, '"auto" tool choice requires --enable-auto-tool-choice')
    server.reply = lambda body, n: refusal if "tools" in body else chat_answer("none")
    (answer,) = ask(server, sampling=Sampling(tools="hexagons"))
    assert answer.text == "none"
    assert ["tools" in request for request in server.requests] == [True, False]


@pytest.mark.parametrize(("answer", "requests", "said"), CASES["errors in answers"])
def test_an_error_inside_an_answer_is_handled_as_its_own_status(
    server: FakeServer, answer: dict[str, Any], requests: int, said: str | None
) -> None:
    server.reply = lambda body, n: chat_answer('"error"') if n else (200, {}, json.dumps(answer).encode())
    (completion,) = ask(server, max_retries=1)
    assert len(server.requests) == requests
    assert completion.text == ("" if said else '"error"')
    assert (said or "") in (completion.error or "")


def test_a_record_counts_its_prompt_for_every_sample() -> None:
    record = {"prompt_tokens": 10, "completion_tokens": 6, "samples": ["a", "b", "c"], "reasoning_tokens": 2}
    assert TokenUsage.of_record(record) == TokenUsage(30, 6, 0, 2)
    assert str(TokenUsage.of_record(record)) == "30 + 6 tokens (2 reasoning)"
    assert TokenUsage.of_record({"error": "429"}) == TokenUsage()


def test_a_server_that_goes_away_ends_the_run_after_two_items_and_one_that_never_was_there_at_once(server: FakeServer) -> None:
    with made(server, concurrency=1) as engine:
        assert next(iter(engine.generate([prompt()], Sampling()))).text == "ok"
        server.http.shutdown()
        server.http.server_close()
        answers = engine.generate([prompt(n) for n in range(3)], Sampling())
        assert all("no connection" in (next(answers).error or "") for _ in range(2))
        with pytest.raises(EngineError, match="no connection"):
            next(answers)
    with pytest.raises(EngineError, match=f"no connection to {server.url}.*--base-url"):
        ask(server, 3)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (failure(401), "HARNESS_API_KEY"),
        (failure(403), "OPENAI_API_KEY"),
        (failure(404), "--base-url.*--model"),
        (failure(429, Retry_After="7200"), "asks to wait 7,200 seconds"),
    ],
)
def test_what_every_prompt_would_meet_ends_the_run_at_once(server: FakeServer, fault: Answer, said: str) -> None:
    server.reply = lambda body, n: fault
    with pytest.raises(EngineError, match=said) as caught:
        ask(server, 50, concurrency=2, max_retries=5)
    assert server.url in str(caught.value)
    assert len(server.requests) < 50


def test_the_harness_key_comes_first_without_the_line_break_after_it(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_API_KEY", " mine\r\n")
    assert (ask(server)[0].error, server.keys) == (None, {"Bearer mine"})


@pytest.mark.parametrize("key", ["sk-very-secret€", "sk-very\nsecret", "sk-very\x01secret"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("HARNESS_API_KEY", key)
    with pytest.raises(UsageError, match=r"^HARNESS_API_KEY: the key holds") as caught:
        OpenAIEngine("http://127.0.0.1:1/v1", "demo")
    assert "very" not in str(caught.value)
    with pytest.raises(UsageError, match=r"^HARNESS_API_KEY: "):
        server_keys("127.0.0.1", None)


def test_no_form_of_a_secret_is_told() -> None:
    endpoint = Endpoint("http://127.0.0.1:1/v1?api_key=q%2Bw+e%22r&version=2024")
    for form in (KEY, "q%2Bw+e%22r", 'q+w e"r', repr('Bearer q+w e"r')):
        told = endpoint.tell(f"refused: {form}, sorry")
        assert "***" in told
        assert not {KEY, "q+w", "q%2Bw"} & set(told.replace("***", " *** ").replace(",", " ").split())


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:99999/v1", "http://[::1/v1", "ftp://host/v1", "http://me:pass@host/v1", "http://me:pass#word@host/v1"],
)
def test_a_url_to_which_no_request_can_go_is_refused(url: str) -> None:
    for refused in (lambda: OpenAIEngine(url, "demo"), lambda: Options(base_url=url, engine="openai")):
        with pytest.raises(UsageError, match=r"must begin with http|must hold no login") as caught:
            refused()
        assert "pass" not in str(caught.value)


@pytest.mark.parametrize(("models", "length"), CASES["lengths"])
def test_the_context_length_is_as_servers_list_it(server: FakeServer, models: Any, length: int | None) -> None:
    server.models = (200, {}, json.dumps({"data": models}).encode())
    told = nullcontext() if length else pytest.raises(UsageError, match="--context-length N")
    with made(server) as engine, told:
        assert engine.context_length == length
