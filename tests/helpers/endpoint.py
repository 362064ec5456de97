"""A fake OpenAI-compatible endpoint; the tests choose its answers, good or bad."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], bytes]
Handling = Callable[[BaseHTTPRequestHandler], None]
"""Writes an answer itself."""


def chat_answer(
    text: str | list[dict[str, Any]] | None, reason: str = "stop", usage: dict[str, Any] | None = None, **message: Any
) -> Answer:
    """`message` holds further fields of the message, except `model`, which names the answering model."""
    counts = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10, **(usage or {})}
    model = message.pop("model", "")
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text, **message}}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": counts}
    return 200, {}, json.dumps(answer).encode()


def chat_stream(text: str) -> Answer:
    """The answer in two pieces, as server-sent events."""
    ends: list[dict[str, Any]] = [{"delta": {"role": "assistant", "content": text}}, {"delta": {}, "finish_reason": "stop"}]
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
    events = [json.dumps({**chunk, "choices": [{"index": 0, "finish_reason": None, **end}]}) for end in ends]
    return 200, {"Content-Type": "text/event-stream"}, "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()


def failure(status: int, message: str = "no", *, param: str = "", code: str = "", **headers: str) -> Answer:
    return status, headers, json.dumps({"error": {"message": message, "param": param, "code": code}}).encode()


def listed(**model: Any) -> Answer:
    """A list with one model."""
    return 200, {}, json.dumps({"object": "list", "data": [{"id": "m", **model}]}).encode()


def slow_drip(handler: BaseHTTPRequestHandler) -> None:
    """Sends a byte every tenth of a second, for half a minute."""
    _begin(handler, 300)
    for _ in range(300):
        handler.wfile.write(b" ")
        time.sleep(0.1)


def cut_short(handler: BaseHTTPRequestHandler) -> None:
    """Sends half of an answer and closes the connection."""
    content = chat_answer("red: 1 2")[2]
    _begin(handler, len(content))
    handler.wfile.write(content[: len(content) // 2])
    handler.close_connection = True


def endless(handler: BaseHTTPRequestHandler) -> None:
    """Sends 100 MB without announcing a length."""
    _begin(handler)
    for _ in range(100):
        handler.wfile.write(b"x" * 1_000_000)
    handler.close_connection = True


def _begin(handler: BaseHTTPRequestHandler, length: int | None = None) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    if length is not None:
        handler.send_header("Content-Length", str(length))
    handler.end_headers()


class FakeServer:
    """Answers POST requests with the result of `reply(body, n)`; n counts the requests from 0. For None, it never answers.

    GET and HEAD requests are answered with `get(path, headers)`, or with `models`.
    """

    def __init__(self) -> None:
        self.reply: Callable[[dict[str, Any], int], Answer | Handling | None] = lambda body, n: chat_answer("ok")
        self.models = listed(max_model_len=4096)
        self.get: Callable[[str, Message], Answer] = lambda path, headers: self.models
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: set[str | None] = set()
        self.stopped = threading.Event()
        lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    n = len(fake.requests)
                    fake.requests.append(body)
                    fake.paths.append(self.path)
                    fake.keys.add(self.headers["Authorization"])
                answer = fake.reply(body, n)
                if answer is None:
                    fake.stopped.wait(30)
                    return None
                if callable(answer):
                    with suppress(OSError):
                        answer(self)
                    return None
                return self.answer(answer)

            def do_GET(self) -> None:
                self.answer(fake.get(self.path, self.headers))

            do_HEAD = do_GET

            def answer(self, answer: Answer) -> None:
                status, headers, content = answer
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                with suppress(OSError):
                    self.wfile.write(content if self.command != "HEAD" else b"")

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing goes to stderr."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.host = f"http://127.0.0.1:{self.http.server_port}"
        self.url = f"{self.host}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def stop(self) -> None:
        self.stopped.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()
