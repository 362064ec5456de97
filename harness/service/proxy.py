"""One port for everything: requests for vLLM are passed on to it, and its answers back; all others go to the application."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.engines.vllm.server import VLLM_URL
from harness.service.guard import DRAINING, refusal, while_there
from harness.service.keys import header
from harness.service.limits import UsageReader
from harness.service.supervisor import Supervisor

if TYPE_CHECKING:
    import aiohttp

PASSED = (
    "/v1/chat/completions",
    "/v1/chat/completions/batch",
    "/v1/completions",
    "/v1/responses",
    "/v1/responses/{id}",
    "/v1/responses/{id}/cancel",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/chat/completions/{rendering}",
    "/v1/completions/{rendering}",
    "/v1/messages/{rendering}",
    "/v1/embeddings",
    "/v1/score",
    "/v1/rerank",
    "/v1/audio/transcriptions",
    "/v1/audio/translations",
    "/tokenize",
    "/detokenize",
    "/tokenizer_info",
    "/pooling",
    "/classify",
    "/score",
    "/rerank",
    "/metrics",
    "/version",
    "/load",
)
"""The paths that reach vLLM. Its other paths change the server, or reveal more than a client should see."""
_PASSED = re.compile("|".join(PASSED).replace("{id}", r"[\w-]+").replace("{rendering}", "(?:de)?render"))
STREAMED = re.compile(r"/v1/(chat/)?completions")
"""The paths whose streams report their usage only if `stream_options` ask for it; other streams always do."""
METHODS = ("GET", "POST", "DELETE")
ASKED = ("content-type", "accept", "x-request-id", "traceparent", "tracestate", "x-data-parallel-rank")
"""Headers of a request that are passed on."""
NOT_PASSED = frozenset(
    (b"connection", b"keep-alive", b"transfer-encoding", b"upgrade", b"trailer", b"te", b"server", b"date", b"proxy-authenticate")
)
"""Headers of an answer that belong to the connection, or that this server writes itself."""
LARGE = 1_000_000
"""A body of more bytes is sent to vLLM in pieces."""
CONNECTING = 5.0


@dataclass(frozen=True, slots=True)
class Address:
    """The Unix socket that vLLM listens at."""

    socket: Path
    answer_seconds: float = 600.0
    """How long an answer, or the next piece of one, may take."""


class ReverseProxy:
    """An ASGI application. `served` turns a model's name into vLLM's name for it, `listed` vLLM's list of models into ours."""

    def __init__(
        self,
        app: ASGIApp,
        upstream: Supervisor,
        address: Address,
        served: Callable[[str], str] = lambda model: model,
        listed: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda models: models,
    ) -> None:
        self._app, self._upstream, self._address, self._served, self._listed = app, upstream, address, served, listed
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            try:
                return await self._app(scope, receive, send)
            finally:
                await self.close()
        path = scope["path"]
        if path in ("/health", "/ready"):
            response = await self._probe(ready=path == "/ready", draining=scope.get("draining", False))
            return await response(scope, receive, send)
        if path == "/v1/models" or path.startswith("/v1/models/"):
            response = await self._models(path.removeprefix("/v1/models").removeprefix("/"))
            return await response(scope, receive, send)
        if not _PASSED.fullmatch(path):
            return await self._app(scope, receive, send)
        if scope["method"] not in METHODS:
            return await refusal(405, f"{scope['method']} is not allowed for {path}")(scope, receive, send)
        if self._upstream.state != "up":
            return await self._down()(scope, receive, send)
        return await self._pass(scope, receive, send)

    async def close(self) -> None:
        """End the connections to vLLM."""
        if self._session:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None:
            # aiohttp, and not httpx2 as elsewhere: with 256 requests in flight it needs a sixth of the CPU time per request.
            # Admission already limits the connections; no proxy of the environment may stand between us and our child.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.UnixConnector(str(self._address.socket), limit=0, keepalive_timeout=30),
                timeout=aiohttp.ClientTimeout(None, sock_connect=CONNECTING, sock_read=self._address.answer_seconds),
                # A cookie for one client must not be sent with another's request.
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            )
        return self._session

    async def _probe(self, *, ready: bool, draining: bool) -> Response:
        """Whether the server is ready, or at least alive, which it also is while vLLM starts or restarts."""
        state, wait = ("draining", DRAINING) if draining else (self._upstream.state, self._upstream.retry_after)
        if state == "up":
            status, _ = await self._get("/health")
            well, wait = status == 200, 1
            state = "ok" if well else "failing"
        else:
            well = not ready and state != "down"
        return JSONResponse({"status": state}, 200 if well else 503, None if well else {"Retry-After": str(round(wait))})

    async def _models(self, name: str) -> Response:
        """The list of models, or one of them."""
        if self._upstream.state != "up":
            return self._down()
        status, body = await self._get("/v1/models")
        if status != 200:
            return self._down()
        models = self._listed(json.loads(body)["data"])
        if not name:
            return JSONResponse({"object": "list", "data": models})
        found = next((model for model in models if model["id"] == name), None)
        return JSONResponse(found) if found else refusal(404, f"no model {name[:80]!r}: GET /v1/models lists them")

    async def _get(self, path: str) -> tuple[int, bytes]:
        """An answer of vLLM; status 503 if there is none."""
        import aiohttp

        try:
            async with self._open().get(VLLM_URL + path, timeout=aiohttp.ClientTimeout(10)) as response:
                return response.status, await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError):
            return 503, b""

    def _down(self) -> Response:
        state = self._upstream.state
        why = "vLLM does not answer" if state == "up" else f"vLLM is {state}"
        return refusal(503, f"the model is not available: {why}", self._upstream.retry_after)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back. If the client disconnects, the request to vLLM is ended, too."""
        body, hidden = (await receive()).get("body", b""), False
        if body and not scope["path"].startswith("/v1/audio"):
            try:
                body, hidden = self._rewritten(body, scope)
            except ValueError as error:
                return await refusal(400, f"the body is not JSON: {str(error)[:200]}")(scope, receive, send)
        return await while_there(receive, self._exchange(scope, body, hidden, send))

    def _rewritten(self, body: bytes, scope: Scope) -> tuple[bytes, bool]:
        """The body for vLLM, and whether the stream's usage is hidden from the client, who has not asked for it. The model gets
        vLLM's name for it; if tokens are counted, a stream is asked to report its usage. Without a change, the bytes stay the
        same. Raises ValueError for a body that is not JSON."""
        fields = from_json(body)
        if not isinstance(fields, dict):
            return body, False
        changed: dict[str, Any] = {}
        model = fields.get("model")
        if isinstance(model, str) and (served := self._served(model)) != model:
            changed["model"] = served
        hidden = False
        if "usage" in scope and fields.get("stream") is True and STREAMED.fullmatch(scope["path"]):
            options = fields.get("stream_options")
            options = options if isinstance(options, dict) else {}
            hidden = options.get("include_usage") is not True
            changed |= {"stream_options": {**options, "include_usage": True}} if hidden else {}
        return (to_json({**fields, **changed}) if changed else body), hidden

    async def _exchange(self, scope: Scope, body: bytes, hidden: bool, send: Send) -> None:
        import aiohttp
        from yarl import URL

        query = scope["query_string"].decode("latin-1")
        url = URL(VLLM_URL + scope["path"] + (f"?{query}" if query else ""), encoded=True)
        headers = {name: value for name in ASKED if (value := header(scope, name.encode()))}
        data = io.BytesIO(body) if len(body) > LARGE else body or None
        begun = False
        try:
            async with self._open().request(scope["method"], url, data=data, headers=headers, allow_redirects=False) as answer:
                stream = answer.content_type == "text/event-stream"
                reader = UsageReader(scope["usage"], stream=stream, hidden=hidden) if "usage" in scope else None
                passed = _passed_headers(answer.raw_headers)
                await send({"type": "http.response.start", "status": answer.status, "headers": passed})
                begun = True
                async for piece in answer.content.iter_any():
                    piece = reader.feed(piece) if reader else piece
                    if piece:
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": reader.end() if reader else b""})
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            # An answer that has begun is left unfinished: the connection ends, which tells the client.
            if not begun:
                late = isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError)
                response = refusal(504, f"no answer within {self._address.answer_seconds:.0f} s") if late else self._down()
                await response(scope, _never, send)


def _passed_headers(headers: tuple[tuple[bytes, bytes], ...]) -> list[tuple[bytes, bytes]]:
    lower = ((name.lower(), value) for name, value in headers)
    return [(name, value) for name, value in lower if name not in NOT_PASSED and not name.startswith(b"access-control-")]


async def _never() -> Message:
    raise AssertionError("a refusal reads nothing")
