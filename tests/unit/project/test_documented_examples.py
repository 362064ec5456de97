"""Every code block of README.md and docs/ that names a language is valid, or an excerpt of a tested file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

import harness
from adapters.recipe import load_recipe, recipe_path
from eval.abstraction import read_levels
from harness.cli import main
from harness.commands.experiment import steps
from harness.corpora import corpus_of
from harness.experiments.rows import read_experiment
from harness.service.keys import read_keys
from prompts.spec import PromptSpec
from serialization.formats import FORMATS
from tests.helpers import ROOT
from tests.helpers.documented import PAGES, blocks

if TYPE_CHECKING:
    from harness.service.workers import Workers

DOCS = ROOT / "docs"
ELSEWHERE = {("python.md", "python"), ("python.md", "json"), ("program.md", "hexagons"), ("program.md", "minecraft")}
"""Tested with the Python API, below with the task API, and with `harness program`."""


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


def first_item(text: str) -> None:
    main(["data", "items", "minecraft", "--limit", "1", "--out", "items.jsonl"])
    assert text == Path("items.jsonl").read_text()


def programs(text: str) -> None:
    for line in map(json.loads, text.splitlines()):
        shipped = (ROOT / f"serialization/programs/{line['id'].split('/')[0]}.jsonl").read_text()
        assert json.dumps(line)[:-1] in shipped, line


def levels(text: str) -> None:
    assert read_levels(written("levels.jsonl", text))


def keys(text: str) -> None:
    assert len(read_keys(written("keys.txt", text))) == 2


def grammar(text: str) -> None:
    files = (ROOT / "harness/baselines/parser/hexagons").glob("*.txt")
    known = [line.strip() for file in files for line in file.read_text().splitlines()]
    assert [line for line in text.splitlines() if line.strip() not in known] == []


CHECKS: dict[tuple[str, str], Callable[[str], None]] = {
    ("recipes.md", "yaml"): recipe,
    ("prompts.md", "yaml"): experiment,
    ("everyday.md", "yaml"): requests,
    ("gpu.md", "yaml"): launcher,
    ("data.md", "json"): first_item,
    ("annotating.md", "json"): programs,
    ("metrics.md", "json"): levels,
    ("serving.md", "keys"): keys,
    ("baselines.md", "grammar"): grammar,
}
"""By page and language of the block; a block that is neither here nor tested elsewhere is an error."""


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_examples_are_valid(page: Path, tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny").symlink_to(tiny_base)
    for language, text in blocks(page):
        if language and (page.name, language) not in ELSEWHERE:
            CHECKS[page.name, language](text)


@pytest.mark.parametrize("world", ["hexagons", "minecraft"])
def test_the_table_of_formats_shows_gold_answers(world: str) -> None:
    """Every format answers the first dev item of the sample as docs/prompts.md says."""
    tables = (DOCS / "prompts.md").read_text().split("| format | ")[1:]
    table = next(table for table in tables if table.lower().startswith(world)).partition("\n\n")[0]
    shown = {name: answer for line in re.findall(r"^\| `.*", table, re.MULTILINE) for name, answer in cells(line)}
    assert shown.keys() == FORMATS[world].keys()
    item = harness.load(world, "dev")[0]
    for name, answer in shown.items():
        assert answer == harness.gold(item, PromptSpec.make(world, None, name)).replace("\n", "; ")


def cells(line: str) -> list[tuple[str, str]]:
    names, answer = line.strip("| ").split(" | ")
    return [(name, answer.strip("`")) for name in re.findall(r"`([^`]+)`", names)]


def test_the_answer_of_the_task_api_is_the_one_on_its_page(workers: Workers) -> None:
    from fastapi.testclient import TestClient

    from harness.service.app import create_app
    from harness.service.players import own_players

    text = (DOCS / "python.md").read_text()
    asked = re.search(r"/v1/harness/execute .* -d '(.*)'", text)
    answer = next(block for language, block in blocks(DOCS / "python.md") if language == "json")
    assert asked
    with TestClient(create_app(own_players(workers))) as client:
        found = client.post("/v1/harness/execute", json=json.loads(asked[1])).json()
    expected = json.loads(answer)
    assert {**found, "confidence": round(found["confidence"], 2)} == expected
