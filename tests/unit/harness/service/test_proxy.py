"""The reverse proxy in front of a stand-in for vLLM: forwarding, refusals, and clients that leave."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
import yaml
from aiohttp import web
from anyio.from_thread import start_blocking_portal

from harness.engines.vllm.server import socket_client
from harness.service.app import create_app, listening
from harness.service.guard import Bounds, Guard
from harness.service.keys import Keys, digest
from harness.service.proxy import ReverseProxy
from tests.helpers.fake_vllm import FakeVllm
from tests.helpers.serving import free_port, rest, wait_until

CHAT = "/v1/chat/completions"
JSON = b"Content-Type: application/json\r\n"
ASK: dict[str, Any] = {"model": "base", "messages": [{"role": "user", "content": "Hello"}]}
REFUSED = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text())


@pytest.fixture(scope="module")
def running() -> Iterator[FakeVllm]:
    """The stand-in for vLLM, in a thread."""
    fake = FakeVllm("base", {"one": "/secret/one"})
    runner = web.AppRunner(fake.app(), access_log=None, handler_cancellation=True)
    # The path of a socket must be short.
    with TemporaryDirectory(prefix="harness-") as folder, start_blocking_portal() as portal:
        portal.call(runner.setup)
        fake.socket = Path(folder) / "vllm.sock"
        portal.call(web.UnixSite(runner, str(fake.socket)).start)
        yield fake
        portal.call(runner.cleanup)


@pytest.fixture
def fake(running: FakeVllm) -> FakeVllm:
    running.requests.clear()
    running.ended = 0
    return running


@contextmanager
def fronted(
    fake: FakeVllm, *keys: str, bounds: Bounds | None = None, state: str = "up", seconds: float = 30.0, socket_path: str = ""
) -> Iterator[tuple[httpx2.Client, Guard]]:
    """A client of the proxy in front of the stand-in, whose supervisor says that it is in a state."""
    port, supervisor = free_port(), SimpleNamespace(state=state)
    path = Path(socket_path) if socket_path else fake.socket
    front = ReverseProxy(create_app([]), supervisor, path, seconds, ("pause", "metadata"))  # type: ignore[arg-type]
    guard = Guard(front, Keys({digest(key): key for key in keys}), bounds)
    with listening(guard, "127.0.0.1", port), httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
        yield client, guard


@pytest.fixture(scope="module")
def client(running: FakeVllm) -> Iterator[httpx2.Client]:
    with fronted(running) as (client, _):
        yield client


def test_an_answer_passes_byte_by_byte_without_the_headers_of_a_connection_or_for_pages(
    client: httpx2.Client, fake: FakeVllm
) -> None:
    sent = {"Origin": str(client.base_url).rstrip("/"), "Cookie": "a=b", "Authorization": "Bearer x", "traceparent": "t"}
    with socket_client(fake.socket, 20) as straightly:
        straight = straightly.post(CHAT, json=ASK)
    passed = client.post(CHAT, json=ASK, headers=sent)
    assert (passed.status_code, passed.content) == (200, straight.content)
    assert passed.headers["content-length"] == straight.headers["content-length"]
    assert passed.headers["x-request-id"] == "r"
    assert not {"access-control-allow-origin", "server"} & set(passed.headers)
    (_, first, _), (_, second, headers) = fake.requests
    heard = {name.lower(): value for name, value in headers.items()}
    assert (first, second, heard["traceparent"]) == (ASK, ASK, "t")
    assert not {"origin", "cookie", "authorization"} & set(heard)


def test_a_stream_passes_while_it_is_written(client: httpx2.Client) -> None:
    asked = {**ASK, "stream": True, "max_tokens": 4, "pause": 0.1, "stream_options": {"include_usage": True}}
    with client.stream("POST", CHAT, json=asked) as response:
        timed = [(time.monotonic(), line) for line in response.iter_lines() if line]
    assert response.headers["content-type"].startswith("text/event-stream")
    assert timed[-1][1] == "data: [DONE]"
    assert timed[0][0] < timed[-1][0] - 0.25


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_ends_its_request(stream: bool, client: httpx2.Client, fake: FakeVllm) -> None:
    asked = {**ASK, "stream": stream, "max_tokens": 1000, "pause": 0.02}
    if stream:
        with client.stream("POST", CHAT, json=asked) as response:
            next(response.iter_lines())
    else:
        with pytest.raises(httpx2.ReadTimeout):
            client.post(CHAT, json=asked, timeout=0.3)
    wait_until(lambda: fake.ended == 1 and fake.running == 0)


def test_models_are_listed_without_their_folders_beside_metrics_and_version(client: httpx2.Client) -> None:
    models = client.get("/v1/models").json()["data"]
    assert [(model["id"], model["root"]) for model in models] == [("base", "base"), ("one", "one")]
    assert client.get("/v1/models/one").json() == models[1]
    assert client.get("/v1/models/two").status_code == 404
    metrics = client.get("/metrics")
    assert metrics.text == "vllm:num_requests_running 0\n"
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert client.get("/version").json() == {"version": "1"}


@pytest.mark.parametrize("path", REFUSED["paths"])
def test_other_endpoints_of_vllm_are_out_of_reach(path: str, client: httpx2.Client, fake: FakeVllm) -> None:
    before = dict(fake.modules)
    response = client.post(path, json={"lora_name": "x", "lora_path": "/etc"})
    assert response.status_code in (404, 405)
    assert fake.modules == before
    assert fake.requests == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 10_000, 400),
        (b'{"model": "\xed\xa0\x80"}', 400),
        (b'{"model": "\\ud800"}', 400),
        (b"", 400),
        (b'{"messages": [' + b"{}," * 1_000_000 + b"{}]}", 400),
        (b'{"model": "../../etc/passwd", "messages": []}', 404),
        (b'{"model": "one\\r\\nX-Evil: 1", "messages": []}', 404),
    ],
)
def test_hostile_bodies(body: bytes, status: int, client: httpx2.Client) -> None:
    response = client.post(CHAT, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == status
    assert "x-evil" not in response.headers
    assert client.post(CHAT, json=ASK).status_code == 200


def test_vllm_gets_finite_numbers_and_each_field_once(fake: FakeVllm) -> None:
    with fronted(fake) as (client, _):
        content = b'{"model": "x", "model": "base", "messages": [], "tools": [{"a": 1e400}], "metadata": {"b": [-1e999]}}'
        assert client.post(CHAT, content=content, headers={"Content-Type": "application/json"}).status_code == 200
    ((_, body, _),) = fake.requests
    assert body == {"model": "base", "messages": [], "tools": [{"a": None}], "metadata": {"b": [None]}}


def raw(client: httpx2.Client, *pieces: bytes) -> bytes:
    """The reply to raw bytes until the connection is closed."""
    with socket.create_connection((client.base_url.host, client.base_url.port)) as connection:
        with suppress(OSError):
            for piece in pieces:
                connection.sendall(piece)
        return rest(connection)


def test_a_head_without_end_and_a_header_with_a_line_in_it_are_refused(client: httpx2.Client) -> None:
    line = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
    assert raw(client, line, *[b"X-Filler: " + b"a" * 60_000 + b"\r\n"] * 20).startswith(b"HTTP/1.1 400")
    assert raw(client, line + b"X-Request-Id: a\rX-Evil: 1\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert raw(client, b"\x16\x03\x01\x02\x00\x01").startswith(b"HTTP/1.1 400")
    lengths = b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    assert raw(client, line + JSON + lengths).startswith(b"HTTP/1.1 400")
    assert client.get("/health").status_code == 200


def test_while_vllm_is_slow_or_down_clients_are_told_to_retry(fake: FakeVllm) -> None:
    with fronted(fake, seconds=0.2) as (client, _):
        assert client.post(CHAT, json={**ASK, "max_tokens": 100, "pause": 0.1}).status_code == 504
    wait_until(lambda: fake.running == 0)
    with fronted(fake, state="restarting") as (client, _):
        for response in (client.post(CHAT, json=ASK), client.get("/v1/models"), client.get("/metrics"), client.get("/ready")):
            assert response.status_code == 503
            assert response.headers["retry-after"] == "5"
        alive = client.get("/health")
        assert (alive.status_code, alive.json()) == (200, {"status": "restarting"})
        assert client.get("/v1/harness/players").status_code == 200
    # vLLM has just gone, and nobody has noticed yet.
    with fronted(fake, socket_path="/nowhere/vllm.sock") as (client, _):
        assert client.post(CHAT, json=ASK).headers["retry-after"] == "5"
        assert client.get("/ready").status_code == 503


@pytest.mark.parametrize("end", [SystemExit, KeyboardInterrupt])
def test_sigterm_finishes_open_requests_and_accepts_no_new_ones(end: type[BaseException], fake: FakeVllm) -> None:
    address, lines, begun, refused = ("127.0.0.1", free_port()), [], threading.Event(), []

    def ask() -> None:
        slow = {**ASK, "stream": True, "max_tokens": 100, "pause": 0.03}
        url = f"http://{address[0]}:{address[1]}{CHAT}"
        with suppress(httpx2.HTTPError), httpx2.stream("POST", url, json=slow, timeout=20) as response:
            for line in response.iter_lines():
                lines.append(line)
                begun.set()

    def connect() -> None:
        with suppress(ConnectionError):
            while True:
                socket.create_connection(address).close()
        refused.append(asking.is_alive())

    guard = Guard(ReverseProxy(create_app([]), SimpleNamespace(state="up"), fake.socket, fields=("pause",)))  # type: ignore[arg-type]
    asking, connecting = threading.Thread(target=ask), threading.Thread(target=connect)

    def serve() -> None:
        with listening(guard, *address, drain=20):
            asking.start()
            assert begun.wait(20)
            connecting.start()
            raise end

    with pytest.raises(end):
        serve()
    asking.join()
    connecting.join()
    assert refused == [True] or end is KeyboardInterrupt
    assert ("data: [DONE]" in lines) == (end is SystemExit)


def test_keys_guard_everything_but_the_probes_and_one_leaves_others_their_slots(fake: FakeVllm) -> None:
    with fronted(fake, "user", "admin", bounds=Bounds(in_flight=2)) as (client, guard):
        slow = {**ASK, "stream": True, "max_tokens": 1000, "pause": 0.02}
        nobody, user, admin = ({"Authorization": f"Bearer {name}"} for name in ("nobody", "user", "admin"))
        for path in ("/v1/models", "/metrics", "/openapi.json", "/v1/harness/players", "/nothing"):
            assert client.get(path).status_code == client.post(CHAT, json=ASK, headers=nobody).status_code == 401
        assert client.get("/health").status_code == client.get("/ready").status_code == 200
        with client.stream("POST", CHAT, json=slow, headers=user):
            refused = client.post(CHAT, json=ASK, headers=user)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            assert client.get("/v1/models", headers=user).status_code == 200
            assert client.post(CHAT, json=ASK, headers=admin).status_code == 200
        wait_until(lambda: guard.in_flight == 0)
        assert client.post(CHAT, json=ASK, headers=user).status_code == 200


def test_an_answer_that_comes_before_the_body_closes_the_connection(fake: FakeVllm) -> None:
    with fronted(fake, "one") as (client, guard):
        for path, status in ((b"/health", b"400"), (b"/v1/completions", b"401"), (b"/nothing", b"401")):
            answer = raw(client, b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000000\r\n\r\n{")
            assert answer.startswith(b"HTTP/1.1 " + status)
            assert b"connection: close" in answer
        assert guard.in_flight == 0
