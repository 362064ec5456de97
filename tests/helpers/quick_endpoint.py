"""An endpoint in a separate process that gives every chat the same answer after a pause, for benchmarks. Prints its URL."""

from __future__ import annotations

import asyncio
import sys

from aiohttp import web

ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "demo",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "red: 1 2; blue: 3-5 4"}}],
    "usage": {
        "prompt_tokens": 700,
        "completion_tokens": 12,
        "total_tokens": 712,
        "prompt_tokens_details": {"cached_tokens": 512},
    },
}


async def answer(request: web.Request) -> web.Response:
    await request.read()
    await asyncio.sleep(float(sys.argv[1]))
    return web.json_response(ANSWER)


async def serve() -> None:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
