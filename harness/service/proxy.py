"""One port for everything: requests that vLLM answers are passed on to it, as far as their fields are known, and its answers
back; all others go to the application."""

import io
import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.engines.vllm.server import VLLM_URL
from harness.service.guard import RETRY, refusal, while_there
from harness.service.keys import header
from harness.service.openai_requests import REQUESTS, read_fields
from harness.service.supervisor import Supervisor

if TYPE_CHECKING:
    import aiohttp

GOT = ("/metrics", "/version")
"""The paths of vLLM that may be got; those of REQUESTS are posted to. Its other paths are for models of other kinds, change the
server, or reveal more than a client should see."""
ASKED = ("x-request-id", "traceparent", "tracestate")
"""Headers of a request that are passed on."""
ANSWERED = (b"content-type", b"content-length", b"x-request-id")
"""Headers of an answer that are passed on."""
LARGE = 1_000_000
"""A body of more bytes is sent to vLLM in pieces."""
CONNECTING = 5.0


class ReverseProxy:
    """An ASGI application in front of the vLLM that listens at a Unix socket. An answer, or the next piece of one, may take
    `seconds`; `fields` of a request are passed on whatever they hold."""

    def __init__(
        self, app: ASGIApp, upstream: Supervisor, socket: Path, seconds: float = 600.0, fields: Collection[str] = ()
    ) -> None:
        self._app, self._upstream, self._socket, self._seconds, self._fields = app, upstream, socket, seconds, fields
        self._vllm: aiohttp.ClientSession

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            async with self._connection() as self._vllm:
                return await self._app(scope, receive, send)
        path = scope["path"]
        if path in ("/health", "/ready"):
            response = await self._probe(ready=path == "/ready")
            return await response(scope, receive, send)
        method = "POST" if path in REQUESTS else "GET" if path in GOT or f"{path}/".startswith("/v1/models/") else None
        if method is None:
            return await self._app(scope, receive, send)
        if scope["method"] != method:
            return await refusal(405, f"{scope['method']} is not allowed for {path}")(scope, receive, send)
        if self._upstream.state != "up":
            return await self._down()(scope, receive, send)
        if method == "POST":
            return await self._pass(scope, receive, send)
        return await (await self._got(path))(scope, receive, send)

    def _connection(self) -> "aiohttp.ClientSession":
        import aiohttp

        # aiohttp, and not httpx2 as elsewhere: with 256 requests in flight it needs a sixth of the CPU time per request.
        # Admission already limits the connections; no proxy of the environment may stand between us and our child.
        return aiohttp.ClientSession(
            VLLM_URL,
            connector=aiohttp.UnixConnector(str(self._socket), limit=0, keepalive_timeout=30),
            timeout=aiohttp.ClientTimeout(None, sock_connect=CONNECTING, sock_read=self._seconds),
            # A cookie for one client must not be sent with another's request.
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        )

    async def _probe(self, *, ready: bool) -> Response:
        """Whether the server is ready, or at least alive, which it also is while vLLM starts or restarts."""
        state: str = self._upstream.state
        if state == "up":
            status, _ = await self._get("/health")
            well = status == 200
            state = "ok" if well else "failing"
        else:
            well = not ready and state != "down"
        return JSONResponse({"status": state}, 200 if well else 503, None if well else {"Retry-After": str(RETRY)})

    async def _got(self, path: str) -> Response:
        """The list of models, one of them, or what vLLM itself has at a path."""
        status, body = await self._get(path if path in GOT else "/v1/models")
        if status != 200:
            return self._down()
        if path in GOT:
            return Response(body, media_type="application/json" if path == "/version" else "text/plain; version=0.0.4")
        # vLLM's "root" is the folder of a model, which is nobody's business.
        models: list[dict[str, Any]] = [{**model, "root": model["id"]} for model in json.loads(body)["data"]]
        name = path.removeprefix("/v1/models").removeprefix("/")
        if not name:
            return JSONResponse({"object": "list", "data": models})
        found = next((model for model in models if model["id"] == name), None)
        return JSONResponse(found) if found else refusal(404, f"no model {name[:80]!r}: GET /v1/models lists them")

    async def _get(self, path: str) -> tuple[int, bytes]:
        """An answer of vLLM; status 503 if there is none."""
        import aiohttp

        try:
            async with self._vllm.get(path, timeout=aiohttp.ClientTimeout(10)) as response:
                return response.status, await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError):
            return 503, b""

    def _down(self) -> Response:
        state = self._upstream.state
        why = "vLLM does not answer" if state == "up" else f"vLLM is {state}"
        return refusal(503, f"the model is not available: {why}", RETRY)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back. If the client disconnects, the request to vLLM is ended, too."""
        try:
            fields = read_fields(scope["path"], (await receive()).get("body", b""), self._fields)
        except ValueError as error:
            return await refusal(400, str(error))(scope, receive, send)
        # Written anew, so that vLLM reads what was checked. An infinite number becomes null.
        body = to_json(fields, inf_nan_mode="null")
        refused = await while_there(receive, self._exchange(scope, body, send))
        return await refused(scope, receive, send) if refused else None

    async def _exchange(self, scope: Scope, body: bytes, send: Send) -> Response | None:
        """Send a request to vLLM, and the client its answer; what to tell the client if there is none."""
        import aiohttp

        headers = {name: value for name in ASKED if (value := header(scope, name.encode()))}
        headers["content-type"] = "application/json"
        data = io.BytesIO(body) if len(body) > LARGE else body
        begun = False
        try:
            async with self._vllm.post(scope["path"], data=data, headers=headers, allow_redirects=False) as answer:
                passed = [(low, value) for name, value in answer.raw_headers if (low := name.lower()) in ANSWERED]
                await send({"type": "http.response.start", "status": answer.status, "headers": passed})
                begun = True
                async for piece in answer.content.iter_any():
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            # An answer that has begun is left unfinished: the connection ends, which tells the client.
            if not begun:
                late = isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError)
                return refusal(504, f"no answer within {self._seconds:.0f} s") if late else self._down()
        return None
