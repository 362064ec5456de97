"""A stand-in for `vllm serve`: it has the same command line, socket and endpoints, answers at once, and keeps its requests.

Its models answer every prompt with `max_tokens` numbered words, `pause` seconds apart; both are keys of the request. Held to
feasible actions, they answer that there is nothing to do.
"""

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from aiohttp import web

from serialization.formats.answer import NOTHING


class FakeVllm:
    """`requests` are (path, body, headers), in order; `ended` counts answers that the client did not wait for; a test may note
    the path of its socket."""

    socket: Path

    def __init__(self, base: str, modules: dict[str, str]) -> None:
        self.base, self.modules = base, modules
        self.requests: list[tuple[str, Any, dict[str, str]]] = []
        self.running = self.ended = 0
        self.pause = float(os.environ.get("FAKE_VLLM_PAUSE", "0"))

    def app(self) -> web.Application:
        app = web.Application(client_max_size=100_000_000)
        for path in ("/health", "/metrics", "/version"):
            app.router.add_get(path, self.told)
        app.router.add_get("/v1/models", self.models)
        app.router.add_post("/v1/load_lora_adapter", self.load)
        for path in ("/v1/chat/completions", "/v1/completions", "/tokenize"):
            app.router.add_post(path, self.answer)
        return app

    async def told(self, request: web.Request) -> web.Response:
        texts = {"/metrics": f"vllm:num_requests_running {self.running}\n", "/version": '{"version": "1"}'}
        return web.Response(text=texts.get(request.path, ""))

    async def models(self, request: web.Request) -> web.Response:
        cards = [{"id": self.base, "root": "/secret/base", "max_model_len": 4096}]
        cards += [{"id": name, "root": path, "parent": self.base} for name, path in self.modules.items()]
        return web.json_response({"object": "list", "data": cards})

    async def load(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.modules[body["lora_name"]] = body["lora_path"]
        return web.Response(text="Success")

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        self.requests.append((request.path, body, dict(request.headers)))
        if body.get("model") not in (None, self.base, *self.modules):
            return web.json_response({"error": {"message": "no such model", "code": 404}}, status=404)
        self.running += 1
        try:
            return await self._words(request, body)
        except (asyncio.CancelledError, ConnectionResetError):
            self.ended += 1
            raise
        finally:
            self.running -= 1

    async def _words(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        count, pause = int(body.get("max_tokens", 3)), float(body.get("pause", self.pause))
        usage = {"prompt_tokens": 7, "total_tokens": 7 + count, "completion_tokens": count}
        headers = {"Access-Control-Allow-Origin": "*", "Server": "uvicorn", "X-Request-Id": "r"}
        if not body.get("stream"):
            await asyncio.sleep(count * pause)
            held = "feasible" in (body.get("vllm_xargs") or {})
            text = NOTHING if held else " ".join(map(str, range(count)))
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}, "text": text}
            shape = {"id": "1", "object": "chat.completion", "created": 1, "model": body.get("model"), "choices": [choice]}
            return web.json_response({**shape, "usage": usage}, headers=headers)
        response = web.StreamResponse(headers={**headers, "Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}
        for number in range(count):
            delta = {"index": 0, "finish_reason": None, "delta": {"content": f"{number} "}}
            await response.write(f"data: {json.dumps({**chunk, 'choices': [delta]})}\n\n".encode())
            await asyncio.sleep(pause)
        if (body.get("stream_options") or {}).get("include_usage"):
            await response.write(f"data: {json.dumps({**chunk, 'choices': [], 'usage': usage})}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lora-modules", nargs="*", default=[])
    parser.add_argument("--served-model-name")
    parser.add_argument("--uds")
    given, _ = parser.parse_known_args()
    fake = FakeVllm(given.served_model_name, dict(word.split("=", 1) for word in given.lora_modules))
    runner = web.AppRunner(fake.app(), access_log=None, handler_cancellation=True)
    await runner.setup()
    await web.UnixSite(runner, given.uds).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(0)
