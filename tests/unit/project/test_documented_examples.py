"""Every code block of README.md and docs/ that names a language is valid, or an excerpt of a tested file."""

import json
import re
import runpy
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapters.recipe import load_recipe, recipe_path
from harness.commands.experiment import steps
from harness.corpora import corpus_of
from harness.corpora.corpus import Corpus
from harness.experiments.rows import read_experiment
from harness.service.keys import read_keys
from harness.tasks import Task
from harness.tasks.registry import TASKS
from harness.worlds.hexagons import Paint
from tests.helpers.documented import PAGES, blocks

ELSEWHERE = {("python.md", "python"), ("program.md", "hexagons"), ("program.md", "minecraft"), ("baselines.md", "grammar")}
ELSEWHERE |= {("finetuning.md", "yaml"), ("finetuning.md", "json")}
"""Tested with the Python API, with `harness program`, with the parser, and with other trainers' readers."""


def written(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text)
    path.chmod(0o600)
    return path


def recipe(text: str) -> None:
    training = yaml.safe_load(recipe_path("llama-lora").read_text())["training"]
    load_recipe(str(written("own.yaml", yaml.safe_dump({**yaml.safe_load(text), "training": training}))), [])


def experiment(text: str) -> None:
    """The base is a small one; `train` alone is a part of a file."""
    text = text.replace("smollm2-135m", "tiny").replace("adapter: hexagons", "model: tiny")
    file = written("own.yaml", text if "rows" in text else f"{text}rows: [{{name: one}}]\n")
    assert read_experiment(file, "own", steps())


def requests(text: str) -> None:
    written("hexagons-dev.yaml", text)
    assert list(corpus_of("everyday-hexagons").items(Path(), ["dev"]))


def launcher(text: str) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    assert load_config_from_file(str(written("fsdp.yaml", text)))


def items(text: str) -> None:
    """As items of a registered task's dev split."""
    written("dev.jsonl", text.replace('"gardens/', '"minecraft/').replace("/val/", "/dev/"))
    assert list(Corpus(TASKS["minecraft"]).items(Path(), ["dev"]))


def task(text: str) -> None:
    assert isinstance(runpy.run_path(str(written("gardens.py", text)))["TASK"], Task)


def lines(text: str) -> None:
    assert all(map(json.loads, text.splitlines()))


def keys(text: str) -> None:
    assert len(read_keys(written("keys.txt", text))) == 2


def own_format(text: str) -> None:
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102
    paints = (Paint(0, 2, "red"), Paint(9, 17, "blue"))
    assert names["FORMAT"].write(paints) == "red 3:1; blue 18:10"
    assert names["FORMAT"].parse("Answer: blue 18:10, red 3:1").actions == paints
    assert re.fullmatch(names["FORMAT"].constraint().value, "red 3:1; blue 18:10")


CHECKS: dict[tuple[str, str], Callable[[str], object]] = {
    ("python.md", "json"): json.loads,
    ("recipes.md", "yaml"): recipe,
    ("prompts.md", "yaml"): experiment,
    ("papers.md", "yaml"): experiment,
    ("prompts.md", "python"): own_format,
    ("prompts.md", "toml"): tomllib.loads,
    ("everyday.md", "yaml"): requests,
    ("gpu.md", "yaml"): launcher,
    ("data.md", "json"): items,
    ("data.md", "python"): task,
    ("data.md", "toml"): tomllib.loads,
    ("annotating.md", "json"): lines,
    ("metrics.md", "json"): lines,
    ("serving.md", "keys"): keys,
}
"""By page and language of the block; a block that is neither here nor tested elsewhere is an error."""


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_examples_are_valid(page: Path, tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny").symlink_to(tiny_base)
    for language, text in blocks(page):
        if language and (page.name, language) not in ELSEWHERE:
            CHECKS[page.name, language](text)
