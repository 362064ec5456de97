"""Adapters of a running server: only names are accepted, loads have versions, and no path leaves the folder or runs code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fastapi.testclient import TestClient

from adapters.registry import Adapter, load_adapter
from harness.prompting.shots import ShotChoice
from harness.service.adapters import Adapters, Backend, adapter_routes
from harness.service.app import create_app
from harness.service.guard import Guard
from harness.service.keys import Key, Keys
from harness.service.players import AnyPlayer
from prompts.spec import PromptSpec
from tests.helpers.endpoint import FakeServer
from tests.helpers.tiny import save_tiny_adapter

ADAPTERS = "/v1/harness/adapters"
FEW_SHOT = {"prompt": {"select": "bm25"}, "training": {"shots": 2, "seed": 3}}
ADMIN = {"Authorization": "Bearer boss"}


@pytest.fixture(scope="module")
def made(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter as `harness finetune` leaves it."""
    return save_tiny_adapter(base, tmp_path_factory.mktemp("made") / "made", PromptSpec.make("hexagons"), recipe=FEW_SHOT)


class Server:
    """The task API with adapters, in front of an endpoint that records its requests."""

    def __init__(self, base: Path, folder: Path, loaded: dict[str, Adapter], *, rank: int = 16, fixed: str | None = None) -> None:
        # The path of a socket must be short.
        self.folder = TemporaryDirectory(prefix="harness-")
        socket = Path(self.folder.name) / "vllm.sock"
        self.vllm, self.up = FakeServer(socket), True
        self.vllm.reply = lambda body, n: (200, {}, b"Success")
        place = Backend(str(base), "tiny", socket, rank, None, True, lambda: self.up)
        self.players: dict[str, AnyPlayer] = {}
        self.adapters = Adapters(place, loaded, self.players, folder, fixed)
        app = create_app(self.players)
        app.include_router(adapter_routes(self.adapters))
        keys = Keys([Key.of("boss", "boss", admin=True), Key.of("user", "user")])
        self.client = TestClient(Guard(app, keys), headers=ADMIN)

    def load(self, name: str) -> tuple[int, str]:
        response = self.client.post(ADAPTERS, json={"name": name})
        return response.status_code, response.json().get("error", {}).get("message", "")

    def stop(self) -> None:
        self.vllm.stop()
        self.folder.cleanup()

    @property
    def told(self) -> list[tuple[str, dict[str, Any]]]:
        return list(zip((path.rpartition("/")[2] for path in self.vllm.paths), self.vllm.requests, strict=True))


