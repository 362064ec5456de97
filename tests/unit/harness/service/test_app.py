"""The task API: the same answers as in runs, refusals instead of crashes, and keys."""

import json
import math
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient
from pydantic import ValidationError

import harness
from adapters.registry import Adapter
from harness.baselines.parser import Parser
from harness.corpora.item import HexagonsItem, Item, MinecraftItem, new_turns
from harness.corpora.records import to_full_record
from harness.service.app import MOST_BYTES, create_app, listening
from harness.service.guard import Guard
from harness.service.keys import Keys, digest
from harness.service.players import EndpointPlayer, endpoint_players, own_players
from harness.service.schema import REQUEST
from harness.service.workers import Workers
from prompts.spec import PromptSpec
from tests.helpers.endpoint import FakeServer, chat_answer
from tests.helpers.serving import free_port

EXECUTE = "/v1/harness/execute"
ASK = {"task": "minecraft", "instruction": "a", "model": "model"}
REFUSED = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text())


@pytest.fixture(scope="module")
def client(workers: Workers) -> Iterator[TestClient]:
    with TestClient(create_app(own_players(workers))) as client:
        yield client


def request_of(item: Item) -> dict[str, Any]:
    """The request that asks for an item."""
    record = to_full_record(item)
    if isinstance(item, HexagonsItem):
        steps = [{"instruction": text, "actions": done} for text, done in zip(record["history"], record["executed"], strict=True)]
        return {"task": "hexagons", "instruction": item.instruction, "history": steps, "board": record["before"]}
    *turns, last = record["history"]
    asked = {"blocks": record["before"], "pose": record["pose"]}
    return {"task": "minecraft", "instruction": last["text"], "history": turns, **asked}


def model(url: str, **format: str) -> EndpointPlayer:
    return EndpointPlayer("model", url, {"minecraft": PromptSpec.make("minecraft", **format)})


