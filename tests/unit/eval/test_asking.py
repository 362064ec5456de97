import json
from functools import partial
from math import exp
from pathlib import Path
from typing import Any

import pytest

from eval.asking import certainty
from tests.helpers import Command
from tests.helpers.scored import write_lines


@pytest.fixture
def run(command: Command, empty_folder: None) -> Command:
    """Scores `answer`'s file on the clear and the unclear instructions of the sample."""
    assert command("data", "items", "iglu", "--split", "train", "--ask", "--out", "ask.jsonl") == (0, "", "")
    return partial(command, "score", "answers.jsonl", "--items", "ask.jsonl")


def items() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("ask.jsonl").read_text().splitlines()]


def answer(**fields: Any) -> None:
    """Writes gold answers for clear instructions and empty ones for unclear ones; `fields` override records by game."""
    records = [{"id": item["id"], "actions": item["actions"]} for item in items()]
    own = ({**record, **fields.get(record["id"].rpartition("/")[2].replace("-", "_"), {})} for record in records)
    write_lines("answers.jsonl", own)


def scored(run: Command, *more: str) -> dict[str, Any]:
    return dict(json.loads(run("--benchmark", "ask", "--json", *more)[1]))


def test_acting_on_the_clear_ones_and_asking_about_the_others_is_perfect(run: Command) -> None:
    answer()
    scores = scored(run)
    assert (scores["clear"], scores["unclear"], scores["asked"], scores["act"]["f1"]) == (10, 2, 2, 1)
    assert [scores["ask"][key] for key in ("precision", "recall", "f1")] == [1, 1, 1]
    assert "thresholds" not in scores
    # A question about a clear instruction leaves its actions undone.
    answer(game_9003={"actions": []})
    scores = scored(run)
    assert (scores["ask"]["precision"], scores["ask"]["recall"]) == (pytest.approx(2 / 3), 1)
    wanted = sum(len(item["actions"]) for item in items())
    assert (scores["act"]["recall"], scores["act"]["precision"]) == (pytest.approx(1 - 4 / wanted), 1)


def test_a_threshold_turns_unsure_answers_into_questions(run: Command) -> None:
    sure = {f"game_{n}": {"confidence": 0.9} for n in range(9001, 9013)}
    done = {"actions": [["place", "red", 0, 1, 0]]}
    answer(**{**sure, "game_9004": {**done, "confidence": 0.2}, "game_9010": {**done, "confidence": 0.3}})
    assert scored(run)["asked"] == 0
    assert scored(run)["best"] == 0.9
    scores = scored(run, "--ask-below", "0.5")
    assert (scores["asked"], scores["ask"]["f1"], scores["act"]["f1"]) == (2, 1, 1)
    assert "0.900 (best)" in run("--benchmark", "ask")[1]


def test_the_certainty_of_several_answers_is_the_likelihood_of_a_token() -> None:
    assert certainty({"logprobs": [-4.0, -2.0], "completion_tokens": 8, "confidence": 0.1}) == pytest.approx(exp(-0.5))
    assert certainty({"confidence": 1}) == 1
    assert certainty({"confidence": True}) is certainty({}) is None
