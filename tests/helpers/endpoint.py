"""A fake OpenAI-compatible endpoint whose answers, good or bad, the tests choose."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], bytes]


def chat_answer(text: str | None, reason: str = "stop") -> Answer:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text}}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "fake", "choices": [choice], "usage": usage}
    return 200, {}, json.dumps(answer).encode()


def chat_stream(text: str) -> Answer:
    """The answer in two pieces, as server-sent events."""
    ends: list[dict[str, Any]] = [{"delta": {"role": "assistant", "content": text}}, {"delta": {}, "finish_reason": "stop"}]
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
    events = [json.dumps({**chunk, "choices": [{"index": 0, "finish_reason": None, **end}]}) for end in ends]
    return 200, {"Content-Type": "text/event-stream"}, "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()


def failure(status: int, message: str = "no", **headers: str) -> Answer:
    return status, headers, json.dumps({"error": {"message": message}}).encode()


class FakeServer:
    """Answers POST requests with what `reply(body, n)` returns; n counts the requests from 0. None: never answers."""

    def __init__(self) -> None:
        self.reply: Callable[[dict[str, Any], int], Answer | None] = lambda body, n: chat_answer("ok")
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
                    return
                status, headers, content = answer
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                """Not to stderr."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def stop(self) -> None:
        self.stopped.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()
