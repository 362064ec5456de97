"""The Python API: the same prompts, answers and numbers as on the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from eval.predictions import Predictions
from eval.score import Chosen, score
from harness.errors import UsageError
from tests.helpers import ROOT
from tests.helpers.scored import mixed_answers

TASKS = ("hexagons", "minecraft", "iglu")


@pytest.mark.parametrize("task", TASKS)
def test_totals_are_those_of_the_scorer(task: str) -> None:
    items = harness.load(task, "train")
    texts = mixed_answers(items)
    predictions = {item.id: harness.parse(text, item).actions for item, text in zip(items, texts, strict=True)}
    told = score(task, "train", Chosen(items), Predictions(predictions))
    total = harness.total(harness.score(item, text) for item, text in zip(items, texts, strict=True))
    assert total["f1"] == (told["action"]["f1"] if task == "hexagons" else told["micro"]["overall"]["f1"])
    assert 0 < total["em"] < 1
    if task == "hexagons":
        assert total["em"] == told["action"]["em"]


def test_answers_to_both_tasks_have_no_total() -> None:
    counts = [harness.score(harness.load(task, "dev")[0], ()) for task in TASKS[:2]]
    with pytest.raises(UsageError, match="to one task are needed, not to hexagons and minecraft"):
        harness.total(counts)
    with pytest.raises(UsageError, match="not to none"):
        harness.total([])


def test_the_notebook_and_the_page_run(tmp_path: Path) -> None:
    notebook = json.loads((ROOT / "docs/examples/python.ipynb").read_text())
    cells = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    page = (ROOT / "docs/python.md").read_text().split("```python")[1].split("```")[0]
    for code in (cells, page):
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=tmp_path)


def test_importing_it_loads_no_model_library() -> None:
    code = "import sys, harness; harness.score; print(sorted({'torch', 'transformers', 'vllm', 'datasets'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
