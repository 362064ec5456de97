"""pass@k and the spread over samples, from samples whose scores are known."""

import json
from pathlib import Path

import pytest

from eval.samples import sample_scores
from eval.score import Chosen
from harness.corpora import load
from prompts.spec import PromptSpec
from serialization.formats import get_format
from tests.helpers import Command


@pytest.mark.parametrize("task", ["hexagons", "minecraft", "iglu"])
def test_of_four_samples_one_right_and_one_missing(task: str) -> None:
    fmt = get_format(task, PromptSpec.make(task).format_name)
    items = [*{item.cluster: item for item in load(task) if item.actions}.values()][:4]
    texts = [fmt.write(item.actions) for item in items]
    records = {item.id: {"samples": ["", text, ""]} for item, text in zip(items, texts, strict=True)}
    records[items[0].id] = {"samples": [texts[0]] * 4}
    scores = sample_scores(Chosen(items), records, {"format": fmt.name})
    assert scores is not None
    assert scores["drawn"] == 4
    # The first item passes always, the others as often as one right sample of four is among k.
    assert {k: of["value"] for k, of in scores["pass"].items()} == pytest.approx({"1": 7 / 16, "2": 10 / 16, "4": 1.0})
    assert scores["em"]["mean"] == pytest.approx(7 / 16)
    # Exact: 1/4, 4/4, 1/4, 1/4 of the items.
    assert scores["em"]["deviation"] == pytest.approx(0.375)
    assert 0 < scores["f1"]["mean"] < 1
    assert scores["f1"]["interval"]


def test_one_answer_an_item_has_no_spread() -> None:
    items = load("hexagons", "dev")
    assert sample_scores(Chosen(items), {item.id: {"text": ""} for item in items}, {}) is None


def test_the_frame_of_the_run_is_the_frame_of_its_samples() -> None:
    from prompts.messages import read_answer

    spec = PromptSpec.make("minecraft", "context-rich", "lines", "builder")
    item = next(one for one in load("minecraft", "dev") if one.actions)
    text = next(
        text
        for x in range(-5, 6)
        for z in range(-5, 6)
        if (text := f"place {item.actions[0].color} {x} 1 {z}") and read_answer(text, item, spec).actions == item.actions[:1]
    )
    scores = sample_scores(
        Chosen([item]), {item.id: {"samples": [text, ""]}}, {"context": "context-rich", "format": "lines", "frame": "builder"}
    )
    assert scores is not None
    assert scores["f1"]["mean"] > 0


def test_a_run_says_what_its_samples_are_worth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.chdir(tmp_path)
    fmt = get_format("hexagons", "grouped")
    items = load("hexagons", "dev")
    script = [{"id": f"{item.id}{n}", "text": fmt.write(item.actions)} for item in items for n in ("", "#1", "#2")]
    Path("script.jsonl").write_text("".join(json.dumps(line) + "\n" for line in script))
    asked = ("--task", "hexagons", "--model", "script.jsonl", "--samples", "3", "--temperature", "1", "--format", "grouped")
    code, out, err = command("prompt", "--engine", "scripted", *asked, "--name", "sampled", "--json")
    assert code == 0, err
    assert json.loads(out)["samples"]["pass"]["3"]["value"] == 1.0
    code, out, _ = command("score", "runs/sampled")
    assert code == 0
    assert "pass@3" in out
    assert "3 samples an item" in out
