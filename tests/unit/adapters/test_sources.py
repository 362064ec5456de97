"""A recipe's data: its sources, and all their faults at once."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from adapters.recipe import DataSource
from adapters.sources import gather
from harness.cli import cli
from harness.corpora import load
from harness.corpora.held_out import HeldOut
from harness.corpora.item import Item
from harness.corpora.records import load_items
from harness.errors import FaultsError


def write(path: Path, simulator: str, items: int, seed: int = 0) -> Path:
    words = ["simulate", simulator, "--items", str(items), "--seed", str(seed), "--out", str(path)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    return path


@pytest.mark.parametrize(("simulator", "task"), [("shapes", "minecraft"), ("random", "iglu")])
def test_items_made_on_the_fly_are_those_of_the_command(tmp_path: Path, simulator: str, task: str) -> None:
    file = write(tmp_path / "some.jsonl", simulator, 25, seed=3)
    source = DataSource.model_validate({"simulate": simulator, "items": 25, "seed": 3})
    made, read = gather([source], task, [], HeldOut(task)), gather([DataSource(file=str(file))], task, [], HeldOut(task))
    assert list(made.items) == list(read.items) == load_items(file)
    assert set(made.added) == {f"simulate {simulator} --items 25 --seed 3"}
    assert list(made.added.values()) == list(read.added.values())


def test_the_split_comes_as_it_is_and_variants_after_it() -> None:
    split = load("hexagons", "train")
    assert list(gather([DataSource(split="train")], "hexagons", split, HeldOut("hexagons")).items) == split
    augmented = list(gather([DataSource(split="train", augment=3)], "hexagons", split, HeldOut("hexagons")).items)
    assert augmented[: len(split)] == split
    assert 2 * len(split) < len(augmented) <= 3 * len(split)
    assert len({item.id for item in augmented}) == len(augmented)


def test_all_faults_of_the_sources_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("no JSON\n")
    twice = write(tmp_path / "twice.jsonl", "shapes", 5)
    files = [DataSource(file=str(tmp_path / name)) for name in ("missing.jsonl", "bad.jsonl")]
    sources = [
        *files,
        DataSource(split="train", task="hexagons"),
        DataSource(simulate="shapes", items=5),
        DataSource(file=str(twice)),
    ]
    with pytest.raises(FaultsError) as caught:
        gather(sources, "minecraft", [], HeldOut("minecraft"))
    missing, bad, other, again = caught.value.faults
    assert "missing.jsonl: no such file; `harness simulate`" in missing
    assert "bad.jsonl:1" in bad
    assert other == "data.2.task: hexagons is of another world than minecraft"
    assert "twice.jsonl: minecraft-shapes/train/" in again


def test_a_recipes_sources_are_in_the_runs_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    from tests.helpers.finetuning import job_of

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.engines.models.bases.resolve_base", lambda name: str(name or ""))
    sources = [{"split": "train"}, {"simulate": "random", "items": 12}]
    job = job_of(monkeypatch, "llama-lora", "--task", "minecraft", "--name", "both", "--set", f"data={json.dumps(sources)}")
    own: list[Item] = load("minecraft", "train")
    assert job.items[: len(own)] == own
    assert len(job.items) == len(own) + 12
    settings = yaml.safe_load(Path("runs/both/run.yaml").read_text())["settings"]
    assert list(settings["sources"]) == ["simulate random --items 12 --seed 0"]
    assert settings["recipe"]["data"][1]["items"] == 12


def test_another_corpus_of_the_same_world_can_be_mixed_in(tmp_path: Path) -> None:
    own, other = load("iglu", "train"), load("minecraft", "train")
    sources = [DataSource(split="train"), DataSource(split="train", task="minecraft")]
    made = gather(sources, "iglu", own, HeldOut("iglu"))
    assert list(made.items) == own + other
    assert set(made.added) == {"train split of minecraft"}
    with pytest.raises(ValueError, match="task goes with split"):
        DataSource(simulate="random", items=3, task="iglu")
