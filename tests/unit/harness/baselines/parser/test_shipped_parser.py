"""The weights that ship with `parser` give the scores in the docs; a change of the scores must also change the docs."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli import cli

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("data_dir"), pytest.mark.usefixtures("empty_folder")]


def predict(*arguments: str) -> tuple[dict[str, Any], list[float]]:
    """The scores of the shipped parser on dev, and its confidence in each answer."""
    done = CliRunner().invoke(cli, ["baseline", "predict", "parser", "--split", "dev", "--name", "p", "--json", *arguments])
    assert done.exit_code == 0, done.output
    lines = Path("runs/p/predictions.jsonl").read_text().splitlines()
    return json.loads(done.stdout), [json.loads(line)["confidence"] for line in lines]


@pytest.mark.slow
def test_hexagons() -> None:
    scores, sure = predict("--task", "hexagons")
    assert (scores["items"], round(446 * scores["action"]["em"])) == (446, 215)
    assert round(100 * scores["action"]["f1"], 2) == 59.68
    assert round(100 * scores["without_longest"]["f1"], 2) == 52.92
    assert round(sum(sure) / 446, 3) == 0.614


@pytest.mark.slow
def test_the_first_items_of_minecraft() -> None:
    scores, sure = predict("--task", "minecraft", "--limit", "100")
    overall = scores["micro"]["overall"]
    assert (scores["items"], overall["tp"], overall["fp"], overall["fn"]) == (100, 101, 166, 305)
    assert round(sum(sure) / 100, 3) == 0.313
