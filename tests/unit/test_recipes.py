"""Recipes: every shipped one is whole, and what does not fit is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from adapters.recipe import RECIPES, FinetuneRecipe, PretrainRecipe, load_recipe
from harness.baselines.deberta import DebertaRecipe
from harness.baselines.recipe import load_recipe as load_baseline
from harness.errors import UsageError

SHIPPED = sorted(RECIPES.rglob("*.yaml"))


def test_every_shipped_recipe_is_found_by_its_name_and_by_its_path() -> None:
    assert [path.stem for path in SHIPPED] == ["llama-lora", "llama-qlora", "tiny-llama"]
    for path in SHIPPED:
        assert load_recipe(path.stem) == load_recipe(str(path))
        load_recipe(path.stem, built_in=True)


def test_the_recipes_are_what_their_names_say() -> None:
    lora, qlora, tiny = (load_recipe(name) for name in ("llama-lora", "llama-qlora", "tiny-llama"))
    assert isinstance(lora, FinetuneRecipe)
    assert isinstance(qlora, FinetuneRecipe)
    assert isinstance(tiny, PretrainRecipe)
    assert (lora.quantize, qlora.quantize) == (None, "nf4")
    assert lora.model_dump(exclude={"quantize"}) == qlora.model_dump(exclude={"quantize"})
    assert tiny.shape.hidden_size // tiny.shape.heads in (32, 64), "vLLM's attention on a CPU has no other head sizes"
    assert max(tiny.data.lengths) <= tiny.shape.context_length


def test_the_block_for_the_built_in_base_lies_under_the_overrides() -> None:
    plain, small = load_recipe("llama-lora"), load_recipe("llama-lora", built_in=True)
    assert isinstance(plain, FinetuneRecipe)
    assert isinstance(small, FinetuneRecipe)
    assert small.training.learning_rate > plain.training.learning_rate
    changed = load_recipe("llama-lora", ["training.learning_rate=1e-3", "lora.r=8"], built_in=True)
    assert isinstance(changed, FinetuneRecipe)
    assert (changed.training.learning_rate, changed.lora.r) == (1e-3, 8)
    assert changed.training.batch_size == small.training.batch_size


def test_a_list_can_be_set() -> None:
    recipe = load_recipe("llama-lora", ["lora.target_modules=[q_proj, v_proj]"])
    assert isinstance(recipe, FinetuneRecipe)
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
        ("built_in: 3\nkind: finetune", "built_in"),
        ("\x00", "YAML"),
    ],
)
def test_a_bad_file_is_refused_by_its_path(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=word) as caught:
        load_recipe(str(path))
    assert str(path) in str(caught.value)


def test_a_bad_key_in_the_block_for_the_built_in_base_is_found_with_any_base(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text((RECIPES / "llama-lora.yaml").read_text() + "  speed: 3\n")
    with pytest.raises(UsageError, match="speed: no such key"):
        load_recipe(str(path))


def test_an_unknown_name_brings_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean llama-lora"):
        load_recipe("lama-lora")
    with pytest.raises(UsageError, match=r"no recipe file at nowhere\.yaml"):
        load_recipe("nowhere.yaml")


@pytest.mark.parametrize(("command", "recipe"), [("pretrain", "llama-lora"), ("finetune", "tiny-llama")])
def test_each_command_refuses_the_other_ones_recipes(
    command: str, recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.cli import cli

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.models.resolve_base", lambda name: str(tmp_path))
    result = CliRunner().invoke(cli, [command, recipe])
    assert isinstance(result.exception, UsageError)
    assert not list(tmp_path.iterdir())


def test_a_part_of_the_train_split_is_trained_on_and_said_in_the_runs_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.commands.finetune import _job, _settings

    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.setattr("harness.models.resolve_base", lambda name: str(tmp_path))
    flags = dict.fromkeys(("max_steps", "shots", "base", "context", "format", "frame", "limit")) | {"data": ()}
    jobs = [_job("llama-lora", {**flags, "task": "hexagons", "overrides": part})[0] for part in ((), ("training.train_items=7",))]
    whole, part = (_settings(job) for job in jobs)
    assert (whole["train_items"], part["train_items"]) == (18, 7)
    assert whole["train_hash"] != part["train_hash"]
    assert part["recipe"]["training"]["train_items"] == 7
