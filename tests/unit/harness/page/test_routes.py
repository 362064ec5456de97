"""The page's routes: replies to other sites and bad requests, and sessions over HTTP."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from harness.page.corpus import procedure
from harness.page.procedure import BLANK
from harness.page.routes import add_page
from harness.service.app import MOST_BYTES, create_app
from harness.service.guard import HEADERS
from harness.service.players import own_players
from harness.service.workers import Workers

HERE = "http://127.0.0.1:8010"


@pytest.fixture
def client(tmp_path: Path, workers: Workers) -> Iterator[TestClient]:
    players = [one for one in own_players(workers) if one.name in ("parser", "rules")]
    app = create_app(players)
    store = add_page(app, players, tmp_path, ["no server at http://127.0.0.1:1"])
    cookies = {"harness-8010": store.token}
    with TestClient(app, base_url=HERE, cookies=cookies, raise_server_exceptions=False) as client:
        yield client
    store.close()


def post(client: TestClient, path: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    answer = client.post(f"/page/sessions{path}", json=body)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def send(client: TestClient, session: dict[str, Any], event: dict[str, Any]) -> dict[str, Any]:
    body = {"version": session["version"], "id": f"change-{session['version']:03}-{event['type']}", "event": event}
    return post(client, f"/{session['id']}", body)


def red(*tiles: int) -> str:
    return "".join("4" if n in tiles else "0" for n in range(180))


def drawn(client: TestClient, session: dict[str, Any], second: str) -> dict[str, Any]:
    """The session after both steps were drawn: the first tile in red, then the board `second`."""
    session = send(client, session, {"type": "paint", "step": 0, "board": red(0)})
    session = send(client, session, {"type": "go", "step": 1})
    session = send(client, session, {"type": "paint", "step": 1, "board": second})
    return send(client, session, {"type": "done"})


def finished_description(client: TestClient) -> dict[str, Any]:
    session = post(client, "", {"kind": "description", "name": "Ada", "image": "P01C02T97"})
    session = send(client, session, {"type": "add", "text": "Paint the first tile red.\nAnd the second one."})
    return drawn(client, send(client, session, {"type": "finish"}), red(0, 1))


def begun(client: TestClient, described: dict[str, Any], name: str) -> dict[str, Any]:
    return post(client, "", {"kind": "execution", "name": name, "about": described["id"]})


def test_only_this_page_may_ask(client: TestClient) -> None:
    site, mode = "sec-fetch-site", "sec-fetch-mode"
    own = [{}, {"origin": HERE}, {"host": "localhost:8010"}, {"host": "[::1]:8010"}, {site: "cross-site", mode: "navigate"}]
    others = [{"origin": one} for one in ("http://evil.example", "null", "http://127.0.0.1:9", "http://127.0.0.1:x")]
    others += [{"host": one} for one in ("evil.example", "127.0.0.1:18440.evil.example", "[")]
    others += [{site: "same-site", mode: "no-cors"}]
    for status, asked in ((200, own), (403, others), (431, [{f"x-{n}": "a" for n in range(100)}])):
        for headers in asked:
            answer = client.get("/page/start", headers=headers)
            assert (headers, answer.status_code) == (headers, status)
            assert {name: answer.headers[name] for name in HEADERS} == HEADERS


def test_only_the_token_opens_the_page(client: TestClient) -> None:
    token = client.cookies["harness-8010"]
    wrong = [{}, {"cookie": "harness-8010=x"}, {"cookie": f"harness-1={token}"}, {"authorization": "Bearer x"}]
    client.cookies.clear()
    for headers in wrong:
        for path in ("/", "/?token=x", "/static/js/main.js", "/page/start", "/v1/harness/players", "/openapi.json"):
            refused = client.get(path, headers=headers)
            assert refused.status_code == 403
            assert "open the address that harness app printed" in refused.json()["error"]["message"]
        assert client.post("/page/sessions", json={}, headers=headers).status_code == 403
    assert client.get("/page/start", headers={"authorization": f"Bearer {token}"}).status_code == 200
    opened = client.get("/", params={"token": token})
    assert opened.status_code == 200
    assert {"HttpOnly", "SameSite=strict"} <= set(opened.headers["set-cookie"].split("; "))
    assert client.get("/page/start").status_code == 200


def test_other_sites_cannot_make_a_browser_post(client: TestClient) -> None:
    json, linked = {"content-type": "application/json"}, {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    for headers in ({"sec-fetch-site": "cross-site"}, linked, {"origin": "http://evil.example"}):
        assert client.post("/v1/harness/execute", content=b"{}", headers={**json, **headers}).status_code == 403
    for form in ("", "text/plain", "application/x-www-form-urlencoded"):
        assert client.post("/page/sessions", content=b"{}", headers={"content-type": form}).status_code == 415
    for large in (b" " * (MOST_BYTES + 1), iter([b" " * MOST_BYTES, b" "])):
        assert client.post("/page/sessions", content=large, headers=json).status_code == 413


def test_the_page_and_its_files(client: TestClient) -> None:
    page = client.get("/")
    assert "<script>" not in page.text
    assert " style=" not in page.text
    for path in ("js/main.js", "css/page.css", "vendor/three.module.min.js", "vendor/three.LICENSE.txt", "flower.svg"):
        assert client.get(f"/static/{path}").status_code == 200
    assert client.get("/static/../routes.py").status_code == 404
    assert client.get("/static/%2e%2e/routes.py").status_code == 404


def test_the_corpora(client: TestClient) -> None:
    images = client.get("/page/images").json()
    assert len(images) == 9
    found = client.get(f"/page/procedures/{images[0]['procedures'][0]}").json()
    assert found["steps"][-1]["board"] == images[0]["board"]
    assert found == json.loads(json.dumps(procedure(found["index"])))
    games = client.get("/page/games").json()
    game = client.get(f"/page/games/{games[0]['name']}").json()
    assert sum(len(turn.get("actions", ())) for turn in game["turns"]) == games[0]["actions"]
    assert all(0 < len(target["blocks"]) <= 40 for target in client.get("/page/targets").json())
    for path in ("procedures/99", "games/none", "sessions/none"):
        assert client.get(f"/page/{path}").status_code == 422
    assert client.get("/page/procedures/x").status_code == 422


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"[]", "object"),
        (b'{"kind": "description", "name": " "}', "name"),
        (b'{"kind": "description", "name": "Ada", "image": "none"}', "no image"),
        (json.dumps({"kind": "description", "name": "Ada", "board": BLANK}).encode(), "blank"),
        (b'{"kind": "execution", "name": "Ada", "about": "none"}', "no session"),
        (b'{"kind": "else", "name": "Ada"}', "description"),
        (b"\xff", "JSON"),
    ],
)
def test_what_cannot_begin_is_refused_with_a_reason(client: TestClient, body: bytes, told: str) -> None:
    answer = client.post("/page/sessions", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert told in answer.json()["error"]["message"]


def test_a_finished_game_has_its_verifiers_scores(client: TestClient) -> None:
    described = finished_description(client)
    drawn(client, begun(client, described, "Bo"), red(0, 1))
    result = drawn(client, begun(client, described, "Cy"), red(0))
    assert [step["action"]["f1"] for step in result["scores"]] == [1.0, 0.0]
    assert result["gold"]["image"]["id"] == "P01C02T97"
    answer = post(client, "", {"kind": "execution", "name": "Ada", "about": described["id"]}, 422)
    assert "cannot verify" in answer["error"]["message"]
    whole = client.get(f"/page/sessions/{described['id']}").json()
    scores = {one["name"]: [step["board"]["f1"] for step in one["scores"]] for one in whole["executions"]}
    assert scores == {"Bo": [1.0, 1.0], "Cy": [1.0, pytest.approx(2 / 3)]}
