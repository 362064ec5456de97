"""`harness app`: the players, and a folder that cannot be used."""

import json
from pathlib import Path

import pytest

from harness.cli import main
from harness.commands.app import _loaded, _served
from harness.service.players import EndpointPlayer, LocalPlayer
from prompts.spec import DEFAULTS
from tests.helpers.endpoint import FakeServer

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_a_folder_that_cannot_be_used(capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("")
    assert main(["app", "--no-models", "--folder", "file"]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_the_adapters_that_ship_play() -> None:
    notes: list[str] = []
    players = _loaded((), notes)
    assert {player.name: player.card.tasks for player in players} == {
        "builder": ["minecraft", "everyday-minecraft", "iglu"],
        "builder-qwen": ["minecraft", "everyday-minecraft", "iglu"],
        "hexagons": ["hexagons"],
        "hexagons-qwen": ["hexagons", "everyday-hexagons"],
    }
    assert all(isinstance(player, LocalPlayer) for player in players)
    assert notes == []


def test_the_models_of_an_endpoint_play(server: FakeServer) -> None:
    """A model with an adapter's name is prompted as that adapter was trained."""
    notes: list[str] = []
    server.models = 200, {}, json.dumps({"data": [{"id": "hexagons"}, {"id": "base"}]}).encode()
    players = _served(server.url, (), (), notes)
    tasks = {"hexagons": ["hexagons"], "base": list(DEFAULTS)}
    assert {player.name: player.card.tasks for player in players} == tasks
    assert all(isinstance(player, EndpointPlayer) for player in players)
    assert [player.name for player in _served("http://127.0.0.1:1/v1", ("m",), ("painter=hexagons",), notes)] == [
        "painter",
        "m",
    ]
    assert notes == []
