import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.corpora import load
from prompts.messages import gold_answer
from prompts.probe import format_hash
from prompts.spec import PromptSpec
from tests.helpers import Command, cases
from tests.helpers.chat_templates import build_thinking_model
from tests.helpers.scored import run_records, run_settings, write_lines

pytestmark = pytest.mark.usefixtures("empty_folder")


def script(task: str, answer: Any = gold_answer, **spec: str) -> str:
    """A file of completions for the sample's dev split; `answer` writes the text from an item and a format."""
    made = PromptSpec.make(task, **spec)
    return str(write_lines("script.jsonl", [{"id": item.id, "text": answer(item, made)} for item in load(task, "dev")]))


@pytest.fixture
def run(command: Command) -> Command:
    return partial(command, "prompt", "--engine", "scripted")


def f1(scores: dict[str, Any]) -> float:
    return float((scores["action"] if scores["task"] == "hexagons" else scores["micro"]["overall"])["f1"])


@pytest.mark.parametrize(("task", "shots", "spec"), cases(__file__)["prompts"])
def test_a_perfect_script_scores_one(task: str, shots: str, spec: dict[str, str], run: Command) -> None:
    Path("mine").mkdir()
    Path("mine/minecraft.user.txt").write_text("{{ turns | join(' / ') }}")
    flags = [word for key, value in spec.items() for word in (f"--{key}", value)]
    code, out, err = run("--task", task, "--model", script(task, **spec), *flags, "--shots", shots, "--name", "r", "--json")
    scores = json.loads(out)
    assert (code, scores["missing"], scores["errors"], f1(scores)) == (0, 0, 0, 1.0)
    assert json.loads(Path("runs/r/scores.json").read_text()) == scores
    sample = f"the sample corpus (`harness data get {task}` downloads the published one)"
    assert f"of {sample}; engine scripted, model script.jsonl; " in err
    names = {".lock", "run.yaml", "predictions.jsonl", "asked.jsonl", "scores.json", "log.txt"}
    assert spec or {p.name for p in Path("runs/r").iterdir()} == names
    assert run_settings().get("template") == (Path(spec["template"]).name if "template" in spec else None)
    assert run_settings()["prompt_hash"] == format_hash(PromptSpec.make(task, **spec))


@pytest.mark.parametrize(
    ("task", "share"),
    [("hexagons", ()), ("hexagons", ("--share", "0.6")), ("minecraft", ("--vote", "share"))],
)
def test_drawn_answers_vote(task: str, share: tuple[str, ...], run: Command) -> None:
    """Of three answers an item, the first does nothing, and two hold the gold actions."""
    drawn = [
        {"id": f"{item.id}{n}", "text": gold_answer(item, PromptSpec.make(task)) if n else "none"}
        for item in load(task, "dev")
        for n in ("", "#1", "#2")
    ]
    write_lines("script.jsonl", drawn)
    code, out, _ = run(
        "--task", task, "--model", "script.jsonl", "--samples", "3", "--temperature", "0.7", "--name", "r", "--json", *share
    )
    assert (code, f1(json.loads(out))) == (0, 1.0)
    first = run_records()[0]
    assert first["samples"] == ["none", first["text"], first["text"]]
    assert first["confidence"] == pytest.approx(2 / 3, abs=1e-3)


def test_preview_prints_the_text_and_calls_no_model(run: Command) -> None:
    code, out, err = run("--preview", "--shots", "2", "--model", "there-is-no-such-file")
    item = load("hexagons", "dev")[0]
    assert code == 0
    assert out.count("### Input") == 3
    assert f"1. {item.instruction}\n\n### Output\n" in out  # type: ignore[union-attr]
    assert f"[{item.id}: about " in err
    assert not Path("runs").exists()


def test_a_local_model_thinks_if_asked_to(command: Command, tmp_path: Path) -> None:
    base = build_thinking_model(tmp_path / "base", context_length=4096)
    asked = "prompt", "--engine", "transformers", "--base", base, "--limit", 2, "--max-new-tokens", 8
    _, _, errors = command(*asked, "--name", "quiet")
    assert "thinking is off, and the model's chat template can turn it on: --think on" in errors
    assert run_settings("quiet")["think"] == "off"
    assert all("reasoning" not in record for record in run_records("quiet"))
    code, _, errors = command(*asked, "--name", "r", "--think", "on", "--think-tokens", 6)
    assert (code, "thinking is off" in errors) == (0, False)
    assert (run_settings()["think"], run_settings()["think_tokens"]) == ("on", 6)
    for record in run_records():
        assert record["reasoning"]
        assert record["reasoning_tokens"] <= 6 < record["completion_tokens"] <= 14
    _, shown, _ = command("show", run_records()[0]["id"], "--run", "r")
    assert "The model's thought: " in shown
    assert command(*asked, "--reasoning-effort", "low")[0] == 2
    assert command(*asked, "--think", "off", "--think-tokens", 6)[0] == 2
    assert "the model does not think; add --think on" in command(*asked, "--think-tokens", 6)[2]


def test_several_tasks_are_asked_one_after_the_other(run: Command) -> None:
    lines = [json.dumps({"id": item.id, "text": ""}) for task in ("hexagons", "iglu") for item in load(task, "dev")]
    Path("script.jsonl").write_text("\n".join(lines) + "\n")
    code, out, err = run("--task", "hexagons,iglu", "--model", "script.jsonl", "--name", "r", "--limit", "2", "--json")
    assert code == 0, err
    assert [json.loads(line)["task"] for line in out.splitlines()] == ["hexagons", "iglu"]
    assert {path.name for path in Path("runs").iterdir() if path.is_dir()} >= {"r-hexagons", "r-iglu"}
    code, out, err = run("--task", "hexagons,chess", "--model", "script.jsonl")
    assert (code, out) == (2, "")
    assert "chess" in err
