"""Recipes: every shipped one is whole, and what does not fit is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from adapters.recipe import RECIPES, load_recipe
from harness.baselines.deberta.baseline import DebertaRecipe
from harness.engines.bases import DEFAULT_BASE
from harness.errors import UsageError
from harness.training.recipe import load_recipe as load_baseline
from tests.helpers.finetuning import job_of

SHIPPED = sorted(RECIPES.rglob("*.yaml"))


def test_every_shipped_recipe_is_found_by_its_name_and_by_its_path() -> None:
    assert [path.stem for path in SHIPPED] == ["llama-grpo", "llama-lora", "llama-qlora"]
    for path in SHIPPED:
        assert load_recipe(path.stem) == load_recipe(str(path))


def test_the_recipes_are_what_their_names_say() -> None:
    lora, qlora = load_recipe("llama-lora"), load_recipe("llama-qlora")
    assert (lora.quantize, qlora.quantize) == (None, "nf4")
    assert lora.model_dump(exclude={"quantize"}) == qlora.model_dump(exclude={"quantize"})


def test_what_suits_a_base_lies_under_the_overrides() -> None:
    plain, small = load_recipe("llama-lora"), load_recipe("llama-lora", base=DEFAULT_BASE)
    assert load_recipe("llama-lora", base="someone/llama") == plain
    assert small.training.learning_rate > plain.training.learning_rate
    assert small.training.recolor
    changed = load_recipe("llama-lora", ["training.learning_rate=1e-3", "lora.r=8"], base=DEFAULT_BASE)
    assert (changed.training.learning_rate, changed.lora.r) == (1e-3, 8)
    assert changed.training.tokens == small.training.tokens


def test_a_list_can_be_set() -> None:
    recipe = load_recipe("llama-lora", ["lora.target_modules=[q_proj, v_proj]"])
    assert recipe.lora.target_modules == ["q_proj", "v_proj"]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("training.lerning_rate=1e-4", ["training.lerning_rate", "no such key"]),
        ("lora.r=5", ["lora.r"]),
        ("lora.r=eight", ["lora.r"]),
        ("training.learning_rate=-1", ["training.learning_rate"]),
        ("training=3", ["training"]),
        ("kind=banana", ["kind"]),
        ("training.seed", ["key=value"]),
        ("=3", ["key=value"]),
        ("training.seed=[", ["YAML"]),
    ],
)
def test_a_bad_override_is_refused_by_name(override: str, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        load_recipe("llama-lora", [override])
    assert all(word in str(caught.value) for word in [*words, override])


def test_overrides_are_checked_together_and_the_one_that_does_not_fit_is_named() -> None:
    pair = ["network.width=96", "network.heads=3"]
    assert load_baseline("deberta", DebertaRecipe, pair).network.width == 96
    for more in (["training.epochs=0"], ["training.epochs=0", "training.patience=2"]):
        with pytest.raises(UsageError, match=r"\(--set training\.epochs=0\): training\.epochs"):
            load_baseline("deberta", DebertaRecipe, [*pair, *more])
    with pytest.raises(UsageError, match=r"\(--set network\.width=96\): network"):
        load_baseline("deberta", DebertaRecipe, ["training.epochs=2", *pair[:1], "training.patience=2"])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[1, 2]", "mapping"),
        ("kind: [", "YAML"),
        ("kind: finetune\nspeed: 3", "speed"),
        ("bases: 3\n{whole}", "bases must be a mapping"),
        ("bases: {{tiny: 3}}\n{whole}", "bases must be a mapping"),
        ("bases: {{tiny: {{training: {{speed: 3}}}}}}\n{whole}", r"\(bases\.tiny\): training\.speed: no such key"),
        ("\x00", "YAML"),
    ],
)
def test_a_bad_file_is_refused_by_its_path(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text.format(whole=(RECIPES / "llama-qlora.yaml").read_text()))
    with pytest.raises(UsageError, match=word) as caught:
        load_recipe(str(path))
    assert str(path) in str(caught.value)


def test_an_unknown_name_brings_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean llama-lora"):
        load_recipe("lama-lora")
    with pytest.raises(UsageError, match=r"no recipe file at nowhere\.yaml"):
        load_recipe("nowhere.yaml")


@pytest.fixture
def run_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the shipped sample, with runs/ in a temporary folder and bases that need not be there."""
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.setattr("harness.engines.bases.resolve_base", lambda name: str(name or DEFAULT_BASE))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("run_anywhere")
def test_what_suits_a_base_is_found_by_its_folders_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models" / DEFAULT_BASE).mkdir(parents=True)
    bases = ((), ("--base", DEFAULT_BASE), ("--base", str(tmp_path / "models" / DEFAULT_BASE)), ("--base", "someone/llama"))
    jobs = [job_of(monkeypatch, "llama-lora", *base, "--name", str(n)) for n, base in enumerate(bases)]
    assert [job.recipe.training.tokens for job in jobs] == [1536, 1536, 1536, 4096]


@pytest.mark.usefixtures("run_anywhere")
def test_a_part_of_the_train_split_is_trained_on_and_said_in_the_runs_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    def settings(name: str, *words: str) -> Any:
        job_of(monkeypatch, "llama-lora", "--name", name, *words)
        return yaml.safe_load(Path("runs", name, "run.yaml").read_text())["settings"]

    whole, part = settings("whole"), settings("part", "--set", "training.train_items=7")
    assert (whole["train_items"], part["train_items"]) == (18, 7)
    assert whole["train_hash"] != part["train_hash"]
    assert part["recipe"]["training"]["train_items"] == 7
