import json
from pathlib import Path

import pytest

from harness.everyday.requests import REQUESTS
from harness.tasks import SAMPLE
from tests.helpers import Command
from tests.helpers.corpora_files import procedure, write_hexagons, write_minecraft


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small corpora of both tasks."""
    folder = tmp_path / "data"
    steps = [(" Paint it red. ", {0: 4}), ("Wait.", {})]
    unverified = procedure(5) | {"agreement_tags": "None", "agreement_scores": "None", "annotation_round": 0}
    write_hexagons(folder / "hexagons", train=[procedure(3, steps), unverified], dev=[procedure(8)], test=[])
    write_minecraft(folder / "minecraft")
    monkeypatch.setenv("HARNESS_DATA", str(folder))
    return folder


def printed(command: Command, *arguments: str) -> str:
    code, out, err = command("data", *arguments)
    assert (code, err) == (0, "")
    return out


def test_list(corpora: Path, command: Command) -> None:
    text = printed(command, "list")
    names = ("hexagons", "minecraft", "iglu", "official", "CC BY 4.0", "NCSA")
    for piece in (*names, "train 3", "dev 1", "test 0", "train 1", "val 0"):
        assert piece in text
    assert text.splitlines()[-5:] == [
        f"hexagons: {corpora / 'hexagons'}",
        f"minecraft: {corpora / 'minecraft'}",
        f"iglu: {SAMPLE / 'iglu'}, the sample corpus (`harness data get iglu` downloads the published one)",
        *(f"everyday-{world}: {REQUESTS}" for world in ("hexagons", "minecraft")),
    ]


def test_stats_of_hexagons(corpora: Path, command: Command) -> None:
    stats = json.loads(printed(command, "stats", "hexagons", "--json"))
    train = {"procedures": 2, "steps": 3, "gold_actions": 2, "no_action_steps": 1, "agreed_procedures": 1, "agreed_steps": 1.0}
    assert (stats["splits"]["train"], stats["splits"]["test"]["agreed_steps"]) == (train, None)
    rounds = {
        "0": {"procedures": 1, "steps": 1, "tokens": 4, "images": 1},
        "1": {"procedures": 2, "steps": 3, "tokens": 10, "images": 1},
    }
    assert stats["rounds"] == rounds
    total = {"procedures": 3, "steps": 4, "gold_actions": 3, "no_action_steps": 1, "agreed_procedures": 2, "agreed_steps": 1.0}
    assert stats["total"] == total | {"tokens": 14, "images": 1}
    assert stats["agreement"] == {"board_f1": [1.0, 1.0, 1.0], "board_em": [1.0, 1.0, 1.0]}


def test_stats_of_minecraft(corpora: Path, command: Command) -> None:
    stats = json.loads(printed(command, "stats", "minecraft", "--json"))
    train = {"games": 1, "targets": 1, "items": 1, "actions": 2, "placements": 2, "removals": 0}
    train |= {"net_actions": 2, "empty_board_items": 1, "zero_net_items": 0}
    none = dict.fromkeys(train, 0)
    assert stats == {"splits": {"train": train, "val": none, "test": none}}


def test_a_data_folder_that_does_not_exist(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.setenv("HARNESS_DATA", "/no/such/folder")
    code, out, err = command("data", "list")
    assert (code, out) == (2, "")
    assert (
        err == "Error: HARNESS_DATA is /no/such/folder, which is not a folder: set it to the folder of the corpora, or unset it\n"
    )


def test_items_of_hexagons(corpora: Path, command: Command) -> None:
    first, second, _ = map(json.loads, printed(command, "items", "hexagons", "--split", "train").splitlines())
    assert list(first.items()) == [
        ("id", "hexagons/train/3/1"),
        ("history", []),
        ("instruction", "Paint it red."),
        ("before", "0" * 180),
        ("actions", [[0, 0, "red"]]),
        ("after", "4" + "0" * 179),
    ]
    assert (second["history"], second["actions"]) == (["Paint it red."], [])
