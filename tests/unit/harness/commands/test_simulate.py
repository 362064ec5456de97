"""`harness simulate`: the same bytes on any machine, a whole file or none, and files that can be read back."""

import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import main
from harness.corpora import SPLITS
from harness.corpora.item import Item
from harness.corpora.records import read_items
from harness.simulators import ARCHITECTS, SIMULATORS, games
from harness.simulators.games import game, simulator_splits, target_split
from tests.helpers import ROOT
from tests.helpers.scored import first_items

pytestmark = pytest.mark.usefixtures("empty_folder")


def simulate(*arguments: str) -> None:
    assert main(["simulate", *arguments]) == 0


def made(simulator: str, count: int, split: str = "train", seed: int = 0) -> list[Item]:
    """The first items of a simulator, with `meta` in JSON types."""
    return [replace(item, meta=json.loads(json.dumps(item.meta))) for item in first_items(simulator, seed, count, split)]


@pytest.mark.parametrize("simulator", ARCHITECTS)
def test_no_target_is_in_two_splits_and_every_split_gets_its_share(simulator: str) -> None:
    groups = {split: set[str]() for split in SPLITS["minecraft"]}
    skipped = dict.fromkeys(groups, 0)
    for split, seed, n in itertools.product(groups, range(2), range(40)):
        items = game(simulator, seed, split, n)
        skipped[split] += not items
        groups[split] |= {item.group for item in items}
        assert all(target_split(item.group) == split for item in items)
        assert len({item.group for item in items}) <= 1
    for one, other in itertools.combinations(groups.values(), 2):
        assert not one & other
    train, validation, test = skipped.values()
    assert train < 40 < min(validation, test)


def test_the_same_bytes_for_any_hash_seed() -> None:
    name = "one.jsonl.gz"
    options = ["shapes", "--items", "100", "--seed", "3"]
    simulate(*options, "--out", name)
    command = [sys.executable, "-m", "harness.cli", "simulate", *options, "--out", f"other-{name}"]
    environment = os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert Path(f"other-{name}").read_bytes() == Path(name).read_bytes()


@pytest.mark.parametrize(
    ("simulator", "name"), [*((simulator, "items.jsonl") for simulator in SIMULATORS), ("shapes", "items.jsonl.gz")]
)
def test_a_file_is_read_back_to_the_same_items(simulator: str, name: str) -> None:
    simulate(simulator, "--items", "60", "--out", name)
    assert list(read_items(Path(name))) == made(simulator, 60, simulator_splits(simulator)[0])


def test_what_exists_is_replaced_only_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["random", "--items", "20", "--out", "items.jsonl"]
    simulate(*options)
    capsys.readouterr()
    assert main(["simulate", *options]) == 2
    assert capsys.readouterr().err == "Error: items.jsonl exists: choose another --out, or --overwrite it\n"
    simulate(*options, "--seed", "1", "--overwrite")
    assert [item.actions for item in read_items(Path("items.jsonl"))] == [item.actions for item in made("random", 20, seed=1)]


def test_the_papers_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "PAPER", {name: {"train": 30, "val": 4, "test": 3} for name in ARCHITECTS})
    simulate("--preset", "paper", "--seed", "5", "--out", "data")
    names = [f"minecraft-{name}.{split}.jsonl" for name in ARCHITECTS for split in SPLITS["minecraft"]]
    assert sorted(path.name for path in Path("data").iterdir()) == sorted(names)
    assert list(read_items(Path("data/minecraft-random.val.jsonl"))) == made("random", 4, "val", 5)
    assert main(["simulate", "--preset", "paper", "--out", "data"]) == 2
