"""`harness finetune --dry-run`: every shipped recipe is examined without weights, and nothing is written."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from adapters.recipe import RECIPES
from harness.cli import cli, main

pytestmark = pytest.mark.usefixtures("empty_folder")

SHIPPED = sorted(path.stem for path in RECIPES.rglob("*.yaml"))


def dry_run(base: Path | str, recipe: str, *more: str) -> Result:
    result = CliRunner().invoke(cli, ["finetune", recipe, "--base", str(base), "--dry-run", *more])
    assert not Path("runs").exists()
    return result


def few_items(recipe: str) -> tuple[str, ...]:
    """Arguments that reduce the number of simulated items in the recipe's sources."""
    sources = yaml.safe_load((RECIPES / f"{recipe}.yaml").read_text()).get("data")
    few = [source | ({"items": 20} if "items" in source else {}) for source in sources or ()]
    return ("--set", f"data={few}") if few else ()


@pytest.fixture(scope="module")
def without_weights(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model's configuration and tokenizer, for rows of any length."""
    folder = Path(shutil.copytree(tiny_base, tmp_path_factory.mktemp("bare") / "bare"))
    (folder / "model.safetensors").unlink()
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"max_position_embeddings": 2048', '"max_position_embeddings": 32768'))
    return folder


@pytest.mark.parametrize("recipe", SHIPPED)
def test_every_recipe_can_be_looked_at_without_weights(without_weights: Path, recipe: str) -> None:
    result = dry_run(without_weights, recipe, *few_items(recipe), "--set", "training.max_length=32768")
    assert result.exit_code == 0, result.output + str(result.exception)
    for words in ("train: ", "dev: ", "packs: ", "steps: ", "tokens: ", "parameters: ", "memory: about ", "HARNESS_DATA"):
        assert words in result.output
    assert result.output.count("⟦") == 5 + 5
    assert all(answer.endswith("</s>") for answer in re.findall(r"⟦([^⟧]+)⟧", result.output.replace("⟦⟧", "")))
    qlora = (RECIPES / f"{recipe}.yaml").read_text().count("quantize: nf4")
    assert ("needs an NVIDIA GPU: here the recipe cannot be trained" in result.output) == bool(qlora)


def test_a_hub_base_that_is_not_here_is_an_error_of_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["finetune", "nebula", "--dry-run"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "--base meta-llama/Meta-Llama-3-8B: no tokenizer" in line
    assert "hf download meta-llama/Meta-Llama-3-8B" in line
    assert "--base smollm2-135m" in line
