import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from eval.metrics.minecraft import METRICS
from harness.corpora.item import HexagonsItem, MinecraftItem
from harness.worlds.hexagons import Paint
from tests.helpers import Command
from tests.helpers.scored import perfect, step, turn, write_lines, write_run

STEPS = [step([], [Paint(0, n, "red")], n, procedure) for procedure in ("0", "1") for n in (1, 2, 3)]
TURNS = [turn([], [(0, 1, n, "red")], n, game) for game in ("a", "b") for n in (0, 1)]
GOOD = {"id": STEPS[0].id, "actions": []}
BUILT = {"id": TURNS[0].id, "actions": []}


@pytest.fixture
def run(command: Command, empty_folder: None, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Scores a file or a run, in an empty folder; the corpora hold only STEPS and TURNS."""

    def items(task: str, split: str) -> list[HexagonsItem] | list[MinecraftItem]:
        return [] if split != "test" else STEPS if task == "hexagons" else TURNS

    monkeypatch.setattr("harness.corpora.load", items)
    return partial(command, "score")


def write(*records: dict[str, Any]) -> Path:
    return write_lines("predictions.jsonl", records)


def test_the_json_for_hexagons(run: Command) -> None:
    failed = {"id": STEPS[4].id, "error": "HTTP 500"}
    code, out, err = run(write(*perfect(STEPS[:4]), failed), "--json")
    scores = json.loads(out)
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert [scores[key] for key in ("task", "split", "items", "missing", "errors")] == ["hexagons", "test", 6, 1, 1]
    assert scores["action"] == scores["board"] == dict.fromkeys(["f1", "em", "precision", "recall"], 4 / 6)
    assert scores["procedure_macro"] == pytest.approx({"f1": 2 / 3, "em": 2 / 3})
    low, high = scores["intervals"]["action"]["f1"]
    assert low < 4 / 6 < high


def test_the_json_for_minecraft(run: Command) -> None:
    file = write({"id": TURNS[0].id, "text": "place red 0 1 0\nplace red 1 1 0", "format": "lines"})
    scores = json.loads(run(file, "--json")[1])
    assert (scores["benchmark"], scores["items"], scores["missing"]) == ("legacy", 4, 3)
    assert scores["micro"]["overall"] == {"tp": 1, "fp": 1, "fn": 3, "precision": 0.5, "recall": 0.25, "f1": 2 / 6}
    assert tuple(scores["micro"]) == tuple(scores["macro"]) == METRICS
    assert scores["subsets"]["EB"] == {"items": 4, "micro": scores["micro"], "macro": scores["macro"]}
    assert scores["subsets"]["NEB"]["items"] == 0


def test_simulated_games_are_scored_by_the_fairer_f1(run: Command, command: Command) -> None:
    """BAP v2, footnote 6: every item on an empty board has several interpretations."""
    assert command("simulate", "blocks", "--items", 4, "--split", "test", "--out", "blocks.jsonl")[0] == 0
    lines = [json.loads(line) for line in Path("blocks.jsonl").read_text().splitlines()]
    first = next(line for line in lines if not line["before"])
    moved = [[kind, color, x + (1 if x < 5 else -1), y, z] for kind, color, x, y, z in first["actions"]]
    file = write({"id": first["id"], "actions": moved})
    for name, words, hits in (("fair", [], len(moved)), ("legacy", ["--benchmark", "legacy"], 0)):
        scores = json.loads(run(file, "--items", "blocks.jsonl", "--json", *words)[1])
        assert (scores["benchmark"], scores["simulated"], scores["micro"]["overall"]["tp"]) == (name, ["minecraft-blocks"], hits)


def test_v2_scores_the_clean_items_of_an_annotation(run: Command) -> None:
    judged = zip(TURNS, [("unique", False), ("multiple", True), ("unique", True), ("unclear", None)], strict=True)
    write_lines("judged.jsonl", ({"id": item.id, "context": context, "correct": correct} for item, (context, correct) in judged))
    file = write(*({"id": item.id, "actions": [["place", "red", 3, 1, 3]]} for item in TURNS))
    v2 = ["--benchmark", "v2", "--annotation", "judged.jsonl"]
    scores = json.loads(run(file, "--json", *v2)[1])
    assert (scores["benchmark"], scores["annotation"], scores["items"]) == ("v2", "judged.jsonl", 3)
    assert {name: part["items"] for name, part in scores["subsets"].items()} == {"EB": 3, "NEB": 0, "U": 2, "M": 1}
    assert [scores["subsets"][name]["micro"]["overall"]["tp"] for name in "MU"] == [1, 0]
    assert "v2 (judged.jsonl): 3 items" in run(file, *v2)[1]


def test_tables_in_percent_with_the_papers_numbers(run: Command) -> None:
    out = run(write(*perfect(STEPS[:3])), "--rollout")[1]
    for text in ("hexagons/test: 6 items", "3 missing and 0 with an error", "50.00 [0.0, 100.0]", "board, rollout"):
        assert text in out
    assert re.search(r"DeBERTa, full-history .* 46\.15 .* 453 items", out)
    out = run(write(BUILT))[1]
    for metric in METRICS:
        assert re.search(rf"^  {metric} EB .*^  {metric} NEB ", out, re.MULTILINE | re.DOTALL)
    assert "overall EB (4)" in out
    assert "Nebula, Llama-3-8B" in out


def test_a_run_is_scored_on_the_items_it_was_asked_for(run: Command) -> None:
    folder = write_run("a", perfect(STEPS[:2]), end='{"id": "hexa')
    assert json.loads(run("a", "--json")[1])["items"] == 6, "a run in progress has half a line at its end"
    assert "predictions.jsonl:3: not JSON" in run(folder / "predictions.jsonl")[2]
    asked: dict[str, Any] = {"task": "hexagons", "split": "test", "limit": 2, "model": "m"}
    write_run("a", perfect(STEPS[:2]), **asked)
    scores = json.loads(run("a", "--json")[1])
    assert (scores["items"], scores["missing"], scores["action"]["f1"]) == (2, 0, 1.0)
    write_run("a", [], **asked)
    assert json.loads(run("a", "--json")[1])["missing"] == 2
    write_run("a", [], **asked, data_hash="0123456789abcdef")
    code, _, err = run("a", "--json")
    assert (code, "answered other items than there are now" in err) == (1, True)


def test_actions_for_impossible_requests_are_counted(run: Command) -> None:
    file = write(
        {"id": STEPS[0].id, "actions": [[0, 1, "red"], [0, 18, "red"], [-1, 0, "red"]]},
        {"id": STEPS[1].id, "text": "0 2 red, 10 2 red", "format": "triplets"},
        {"id": STEPS[2].id, "text": "red: 4,19 1", "format": "grouped"},
        {"id": STEPS[3].id, "actions": [[99, 0, "red"]], "error": "HTTP 500"},
    )
    scores = json.loads(run(file, "--json")[1])
    assert (scores["off_board"], scores["action"]["f1"]) == (4, 0.5)
    assert "4 predicted actions off the board, left out" in run(file)[1]


BAD: dict[str, tuple[list[dict[str, Any]], list[str], int, str]] = {
    "no such corpus": ([{"id": "chess/test/1"}], [], 1, "predictions.jsonl:1: no corpus has 'chess/test/1'"),
    "two splits": ([GOOD, {"id": "hexagons/dev/0/1"}], [], 1, "predictions.jsonl:2: an item of hexagons/dev after"),
    "empty": ([], [], 2, "holds no predictions to tell the task and the split from"),
    "benchmark of the other task": ([GOOD], ["--benchmark", "fair"], 2, "--benchmark is for minecraft"),
    "v2 of the sample": ([BUILT], ["--benchmark", "v2"], 2, "give --annotation FILE"),
    "annotation without v2": ([GOOD], ["--annotation", "a.jsonl"], 2, "--annotation is for --benchmark v2 only"),
}


@pytest.mark.parametrize(("records", "arguments", "code", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_an_error_of_one_line_and_an_exit_code(
    run: Command, records: list[dict[str, Any]], arguments: list[str], code: int, message: str
) -> None:
    found, out, err = run(write(*records), *arguments, "--json")
    assert (found, out, err.count("\n"), err.startswith("Error: ")) == (code, "", 1, True)
    assert message in err
