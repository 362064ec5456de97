"""HTTP/1.1 with deadlines. Uvicorn limits the size of a request's head, its trailers and what is pipelined, and closes idle
connections; it does not limit how long a head may take to arrive, how long a client may take to read, and the number of
connections. `Guard` limits how long a body may take."""

import asyncio
import resource
import socket
import sys
from typing import Any

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from harness.service.guard import ending

SPARE_FILES = 256
"""File descriptors that are reserved for everything but clients' connections."""


def connection_limit() -> int:
    """The most connections that the server takes: as many as this process may open files, less the spare ones. Sets the soft
    limit of open files to the hard one, or to 65,536 if that is less."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(16, wanted - SPARE_FILES)


class Connection(H11Protocol):
    """If there are more connections than `most`, the one that has waited for a request for longest makes room; first those of
    which no request was admitted yet, and last a new one."""

    def __init__(self, others: "set[Connection]", most: int, head: float, read: float, app_state: dict[str, Any], **options: Any):
        # The state is in the scope of every request, where `tracked` finds the connection.
        super().__init__(app_state={**app_state, "connection": self}, **options)
        self._others, self._most, self._head_seconds, self._read_seconds = others, most, head, read
        self._now = asyncio.get_running_loop().time
        self._deadline: asyncio.TimerHandle | None = None
        self._admitted = False
        self._waits_since: float | None = self._now()
        """By the event loop's clock; None while a request is answered."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wire = transport
        if sys.platform == "linux":
            wire: socket.socket = transport.get_extra_info("socket")
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(self._read_seconds * 1000))
        self._expect()
        self._others.add(self)
        if len(self._others) > self._most:
            waiting = (one for one in self._others if one._waits_since is not None)
            least = min(waiting, key=lambda one: (one is self, one._admitted, one._waits_since))
            self._others.discard(least)
            least._wire.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._others.discard(self)
        self.begin()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._waits_since is not None and not self._deadline:
            self._expect()
        try:
            super().data_received(data)
        except h11.LocalProtocolError:
            # The rest of the request is invalid, and its answer has begun.
            self._wire.close()

    def begin(self) -> None:
        """The head of a request has arrived."""
        self._waits_since = None
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def end(self, admitted: bool) -> None:
        """The request is answered, whether or not it was admitted."""
        self._waits_since, self._admitted = self._now(), self._admitted or admitted

    def _expect(self) -> None:
        self._deadline = asyncio.get_running_loop().call_later(self._head_seconds, self._wire.abort)


def tracked(app: ASGIApp) -> ASGIApp:
    """The application, which tells each `Connection` when it begins and ends to answer a request."""

    async def track(scope: Scope, receive: Receive, send: Send) -> None:
        connection: Connection | None = scope.get("state", {}).get("connection")
        if connection is None:
            return await app(scope, receive, send)

        connection.begin()
        return await app(scope, receive, ending(lambda: connection.end("principal" in scope), send))

    return track
