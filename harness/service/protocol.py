"""HTTP/1.1 with deadlines. Uvicorn's h11 limits the size of a request's head, its trailers and what is pipelined; it does not
limit how long a request may take to arrive, how long a client may take to read, and the number of connections."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_HEAD = 65_536
"""The most bytes of a request's line and headers, or of a body's trailers."""
REQUEST_SECONDS = 60.0
"""How long a request may take from its first byte to its last, whatever was answered before."""
WRITE_SECONDS, LEAST_READ = 30.0, 65_536
"""A client is cut off if it reads fewer than LEAST_READ bytes of a waiting answer in WRITE_SECONDS."""
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


class DeadlineProtocol(H11Protocol):
    """A connection that ends when its request does not arrive in time, or its answer is not read."""

    def __init__(
        self,
        *args: Any,
        most_connections: int,
        request_seconds: float = REQUEST_SECONDS,
        write_seconds: float = WRITE_SECONDS,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._most_connections = most_connections
        self._request_seconds, self._write_seconds = request_seconds, write_seconds
        self._arriving: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None

    @property
    def deadline(self) -> float:
        """When the arriving request must be complete, by the event loop's clock; infinite if none is arriving."""
        return self._arriving.when() if self._arriving else float("inf")

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._most_connections:
            # The connection whose request has been arriving for longest is cut off; the new one, if no other request is arriving.
            longest = min(self.connections - {self}, key=lambda one: one.deadline)  # type: ignore[union-attr]
            (self if longest.deadline == float("inf") else longest).transport.abort()  # type: ignore[union-attr]
        self._expect(True)

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect(False)
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._arriving and self.conn.their_state is h11.IDLE:
            self._expect(True)
        super().data_received(data)

    def handle_events(self) -> None:
        super().handle_events()
        arrived = self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)
        waiting = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0] and self.cycle is not None
        if arrived or waiting:
            self._expect(False)
        elif not self._arriving:
            # A pipelined request whose first bytes came with the previous one.
            self._expect(True)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reader(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._writing:
            self._writing.cancel()
            self._writing = None

    def send_400_response(self, msg: str) -> None:
        # Once an answer has begun, no other one can be sent.
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def _expect(self, request: bool) -> None:
        """Begin or stop waiting for the rest of a request."""
        if self._arriving:
            self._arriving.cancel()
            self._arriving = None
        if request and not self.transport.is_closing():
            self._arriving = self.loop.call_later(self._request_seconds, self.transport.abort)

    def _watch_reader(self, waiting: int) -> None:
        def look() -> None:
            left = self.transport.get_write_buffer_size()
            if waiting - left < LEAST_READ:
                self.transport.abort()
            else:
                self._watch_reader(left)

        self._writing = self.loop.call_later(self._write_seconds, look)
