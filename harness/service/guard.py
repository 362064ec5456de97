"""The checks that every request to the page and to `harness serve` passes first: its origin, its key, its limits, its whole body.

Any site can make a browser send requests to this machine. So a server without keys answers only requests that are addressed to a
loopback name, and no server answers requests that another site makes.
"""

import asyncio
import math
import re
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.service.keys import ANYONE, Keys, header

OPEN = ("/health", "/ready")
"""Paths that need no key and are answered even when nothing else is admitted: probes of whatever runs the server."""
LOOPBACK = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)
"""The hosts that a request to this machine names."""
MOST_HEADERS = 100
RETRY = 5
"""Seconds after which an unavailable model may be asked again."""
LINGERING = 2.0
"""Seconds for which the rest of a refused request is read and dropped, so that its client can read the answer."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy: the page loads and runs only files of this server."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
"""Headers that every answer carries."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a server takes on."""

    in_flight: int = 512
    """Requests at a time, from all clients together."""
    body: int = 10_000_000
    """Bytes of a request's body."""
    body_seconds: float = 30.0
    """How long a request's body may take to arrive."""
    requests: int | None = None
    """Requests a minute with one key."""


class Slots:
    """Slots for requests that are answered at the same time. Half of them are divided equally among the keys, so that no key can
    take another's; the rest goes to whoever comes first."""

    def __init__(self, total: int, keys: int) -> None:
        self._share = max(1, total // 2 // keys)
        self._free = total - self._share * keys
        self._used: Counter[str] = Counter()

    @property
    def used(self) -> int:
        return self._used.total()

    def take(self, name: str) -> bool:
        """Take a slot for this key, and return True; False if there is none."""
        beyond = sum(max(0, used - self._share) for used in self._used.values())
        if self._used[name] >= self._share and beyond >= self._free:
            return False
        self._used[name] += 1
        return True

    def give_back(self, name: str) -> None:
        self._used[name] -= 1


class Rate:
    """A token bucket for each key. It holds `limit` requests and fills by as many a minute; None means that there is no limit."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._buckets: dict[str, tuple[float, float]] = {}
        """For each key, the requests that were left, and when that was."""

    def admit(self, name: str) -> float:
        """0 if a request is admitted, which counts it; otherwise the seconds until one is."""
        if self._limit is None:
            return 0
        now, most = monotonic(), self._limit
        left, at = self._buckets.get(name, (most, now))
        left = min(most, left + (now - at) * most / 60)
        # A rounding error must not make a client that waited as long as it was told wait again.
        admitted = left > 1 - 1e-6
        self._buckets[name] = left - admitted, now
        return 0 if admitted else (1 - left) * 60 / most


class RequestRefused(Exception):
    """A request that is not admitted, and the answer to it."""

    def __init__(self, status: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.response = refusal(status, message, retry_after)


def refusal(status: int, message: str, retry_after: float | None = None) -> JSONResponse:
    """An error in the form of the OpenAI protocol, with the seconds after which the client may ask again."""
    headers = {} if retry_after is None else {"Retry-After": str(max(1, math.ceil(retry_after)))}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": {"message": message, "type": "harness", "code": status}}, status, headers)


class Guard:
    """An ASGI middleware. The scope of an admitted request holds who asks, under "principal", and its body has been read to its
    end."""

    def __init__(self, app: ASGIApp, keys: Keys | None = None, bounds: Bounds | None = None) -> None:
        self._app, self._keys, self._bounds = app, keys or Keys(), bounds or Bounds()
        self._rate = Rate(self._bounds.requests)
        self._slots = Slots(self._bounds.in_flight, max(1, len(self._keys)))

    @property
    def in_flight(self) -> int:
        """Admitted requests that are not yet answered, without those that only read (GET and HEAD)."""
        return self._slots.used

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": 1008})
        send = _with_headers(send)
        try:
            return await self._admitted(scope, receive, send)
        except RequestRefused as error:
            return await _refuse(error.response, scope, receive, send)
        except (Gone, asyncio.CancelledError):
            # Uvicorn cancels what is left when the server ends; it needs no traceback.
            return None

    async def _admitted(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _has_body(scope) and (scope["method"] != "POST" or scope["path"] in OPEN):
            raise RequestRefused(400, f"{scope['method']} {scope['path'][:80]} takes no body")
        if scope["path"] in OPEN:
            return await self._app(scope, receive, send)
        scope["principal"] = principal = self._principal(scope)
        if scope["method"] in ("GET", "HEAD"):
            return await self._app(scope, receive, send)
        _check_content(scope)
        return await self._ask(principal, scope, receive, send)

    def _principal(self, scope: Scope) -> str:
        """Who asks. Raises RequestRefused for a request of another site or without a key."""
        if len(scope["headers"]) > MOST_HEADERS:
            raise RequestRefused(431, f"the request has more than {MOST_HEADERS} headers")
        if header(scope, b"content-length") and header(scope, b"transfer-encoding"):
            raise RequestRefused(400, "the request has both Content-Length and Transfer-Encoding")
        principal = self._keys.principal(scope)
        host, origin = header(scope, b"host"), header(scope, b"origin")
        if principal == ANYONE and not LOOPBACK.fullmatch(host):
            raise RequestRefused(403, "this server answers only this machine: ask it as http://127.0.0.1, or start it with a key")
        if origin and origin not in (f"http://{host}", f"https://{host}"):
            raise RequestRefused(403, "requests from other sites are refused")
        opened = scope["method"] == "GET" and header(scope, b"sec-fetch-mode") == "navigate"
        if header(scope, b"sec-fetch-site") not in ("", "same-origin", "none") and not opened:
            raise RequestRefused(403, "requests from other sites are refused")
        if principal is None:
            raise RequestRefused(*self._keys.refusal)
        return principal

    async def _ask(self, principal: str, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._slots.take(principal):
            raise RequestRefused(429, f"the server has {self.in_flight} requests to answer: ask again later", 1)
        with ExitStack() as held:
            held.callback(self._slots.give_back, principal)
            if seconds := self._rate.admit(principal):
                raise RequestRefused(429, "this key has used up its requests for this minute", seconds)
            body = await self._body(scope, receive)
            await self._app(scope, _replay(body, receive), ending(held.close, send))

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body. Raises RequestRefused if it is too large, whatever its Content-Length says, or too slow; Gone if the
        client disconnects."""
        if not _has_body(scope):
            return b""
        most = self._bounds.body
        declared = header(scope, b"content-length")
        if declared.isdigit() and int(declared) > most:
            raise RequestRefused(413, f"the body has more than {most:,} bytes")
        body, more = bytearray(), True
        try:
            async with asyncio.timeout(self._bounds.body_seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Gone
                    body += message.get("body", b"")
                    if len(body) > most:
                        raise RequestRefused(413, f"the body has more than {most:,} bytes")
                    more = message.get("more_body", False)
        except TimeoutError:
            raise RequestRefused(408, f"the body did not arrive within {self._bounds.body_seconds:g} s") from None
        return bytes(body)


class Gone(Exception):
    """The client disconnected before its request was complete or answered."""


async def while_there(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`. If the client disconnects first, `work` is cancelled, and Gone is raised."""
    working, leaving = asyncio.create_task(work), asyncio.create_task(_left(receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Gone
        return working.result()
    finally:
        leaving.cancel()
        working.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _refuse(response: JSONResponse, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer at once. If the body has not been read, the connection closes when it ends or LINGERING seconds are over."""
    if not _has_body(scope):
        return await response(scope, receive, send)
    headers = [*response.raw_headers, (b"connection", b"close")]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": True})
    try:
        async with asyncio.timeout(LINGERING):
            while (message := await receive())["type"] != "http.disconnect" and message.get("more_body", False):
                pass
    except TimeoutError:
        pass
    return await send({"type": "http.response.body", "body": b""})


def _check_content(scope: Scope) -> None:
    """Raises RequestRefused for a body that is not JSON, because any site's page can send a form."""
    kind = header(scope, b"content-type").partition(";")[0].strip().lower()
    if _has_body(scope) and kind != "application/json":
        raise RequestRefused(415, f"the body's type is {kind[:80]!r}: send Content-Type: application/json")


def _has_body(scope: Scope) -> bool:
    return header(scope, b"content-length") not in ("", "0") or bool(header(scope, b"transfer-encoding"))


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return send_with_headers


def ending(end: Callable[[], None], send: Send) -> Send:
    """Calls `end` before the last piece of the answer is sent, because the client may then send its next request at once."""

    async def send_and_end(message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            end()
        await send(message)

    return send_and_end


def _replay(body: bytes, receive: Receive) -> Receive:
    """Receives the body that was read, and then what the connection receives: that the client disconnects."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
