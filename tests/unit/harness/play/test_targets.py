"""Requests as live games: later turns start from the player's own state, and games end as scored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval.live import score_games
from eval.score_run import read_answers, score_answers
from harness.baselines.parser import Parser
from harness.corpora import load
from harness.corpora.item import Executed, Item
from harness.play.games import TURNS, play_games
from harness.play.targets import RequestGame, request_games
from harness.runs.folder import Run
from harness.util.files import json_line

TASKS = ("everyday-hexagons", "everyday-minecraft")


def of_several_turns(task: str) -> list[Item]:
    by_request: dict[str, list[Item]] = {}
    for item in load(task, "dev"):
        by_request.setdefault(item.cluster, []).append(item)
    return next(items for items in by_request.values() if len(items) > 1 and all(item.actions for item in items))


@pytest.mark.parametrize("task", TASKS)
def test_right_answers_solve_every_request(task: str) -> None:
    games = list(request_games(load(task, "dev")))
    assert len(games) == 115
    for game in games:
        while (item := game.ask()) is not None:
            game.take(item.actions)
        assert (game.left_wrong, game.at_once, game.corrections) == (0, game.steps, 0), game.name
        assert game.built == game.target


@pytest.mark.parametrize("task", TASKS)
def test_a_wrong_answer_stays_and_the_next_turn_is_asked_on_it(task: str) -> None:
    items = of_several_turns(task)
    game = RequestGame(items)
    first = game.ask()
    assert first is not None
    game.take(())
    second = game.ask()
    assert second is not None
    assert second.id == items[1].id
    assert second.before == first.before != items[1].before
    assert [turn.actions for turn in second.history if isinstance(turn, Executed)] == [()]
    assert game.left_wrong == 1
    game.take(second.actions)
    assert sum(isinstance(turn, Executed) for turn in game.dialogue) == 2


@pytest.mark.parametrize("task", TASKS)
def test_a_live_game_ends_as_the_answers_are_scored(task: str, tmp_path: Path) -> None:
    run = Run(tmp_path / "play", {}, TURNS)
    lines = play_games(run, list(request_games(load(task, "dev"))), Parser().predictor(task))
    file = tmp_path / "predictions.jsonl"
    records: list[dict[str, Any]] = [{"id": record["id"], "actions": record["actions"]} for record in run.records]
    run.close()
    file.write_text("".join(map(json_line, records)))
    scores, live = score_answers(read_answers(file)), score_games(task, lines)
    assert live["success"] == scores["requests"]["solved"]
    assert live["at_once"] == scores["turns"]["solved"]
    assert live["intervals"].keys() == {"success", "at_once"}
    turns = [turn for line in lines for turn in line["dialogue"] if "actions" in turn]
    assert all(turn["actions"] or turn["why"] for turn in turns)
