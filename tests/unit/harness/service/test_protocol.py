"""Connections that send or read too little: each ends in time, and its buffers are bounded."""

import asyncio
import socket
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from harness.service.app import listening
from harness.service.guard import Bounds, Guard
from harness.service.keys import Keys, digest
from tests.helpers.serving import free_port, rest, wait_until

HEAD = b"Host: localhost\r\nAuthorization: Bearer KEY\r\n"
GET = b"GET / HTTP/1.1\r\n" + HEAD + b"\r\n"
GET_LARGE = b"GET /large HTTP/1.1\r\n" + HEAD + b"\r\n"
WITHOUT_KEY = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LARGE = 200


class Application:
    """Answers with a few bytes; `/large` with megabytes, one at a time; `/body` once the body has arrived."""

    def __init__(self) -> None:
        self.answered = self.written = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] == "/body":
            while (await receive()).get("more_body", False):
                pass
        self.answered += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(LARGE if scope["path"] == "/large" else 0):
            await send({"type": "http.response.body", "body": b"a" * 1_000_000, "more_body": True})
            await asyncio.sleep(0)
            self.written += 1
        await send({"type": "http.response.body", "body": b"done"})


@contextmanager
def served(body_seconds: float = 30.0, **seconds: Any) -> Iterator[tuple[Application, tuple[str, int]]]:
    """The application behind a guard whose key is KEY."""
    address = "127.0.0.1", free_port()
    application = Application()
    guard = Guard(application, Keys({digest("KEY"): "one"}), Bounds(body=10**9, body_seconds=body_seconds))
    with listening(guard, *address, **seconds):
        yield application, address


def send_until_closed(connection: socket.socket, piece: bytes, most: int, pause: float = 0.0) -> None:
    """Send a piece repeatedly until the server closes the connection or accepts no more."""
    for _ in range(most):
        try:
            connection.sendall(piece)
        except OSError:
            return
        time.sleep(pause)
    raise AssertionError(f"the server took {most} pieces")


POST = b"POST %s HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost:",
        POST % b"/body" + b"Content-Length: 900000000\r\n\r\na",
        POST % b"/" + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: a\r\n",
        GET + b"GET / HTTP/1.1\r\nHost:",
    ],
)
def test_a_request_must_arrive_in_its_time_whatever_was_answered_before(sent: bytes) -> None:
    with served(head=0.3, body_seconds=0.3, idle=1) as (_, address), socket.create_connection(address) as connection:
        connection.sendall(sent)
        rest(connection)


@pytest.mark.parametrize("body", [b"Content-Length: 1\r\n\r\na", b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n"])
def test_only_a_post_has_a_body(body: bytes) -> None:
    with served() as (application, address), socket.create_connection(address) as connection:
        connection.sendall(b"DELETE / HTTP/1.1\r\n" + HEAD + body)
        assert rest(connection).startswith(b"HTTP/1.1 400")
    assert application.answered == 0


@pytest.mark.parametrize("line", [b"X-Trailer: " + b"a" * 1000 + b"\r\n", b"a" * 1000])
def test_bytes_without_end_are_refused_and_those_that_trickle_do_not_move_the_deadline(line: bytes) -> None:
    chunked = b"Transfer-Encoding: chunked\r\n\r\n"
    endless = [(POST % b"/" + chunked + b"0\r\n", line, 0.0), (b"GET / HTTP/1.1\r\n", line, 0.0)]
    for begin, piece, pause in (*endless, (POST % b"/body" + chunked, b"1\r\na\r\n", 0.02)):
        with served(body_seconds=0.5 if pause else 30) as (_, address), socket.create_connection(address) as connection:
            connection.sendall(begin)
            send_until_closed(connection, piece, 100_000, pause)


def test_pipelined_requests_wait_if_their_answers_are_not_read() -> None:
    with served(read=60) as (application, address), socket.create_connection(address) as connection:
        connection.settimeout(1)
        tracemalloc.start()
        try:
            send_until_closed(connection, GET_LARGE * 100, 10_000)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert application.answered == 1
        assert application.written < LARGE
        assert peak < 20_000_000


def test_a_client_that_does_not_read_is_cut_off_and_one_that_reads_slowly_is_not() -> None:
    with served(read=0.5) as (application, address):
        with socket.create_connection(address) as slow, socket.create_connection(address) as idle:
            for connection in (slow, idle):
                connection.sendall(GET_LARGE)
            size = 0
            slow.settimeout(10)
            while size < 40_000_000 and (piece := slow.recv(1_000_000)):
                size += len(piece)
                time.sleep(0.02)
            assert size >= 40_000_000
            assert len(rest(idle)) < LARGE * 1_000_000
        wait_until(lambda: application.written > 0)


def ask(connection: socket.socket, request: bytes) -> bytes:
    """The answer to a request on a connection that stays open."""
    connection.settimeout(20)
    connection.sendall(request)
    answer = b""
    while not answer.endswith((b"done", b"}}", b"0\r\n\r\n")):
        piece = connection.recv(65536)
        assert piece
        answer += piece
    return answer


@pytest.mark.parametrize("asks", [False, True])
def test_beyond_the_most_connections_those_without_a_key_make_room(asks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether they send nothing or are refused, the one that has waited for longest goes first."""
    monkeypatch.setattr("harness.service.app.connection_limit", lambda: 4)
    with served() as (_, address), ExitStack() as open_ones:
        first, *others = (open_ones.enter_context(socket.create_connection(address)) for _ in range(4))
        assert ask(first, GET).startswith(b"HTTP/1.1 200")
        assert not asks or all(ask(connection, WITHOUT_KEY).startswith(b"HTTP/1.1 401") for connection in others)
        last = open_ones.enter_context(socket.create_connection(address))
        assert ask(last, GET).startswith(b"HTTP/1.1 200")
        assert rest(others[0]) == b""
        assert ask(first, GET).startswith(b"HTTP/1.1 200")
