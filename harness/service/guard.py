"""What every request passes first: keys, limits, a bounded body, and the door that closes before the server ends."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.service.keys import Holder, Keys, header
from harness.service.limits import Limits, Tally

OPEN = ("/health", "/ready")
"""Paths that need no key and stay when nothing else is admitted: probes of the machine that runs the server."""
DRAINING = 30
"""Seconds after which a client may ask again where it found the server ending: another one may be there."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a server takes on."""

    in_flight: int = 512
    """Requests at a time, of all clients together."""
    body: int = 10_000_000
    """Bytes of a request."""
    body_seconds: float = 30.0
    """How long a request's body may take to arrive."""
    requests: int | None = None
    """Requests a minute, of one key."""
    tokens: int | None = None
    """Tokens a minute, of one key."""


class Refused(Exception):
    """A request that is not admitted, and the answer to it."""

    def __init__(self, status: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.response = refusal(status, message, retry_after)


def refusal(status: int, message: str, retry_after: float | None = None) -> JSONResponse:
    """An error as the OpenAI protocol has it, with the seconds after which it is worth to ask again."""
    headers = {} if retry_after is None else {"Retry-After": str(max(1, math.ceil(retry_after)))}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": {"message": message, "type": "harness", "code": status}}, status, headers)


class Guard:
    """An ASGI middleware. What it admits finds who asks in the scope, under "holder", and its whole body ready."""

    def __init__(self, app: ASGIApp, keys: Keys | None = None, bounds: Bounds | None = None) -> None:
        self._app, self._keys, self._bounds = app, keys or Keys(), bounds or Bounds()
        self._limits = Limits(self._bounds.requests, self._bounds.tokens)
        self.in_flight = 0
        """Requests that are admitted and not yet answered, but for those that only look (GET)."""
        self.open = 0
        """All requests that are not yet over."""
        self.draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] in OPEN:
            scope["draining"] = self.draining
            return await self._app(scope, receive, send)
        try:
            holder = self._admit(scope)
        except Refused as error:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await error.response(scope, receive, send)
            return None
        scope["holder"] = holder
        self.open += 1
        try:
            if scope["type"] == "websocket" or scope["method"] in ("GET", "HEAD"):
                return await self._app(scope, receive, send)
            return await self._ask(holder, scope, receive, send)
        except asyncio.CancelledError:
            # At the end of the time to drain, what is left is left: no traceback for each of them.
            if not self.draining:
                raise
        finally:
            self.open -= 1

    def drained(self, seconds: float) -> bool:
        """Admit nothing more, and wait, in another thread, until all is answered; False if that takes more than `seconds`."""
        self.draining = True
        deadline = time.monotonic() + seconds
        while (busy := self.open > 0) and time.monotonic() < deadline:
            time.sleep(0.02)
        return not busy

    def charge(self, name: str, tally: Tally) -> None:
        """Charge a holder for what has come to a tally."""
        self._limits.charge(name, tally.due())

    def _admit(self, scope: Scope) -> Holder:
        holder = self._keys.holder(scope)
        if holder is None:
            raise Refused(401, "this server needs a key: Authorization: Bearer KEY")
        if self.draining:
            raise Refused(503, "the server is ending", DRAINING)
        return holder

    async def _ask(self, holder: Holder, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._limit(holder)
        except Refused as error:
            return await error.response(scope, receive, send)
        self.in_flight += 1
        exchange = _Exchange(self, holder.name, send)
        try:
            body = await self._body(scope, receive)
            if self._limits.counts_tokens:
                exchange.count(len(body))
            await self._app(scope, _replay(body, receive), exchange.send)
        except Refused as error:
            await error.response(scope, receive, exchange.send)
        except _Gone:
            pass
        finally:
            exchange.end()

    def _limit(self, holder: Holder) -> None:
        if self.in_flight >= self._bounds.in_flight:
            raise Refused(429, f"the server has {self.in_flight} requests to answer: ask again later", 1)
        if reached := self._limits.admit(holder.name):
            kind, seconds = reached
            raise Refused(429, f"this key has used up its {kind} of a minute", seconds)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """Raises Refused for one that is too large, whatever its header says, or too slow; `_Gone` if the client leaves."""
        most = self._bounds.body
        declared = header(scope, b"content-length")
        if declared.isdigit() and int(declared) > most:
            raise Refused(413, f"the body has more than {most:,} bytes")
        pieces, size, more = [], 0, True
        try:
            async with asyncio.timeout(self._bounds.body_seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Gone
                    pieces.append(message.get("body", b""))
                    size += len(pieces[-1])
                    if size > most:
                        raise Refused(413, f"the body has more than {most:,} bytes")
                    more = message.get("more_body", False)
        except TimeoutError:
            raise Refused(408, f"the body did not arrive within {self._bounds.body_seconds:.0f} s") from None
        return b"".join(pieces)


class _Exchange:
    """A request in flight. It ends before its client knows, which may ask the next one at once."""

    def __init__(self, guard: Guard, name: str, send: Send) -> None:
        self._guard, self._name, self._send = guard, name, send
        self._tally: Tally | None = None
        self._ended = False

    def count(self, size: int) -> None:
        """Count tokens, and charge what a body of `size` bytes is reckoned to have."""
        self._tally = Tally(size)
        self._guard.charge(self._name, self._tally)

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.body":
            if self._tally:
                self._tally.see(message.get("body", b""))
            if not message.get("more_body", False):
                self.end()
        await self._send(message)

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            self._guard.in_flight -= 1
            if self._tally:
                self._guard.charge(self._name, self._tally)


class _Gone(Exception):
    """The client left before its request was whole."""


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body that was read, and then what the connection brings: that the client leaves."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
