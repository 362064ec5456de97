"""A recipe's data: sources, their weights, and all their faults at once."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from adapters.recipe import DataSource
from adapters.rows import WeightedSource, drawn
from adapters.sources import gather
from harness.cli import cli
from harness.corpora import load
from harness.corpora.held_out import HeldOut
from harness.corpora.item import Item
from harness.corpora.records import load_items
from harness.errors import FaultsError
from prompts.rendered import TrainingRow
from tests.helpers.training_rows import rows_of

Group = tuple[TrainingRow, ...]


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


def groups_of(name: str, sizes: list[int]) -> list[Group]:
    return [tuple(TrainingRow(f"{name}/{g}/{n}", (g, n), (g,)) for n in range(size)) for g, size in enumerate(sizes)]


def after_four(groups: list[Group], weight: float) -> WeightedSource:
    return WeightedSource(range(4, 4 + sum(map(len, groups))), weight)


@pytest.mark.parametrize(("weight", "rows"), [(0.25, 10), (0.5, 20), (1.5, 60), (2.0, 80), (0.001, 0)])
def test_a_weight_says_how_many_items_an_epoch_takes(weight: float, rows: int) -> None:
    plain, weighted = groups_of("plain", [3, 1]), groups_of("weighted", [2] * 20)
    made = rows_of([*plain, *weighted])
    taken = drawn(made, [after_four(weighted, weight)], 0, seed=1)
    assert [tuple(made[number] for number in group) for group in taken[:2]] == plain
    assert sum(map(len, taken[2:])) == rows
    counts = Counter(taken[2:])
    assert set(counts.values()) <= {int(weight), int(weight) + 1}


def test_a_recipes_sources_are_in_the_runs_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    from tests.helpers.finetuning import job_of

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.engines.models.bases.resolve_base", lambda name: str(name or ""))
    sources = [{"split": "train", "weight": 2}, {"simulate": "random", "items": 12, "weight": 0.5}]
    job = job_of(monkeypatch, "llama-lora", "--task", "minecraft", "--name", "both", "--set", f"data={json.dumps(sources)}")
    own: list[Item] = load("minecraft", "train")
    assert [item.id for item in job.items[: len(own)]] == [item.id for item in own]
    assert [source.weight for source in job.sources] == [2, 0.5]
    assert [source.items for source in job.sources] == [range(len(own)), range(len(own), len(own) + 12)]
    settings = yaml.safe_load(Path("runs/both/run.yaml").read_text())["settings"]
    assert list(settings["sources"]) == ["simulate random --items 12 --seed 0"]
    assert settings["recipe"]["data"][1]["weight"] == 0.5
    file = write(tmp_path / "some.jsonl", "shapes", 5)
    job = job_of(monkeypatch, "llama-lora", "--task", "minecraft", "--name", "file", "--data", str(file))
    assert job.items == [*own, *load_items(file)]


def test_another_corpus_of_the_same_world_can_be_mixed_in(tmp_path: Path) -> None:
    own, other = load("iglu", "train"), load("minecraft", "train")
    sources = [DataSource(split="train"), DataSource(split="train", task="minecraft", weight=0.5)]
    made = gather(sources, "iglu", own, HeldOut("iglu"))
    assert list(made.items) == own + other
    assert set(made.added) == {"train split of minecraft"}
    assert [source.weight for source in made.weighted] == [0.5]
    with pytest.raises(ValueError, match="task goes with split"):
        DataSource(simulate="random", items=3, task="iglu")
