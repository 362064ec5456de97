"""Recipes: every shipped one is valid and can be examined without weights, and faults are refused by name."""

import re
import shutil
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from adapters.recipe import PAIRED, RECIPES, SCHEMA, load_recipe, recipe_schema
from harness.cli import cli, main
from harness.engines.models.bases import DEFAULT_BASE
from harness.errors import UsageError
from tests.helpers import cases
from tools.cli_page import schema as content

CASES = cases(__file__)

SHIPPED = sorted(RECIPES.rglob("*.yaml"))


def test_the_schema_is_that_of_the_models() -> None:
    assert SCHEMA.read_text() == content(), "run make docs"
    schema = recipe_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    parts = [schema, *schema["$defs"].values()]
    bare = [name for part in parts for name, about in part["properties"].items() if not about.get("description")]
    assert not bare, "keys without a docstring"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_recipe_keeps_to_its_schema_which_it_names(path: Path) -> None:
    assert path.read_text().startswith(f"# yaml-language-server: $schema={SCHEMA.name}\n")
    assert load_recipe(path.stem) == load_recipe(str(path))
    jsonschema.validate(yaml.safe_load(path.read_text()), recipe_schema())


def test_every_fault_has_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.yaml"
    text = (RECIPES / "llama-lora.yaml").read_text().replace("accumulation: 2", "accumulation: 0")
    path.write_text(text.replace("  shots: 0", "  shot: 0").replace("  r: 16\n", ""))
    assert main(["finetune", str(path), "--set", "training.epochs=-1", "--set", "lora.dropout=2"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert sorted(lines) == sorted(
        [
            f"Error: {path}: lora.r: this key is missing; add it",
            f"Error: {path}: training.accumulation: input should be greater than or equal to 1, not 0",
            f"Error: {path}: training.shot: no such key; did you mean shots?",
            f"Error: {path} (--set training.epochs=-1): training.epochs: input should be greater than 0, not -1",
            f"Error: {path} (--set lora.dropout=2): lora.dropout: input should be less than or equal to 1, not 2",
        ]
    )


@pytest.mark.parametrize(("changes", "problem"), CASES["changes"])
def test_settings_that_do_not_fit_each_other_are_refused(changes: list[str], problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_recipe("llama-lora", changes)
    assert problem in str(caught.value)


def test_settings_for_a_base_yield_to_the_overrides() -> None:
    plain, small = load_recipe("llama-lora"), load_recipe("llama-lora", base=DEFAULT_BASE)
    assert load_recipe("llama-lora", base="someone/llama") == plain.model_copy(update={"base": "someone/llama"})
    assert small.training.learning_rate > plain.training.learning_rate
    assert small.training.recolor
    changed = load_recipe("llama-lora", ["training.learning_rate=1e-3", "lora.r=8"], base=DEFAULT_BASE)
    assert changed.lora
    assert (changed.training.learning_rate, changed.lora.r) == (1e-3, 8)
    assert changed.training.tokens == small.training.tokens


@pytest.mark.parametrize(("text", "word"), CASES["texts"])
def test_a_bad_file_is_refused_by_its_path(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text.format(whole=(RECIPES / "llama-qlora.yaml").read_text()))
    with pytest.raises(UsageError, match=word) as caught:
        load_recipe(str(path))
    assert str(path) in str(caught.value)


@pytest.fixture(scope="module")
def without_weights(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model's configuration and tokenizer, for rows of any length."""
    folder = Path(shutil.copytree(tiny_base, tmp_path_factory.mktemp("bare") / "bare"))
    (folder / "model.safetensors").unlink()
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"max_position_embeddings": 2048', '"max_position_embeddings": 32768'))
    return folder


@pytest.mark.usefixtures("empty_folder")
# What pairs are learned from is a run: see test_preferences.py.
@pytest.mark.parametrize("recipe", [path.stem for path in SHIPPED if load_recipe(path.stem).method not in PAIRED])
def test_every_recipe_can_be_looked_at_without_weights(without_weights: Path, recipe: str) -> None:
    sources = yaml.safe_load((RECIPES / f"{recipe}.yaml").read_text()).get("data")
    few = [source | ({"items": 20} if "items" in source else {}) for source in sources or ()]
    fewer = ["--set", f"data={few}"] if few else []
    words = ["finetune", recipe, "--base", str(without_weights), "--dry-run", *fewer, "--set", "training.max_length=32768"]
    result = CliRunner().invoke(cli, words)
    assert not Path("runs").exists()
    assert result.exit_code == 0, result.output + str(result.exception)
    for part in ("train: ", "dev: ", "packs: ", "steps: ", "tokens: ", "parameters: ", "memory: about ", "harness data get"):
        assert part in result.output
    assert result.output.count("⟦") == 5 + 5
    assert all(answer.endswith("</s>") for answer in re.findall(r"⟦([^⟧]+)⟧", result.output.replace("⟦⟧", "")))
    qlora = (RECIPES / f"{recipe}.yaml").read_text().count("quantize: nf4")
    assert ("needs an NVIDIA GPU: here the recipe cannot be trained" in result.output) == bool(qlora)


@pytest.mark.usefixtures("empty_folder")
def test_a_hub_base_that_is_not_here_is_an_error_of_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["finetune", "nebula", "--dry-run"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "--base meta-llama/Meta-Llama-3-8B: no tokenizer" in line
    assert "hf download meta-llama/Meta-Llama-3-8B" in line
    assert "--base smollm2-135m" in line