def building(**fields: Any) -> bytes:
    """The body of a request; an infinite number becomes one that JSON can write."""
    return json.dumps({"task": "minecraft", "instruction": "a", **fields}).replace("Infinity", "1e400").encode()


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_the_parser_answers_as_in_a_run(task: str, client: TestClient) -> None:
    items = [item for item in harness.load(task, "dev") if new_turns(item)[-1].speaker != "Builder"][:6]
    for item, answer in zip(items, Parser().predictor(task).predict(items), strict=True):
        told = client.post(EXECUTE, json=request_of(item)).json()
        assert [tuple(action) for action in told["actions"]] == [tuple(action) for action in answer.actions]
        assert (told["confidence"], told["program"]) == (answer.notes["confidence"], answer.notes["program"])
        after = harness.apply(item, answer.actions)
        if isinstance(item, MinecraftItem):
            assert sorted(map(tuple, told["blocks"])) == sorted(tuple(block) for block in after.blocks())  # type: ignore[union-attr]
        else:
            assert told["board"] == after.digits()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"\xff\xfe{}", 422, "Invalid JSON"),
        (b"[" * 10_000, 422, "recursion limit"),
        (building(history=[{"speaker": "Builder", "text": "a" * 20_001}]), 422, "at most 20000 characters"),
        (building(history=[{"speaker": "Builder", "text": "a"}] * 2_001), 422, "at most 2000 items"),
        (building(pose={"x": 0, "y": 0, "z": 0, "yaw": math.inf, "pitch": 0}), 422, "yaw: Input should be a finite number"),
        (building(pose={"x": 0, "y": 10**400, "z": 0, "yaw": 0, "pitch": 0}), 422, "pose.y"),
        (b'"' + b"a" * MOST_BYTES + b'"', 413, "more than 1,000,000 bytes"),
        *((json.dumps(one["body"]).encode(), one["status"], one["told"]) for one in REFUSED["requests"]),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_reason(body: bytes, status: int, told: str, client: TestClient) -> None:
    response = client.post(EXECUTE, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == status
    assert told in response.json()["error"]["message"]


@pytest.mark.parametrize(
    "fields",
    [
        {"history": [{}] * 10_000},
        {"history": [{"actions": [0] * 10_000}]},
        {"blocks": [0] * 1_000},
        {"task": "hexagons", "board": [0] * 10_000},
        {"task": "hexagons", "history": [{"instruction": "a", "actions": [0] * 180}] * 2_000},
        {f"invented{n}": 0 for n in range(10_000)},
    ],
)
def test_faults_are_not_counted(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        REQUEST.validate_json(building(**fields))
    assert refused.value.error_count() < 10


def test_the_openapi_page_describes_the_request(client: TestClient) -> None:
    page = client.get("/openapi.json").json()
    schema = page["paths"][EXECUTE]["post"]["requestBody"]["content"]["application/json"]["schema"]
    prefix, schemas = "#/components/schemas/", page["components"]["schemas"]
    assert [kind["$ref"] for kind in schema["oneOf"]] == [f"{prefix}DrawRequest", f"{prefix}BuildRequest"]
    assert set(re.findall(f'"{prefix}([^"]*)"', json.dumps(page))) <= schemas.keys()


def test_a_language_model_is_asked_in_its_prompt_format_and_the_client_is_told(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_API_KEY", "secret")
    server.reply = lambda body, n: chat_answer("place red 0 1 0\nplace blue 0 9 0\nwhat?")
    guard = Guard(create_app([model(server.url)]), Keys({digest("key"): "one"}))
    with TestClient(guard, headers={"Authorization": "Bearer key"}) as client:
        assert [player["name"] for player in client.get("/v1/harness/players").json()] == ["model"]
        done = client.post(EXECUTE, json={**ASK, "instruction": "Start with a red block."}).json()
        refused = client.post(EXECUTE, json={**ASK, "task": "hexagons"})
        assert refused.json()["error"]["message"] == "model does not know the task hexagons"
        assert client.get("/v1/harness/players", headers={"Authorization": ""}).status_code == 401
    assert done["actions"] == [["place", "red", 0, 1, 0], ["place", "blue", 0, 9, 0]]
    assert done["ignored"] == [["place", "blue", 0, 9, 0]]
    assert done["blocks"] == [[0, 1, 0, "red"]]
    assert [piece["text"] for piece in done["discarded"]] == ["what?"]
    assert server.keys == {"Bearer secret"}
    assert "Start with a red block." in server.requests[0]["messages"][-1]["content"]


def test_requests_that_clients_drop_end_at_the_model_too(server: FakeServer) -> None:
    opened, closed = threading.Semaphore(0), threading.Semaphore(0)

    def hold(handler: BaseHTTPRequestHandler) -> None:
        opened.release()
        handler.connection.recv(1)  # Returns when the client ends the connection.
        closed.release()

    server.reply = lambda body, n: hold
    address, body = ("127.0.0.1", free_port()), json.dumps(ASK).encode()
    sent = f"POST {EXECUTE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with listening(create_app([model(server.url)]), *address):
        for _ in range(20):
            with socket.create_connection(address) as connection:
                connection.sendall(sent.encode() + body)
                assert opened.acquire(timeout=30)
            assert closed.acquire(timeout=30)


def test_the_adapter_for_a_task_is_its_default(workers: Workers, server: FakeServer) -> None:
    server.reply = lambda body, n: chat_answer("red: 1 1")
    painter = Adapter(Path("adapter"), 4, PromptSpec.make("hexagons"), "base")
    models = reversed(endpoint_players(server.url, {"painter": painter}, ["base"]))
    with TestClient(create_app([*own_players(workers), *models])) as client:
        listed = [card["name"] for card in client.get("/v1/harness/players").json()]
        told = [client.post(EXECUTE, json={"task": task, "instruction": "a"}).json() for task in ("hexagons", "minecraft")]
    assert listed[:3] == ["painter", "base", "parser"]
    assert [answer["model"] for answer in told] == ["painter", "base"]


def test_an_answer_in_the_builders_frame_is_read_and_one_that_does_not_come_is_given_up(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reply = lambda body, n: None if n else chat_answer("place red 0.5 0 4.5")
    served = model(server.url, frame="pose")
    client = TestClient(create_app([served]))
    response = client.post(EXECUTE, json=ASK)
    assert response.json()["actions"] == [["place", "red", 0, 1, 0]]
    monkeypatch.setattr("harness.service.app.DEADLINE", 1.0)
    response = client.post(EXECUTE, json=ASK)
    assert (response.status_code, response.json()["error"]["message"]) == (504, "no answer within 1 s")
    served.up = lambda: False
    response = client.post(EXECUTE, json=ASK)
    assert (response.status_code, response.headers["retry-after"]) == (503, "5")
