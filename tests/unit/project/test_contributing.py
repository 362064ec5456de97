"""CONTRIBUTING.md: what it names is there, and what it says suffices to add a format, a baseline or an engine."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from jinja2 import ChoiceLoader, DictLoader, PackageLoader

from harness.baselines import BASELINES
from harness.cli import main
from harness.corpora import load
from harness.corpora.item import Item
from harness.engines.engine import ENGINES, Completion, Report, Sampling, silent
from harness.runs.answering import Answer, Predictor
from harness.worlds.hexagons import Paint, on_board
from prompts import messages
from prompts.rendered import Rendered
from prompts.spec import PromptSpec
from prompts.template import _environment
from serialization.formats import FORMATS, Format
from serialization.formats.answer import Constraint, Discarded, Parsed
from tests.helpers import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
STEPS = re.findall(r"^\d+\. (.*(?:\n   .*)*)", TEXT, re.MULTILINE)


def defined(path: Path) -> set[str]:
    """The names of a module: functions, classes, what is in them, and what is assigned."""
    tree = ast.parse(path.read_text())
    inner = {f"{node.name}.{name}" for node in tree.body if isinstance(node, ast.ClassDef) for name in _names(node)}
    return inner | _names(tree)


def _names(node: ast.Module | ast.ClassDef) -> set[str]:
    found: set[str] = set()
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            found.add(each.name)
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def named() -> Iterator[tuple[str, str]]:
    """The names that follow a module and a colon, each with its module."""
    for step in STEPS:
        module = ""
        for span, colon in re.findall(r"`([^`]+)`(:?)", step):
            if "/" in span:
                module = span if colon and span.endswith(".py") else ""
            elif module and re.fullmatch(r"[\w.]+", span):
                yield module, span


def test_paths_are_there() -> None:
    paths = [path for path in re.findall(r"`([\w./-]+/[\w./-]*)`", TEXT) if "NAME" not in path]
    assert len(paths) > 60
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_functions_are_where_they_are_said_to_be() -> None:
    found = list(named())
    assert ("prompts/render.py", "Renderer.token_ids") in found
    assert ("adapters/packing.py", "collate") in found
    assert len(found) > 45
    assert [f"{path}: {name}" for path, name in found if name not in defined(ROOT / path)] == []


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


def scores(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = main([*words, "--json"])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    made: dict[str, Any] = json.loads(captured.out)
    return made


def write_toy(actions: Sequence[Paint]) -> str:
    return "|".join(f"{paint.color}@{paint.row}.{paint.column}" for paint in actions) or "-"


def parse_toy(text: str) -> Parsed:
    paints: list[Paint] = []
    discarded: list[Discarded] = []
    for piece in text.strip().split("|"):
        found = re.fullmatch(r"([a-z]+)@(\d{1,2})\.(\d{1,2})", piece)
        if found and on_board(int(found[2]), int(found[3])):
            paints.append(Paint(int(found[2]), int(found[3]), found[1]))
        elif piece != "-":
            discarded.append(Discarded(piece, "no tile"))
    return Parsed(tuple(paints), tuple(discarded))


@pytest.fixture
def toy_format(monkeypatch: pytest.MonkeyPatch) -> Format:
    toy = Format("toy", "hexagons", write_toy, parse_toy, lambda: Constraint("regex", r"-|[a-z]+@\d+\.\d+"), 64)
    own = DictLoader({"answer.toy.txt": "Answer with color@row.column, joined by |."})
    monkeypatch.setattr("jinja2.PackageLoader", lambda package: ChoiceLoader([own, PackageLoader(package)]))
    # Not the one that looked for templates before.
    monkeypatch.setattr("prompts.template._environment", _environment.__wrapped__)
    monkeypatch.setitem(FORMATS["hexagons"], "toy", toy)
    return toy


def test_a_format_is_an_entry_and_a_template(toy_format: Format, capsys: pytest.CaptureFixture[str]) -> None:
    spec = PromptSpec.make("hexagons", format="toy")
    items = load("hexagons", "dev")
    texts = [{"id": item.id, "text": messages.gold_answer(item, spec)} for item in items]
    assert "@" in texts[0]["text"]
    Path("script.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    asked = ("prompt", "--format", "toy", "--shots", "2", "--name", "toy")
    assert main([*asked, "--engine", "scripted", "--preview"]) == 0
    preview = capsys.readouterr().out
    assert "joined by |" in preview
    assert re.search(r"[a-z]@\d\.\d", preview)
    made = scores(capsys, *asked, "--engine", "scripted", "--model", "script.jsonl")
    assert made["action"]["f1"] == 1.0
    assert scores(capsys, "score", "toy")["action"]["f1"] == 1.0


class ToyBaseline(Predictor):
    """Paints the whole first column red. See `harness.baselines.Ruled`."""

    tasks = ("hexagons",)
    decoding = ()
    batch_size = 4

    def predictor(self, task: str) -> ToyBaseline:
        return self

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        return [Answer([Paint(row, 0, "red") for row in range(10)], True) for _ in items]


def test_a_baseline_is_a_class_and_a_name(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import_module("harness.commands.baseline")  # Its help lists the names of that time.
    monkeypatch.setitem(BASELINES, "toy", f"{__name__}:ToyBaseline")
    made = scores(capsys, "baseline", "predict", "toy", "--name", "toy")
    assert (made["items"], made["missing"]) == (len(load("hexagons", "dev")), 0)
    records = [json.loads(line) for line in Path("runs/toy/predictions.jsonl").read_text().splitlines()]
    assert records[0]["actions"] == [[row, 0, "red"] for row in range(10)]


class ToyEngine:
    """Answers every prompt with the same tile. See `harness.engines.engine.Engine`."""

    tokenizer: Any = None
    batch_size = 3
    independent = True

    def __init__(self, model: str, *, adapter: Path | None = None, context_length: int | None = None) -> None:
        self.model, self.context_length = model, context_length or 100_000
        self.report: Report = silent

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> Iterator[Completion]:
        for prompt in prompts:
            assert "Answer with" in prompt.text
            yield Completion("red: 1 1", completion_tokens=3)

    def close(self) -> None:
        pass


def test_an_engine_is_a_class_and_a_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tiny_base: Path
) -> None:
    monkeypatch.setitem(ENGINES, "toy", f"{__name__}:ToyEngine")
    made = scores(capsys, "prompt", "--engine", "toy", "--model", str(tiny_base), "--name", "toy", "--limit", "5")
    assert (made["items"], made["missing"], made["errors"]) == (5, 0, 0)
    records = [json.loads(line) for line in Path("runs/toy/predictions.jsonl").read_text().splitlines()]
    assert [record["actions"] for record in records] == [[[0, 0, "red"]]] * 5