@pytest.fixture
def folder(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of adapters, with one adapter, `painter`."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, tmp_path / "adapters" / "painter")
    return tmp_path / "adapters"


@pytest.fixture
def server(base: Path, folder: Path, made: Path) -> Iterator[Server]:
    server = Server(base, folder, {"first": load_adapter(made, str(base))})
    yield server
    server.stop()


def test_each_load_has_its_own_name_and_players_follow(server: Server, folder: Path) -> None:
    path = str((folder / "painter").resolve())
    assert server.adapters.served("painter") == "painter"
    for version in (1, 2):
        card = server.client.post(ADAPTERS, json={"name": "painter"}).json()
        assert card == {"name": "painter", "version": version, "task": "hexagons", "rank": 4}
        assert server.adapters.served("painter") == server.adapters.served(f"painter@{version}") == f"painter@{version}"
        assert server.players["painter"].model == f"painter@{version}"  # type: ignore[union-attr]
    assert server.adapters.served("painter@1") == "painter@1"
    assert server.told == [
        ("load_lora_adapter", {"lora_name": "painter@1", "lora_path": path}),
        ("load_lora_adapter", {"lora_name": "painter@2", "lora_path": path}),
        ("unload_lora_adapter", {"lora_name": "painter@1"}),
    ]
    assert server.players["painter"].examples == ShotChoice(2, 3, "bm25")  # type: ignore[union-attr]
    assert server.vllm.keys == {None}
    assert [one.name for one in server.adapters.modules()] == ["first", "painter@2"]
    assert server.client.delete(f"{ADAPTERS}/painter").status_code == 204
    assert server.client.delete(f"{ADAPTERS}/painter").status_code == 404
    assert set(server.players) == {"first", "tiny"}
    assert server.load("painter")[0] == 200
    assert server.adapters.served("painter") == "painter@3"


def test_an_initial_adapter_keeps_its_name_until_it_is_reloaded(server: Server) -> None:
    assert server.adapters.served("first") == server.adapters.served("first@1") == "first"
    assert server.load("first")[0] == 200
    assert server.adapters.served("first") == "first@2"
    cards = [{"id": "tiny", "root": "/base"}, {"id": "first@2", "root": "/secret"}, {"id": "first", "root": "/secret"}]
    assert server.adapters.listed(cards) == [{"id": "tiny", "root": "tiny"}, {"id": "first", "root": "first@2"}]


def test_all_that_can_be_loaded_is_listed_by_name(server: Server, folder: Path, made: Path) -> None:
    shutil.copytree(made, Path("runs") / "trained" / "adapter")
    listed = server.client.get(ADAPTERS, headers={"Authorization": "Bearer user"}).json()
    assert [one["name"] for one in listed["loaded"]] == ["first"]
    assert listed["available"] == ["first", "painter", "hexagons", "iglu", "minecraft", "trained"]
    assert server.load("trained")[0] == 200
    assert str(folder) not in json.dumps(listed)


def test_only_an_admin_loads_and_unloads(server: Server) -> None:
    for headers, status in (({"Authorization": "Bearer user"}, 403), ({"Authorization": "Bearer other"}, 401)):
        assert server.client.post(ADAPTERS, json={"name": "painter"}, headers=headers).status_code == status
        assert server.client.delete(f"{ADAPTERS}/first", headers=headers).status_code == status
    assert server.told == []


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("../painter", 422),
        ("/etc", 422),
        ("..", 422),
        (".", 422),
        ("a/b", 422),
        ("a\\b", 422),
        ("painter\n", 422),
        ("painter\x00", 422),
        ("painter@1", 422),
        ("", 422),
        ("x" * 101, 422),
        ("a..b", 422),
        ("nowhere", 404),
        ("tiny", 409),
    ],
)
def test_only_names_are_taken(name: str, status: int, server: Server) -> None:
    assert server.load(name)[0] == status
    assert server.told == []


def test_links_that_lead_elsewhere_are_refused(server: Server, folder: Path, made: Path, tmp_path: Path) -> None:
    (folder / "linked").symlink_to(made)
    assert "link to another place" in server.load("linked")[1]
    (tmp_path / "secret").write_text("secret")
    (folder / "painter" / "notes.txt").symlink_to(tmp_path / "secret")
    status, message = server.load("painter")
    assert (status, message) == (422, "notes.txt of the adapter is a link to another place")
    assert server.told == []


@pytest.mark.parametrize("file", ["adapter_model.bin", "optimizer.pt", "deep/state.PKL"])
def test_pickles_are_refused(file: str, server: Server, folder: Path) -> None:
    path = folder / "painter" / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"\x80\x04.")
    status, message = server.load("painter")
    assert status == 422
    assert "may hold code" in message
    assert server.told == []


def test_an_adapter_that_does_not_fit_is_refused_without_revealing_its_path(base: Path, folder: Path) -> None:
    config = json.loads((folder / "painter" / "adapter_config.json").read_text())
    saved = json.loads((folder / "painter" / "harness.json").read_text())
    for change in ({"use_dora": True}, {"r": 32}, {"base": "other"}):
        (folder / "painter" / "adapter_config.json").write_text(json.dumps({**config, **change}))
        other = {"base": "other", "base_fingerprint": "0" * 16} if "base" in change else {}
        (folder / "painter" / "harness.json").write_text(json.dumps({**saved, **other}))
        server = Server(base, folder, {})
        status, message = server.load("painter")
        server.stop()
        assert status == 422
        assert str(folder) not in message
        assert server.told == []


def test_what_vllm_refuses_is_not_loaded(server: Server) -> None:
    server.vllm.reply = lambda body, n: (500, {}, b"boom")
    assert server.load("painter") == (502, "vLLM cannot load painter (status 500): its log says why")
    assert server.adapters.served("painter") == "painter"
    assert "painter" not in server.players
    server.up = False
    assert server.load("painter")[0] == 503


def test_a_player_whose_model_is_gone_is_to_be_asked_later(server: Server) -> None:
    server.up = False
    asked = {"task": "hexagons", "instruction": "Paint it red.", "model": "first"}
    response = server.client.post("/v1/harness/execute", json=asked)
    assert response.status_code == 503
    assert response.headers["retry-after"] == "5"
