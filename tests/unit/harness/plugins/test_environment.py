"""Games and single items as environments."""

from typing import Any

import pytest
from transformers.utils import get_json_schema

import harness
from harness.errors import HarnessError, UsageError
from harness.plugins.environment import OVER, GridEnvironment
from harness.plugins.trl import HexagonsGame, MinecraftGame, games
from harness.worlds import World
from serialization.formats.tools import declarations

TASKS = ["hexagons", "minecraft"]


def played(environment: GridEnvironment, answer: str | None = None, seed: int = 3) -> list[str]:
    """The messages of a game in which every answer is `answer`, or is right."""
    said = [environment.reset(seed)]
    while not environment.done:
        assert environment.item
        said.append(environment.step(harness.gold(environment.item, environment.spec) if answer is None else answer))
    return said


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("form", [None, "tools"])
def test_a_player_that_follows_the_plan_gets_one_and_an_idle_one_nothing(task: str, form: str | None) -> None:
    environment = GridEnvironment(task, format=form)
    said = played(environment)
    assert environment.game
    assert (environment.reward, environment.game.corrections, said[-1]) == (1.0, 0, OVER)
    idle = played(environment, "none")
    assert environment.reward == 0.0
    assert environment.game.corrections > 0
    assert environment.reason
    assert idle == played(GridEnvironment(task, format=form), "none")
    assert any(idle != played(environment, "none", seed) for seed in range(4))


def test_a_game_ends_after_the_most_turns() -> None:
    assert len(played(GridEnvironment("minecraft", turns=2), "none")) == 3


@pytest.mark.parametrize("task", TASKS)
def test_one_answer_is_a_game_of_one_turn(task: str) -> None:
    environment = GridEnvironment(task, single=True)
    environment.reset(split="dev", index=0)
    item = harness.load(task, "dev")[0]
    assert environment.messages == harness.render(item)
    assert environment.step(harness.gold(item)) == OVER
    assert (environment.reward, environment.done) == (1.5, True)
    with pytest.raises(IndexError, match="not 100000"):
        environment.reset(split="dev", index=100_000)


def test_what_cannot_be_played_is_refused() -> None:
    with pytest.raises(HarnessError, match="reset the environment first"):
        GridEnvironment("minecraft").step("none")
    with pytest.raises(UsageError, match="task that is played"):
        GridEnvironment("everyday-minecraft").reset(seed=0)


def test_wrong_calls_are_answered_with_the_reason() -> None:
    game = MinecraftGame()
    assert "Architect" in game.reset(seed=3)
    assert game.place("pink", 0, 1, 0) == "Error: unknown color"
    assert game.place("red", 0, 5, 0) == "Error: this cannot be carried out here."
    assert game.place("red", None, 1, 0) == "Error: x is not an integer"
    assert game._grid.call("fly", {}) == "Error: no tool fly"
    assert game.look() == "nothing"
    assert game.place("red", 0, 1, 0) == "Done."
    assert game.look() == "red 0 1 0"
    assert "Architect" in game.done()


@pytest.mark.parametrize(("kind", "task"), [(MinecraftGame, "minecraft"), (HexagonsGame, "hexagons")])
def test_the_tools_of_trl_are_those_of_the_format(kind: Any, task: World) -> None:
    for tool in declarations(task, looks=True):
        declared, made = tool["function"], get_json_schema(getattr(kind(), tool["function"]["name"]))["function"]
        assert (made["name"], made["description"]) == (declared["name"], declared["description"])
        for key, one in declared["parameters"]["properties"].items():
            assert made["parameters"]["properties"][key]["type"] == one["type"]
        assert made["parameters"].get("required", []) == declared["parameters"]["required"]
    assert games(task, 2)["seed"][1] == 1
