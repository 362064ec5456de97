"""Live games: the messages are sound whatever the builder does, and lead to the target."""

import hashlib
import json
from collections import Counter
from random import Random

import pytest

from eval.live import outcome
from harness.corpora.item import Executed, new_turns
from harness.play.targets import live_games
from harness.simulators.live import LiveGame
from harness.simulators.minecraft.figures import in_runs
from harness.simulators.minecraft.live import BuildingGame
from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import Action, Structure
from tests.helpers.faulty import play

KINDS = [
    ("minecraft", "simulated", "blocks", 12),
    ("minecraft", "simulated", "random", 12),
    ("minecraft", "simulated", "shapes", 12),
    ("minecraft", "corpus", None, 2),
    ("hexagons", "corpus", None, 2),
]
PATIENT = 30


def games(kind: tuple[str, str, str | None, int], patience: int, seed: int = 0) -> list[LiveGame]:
    task, source, simulator, count = kind
    # Most simulated targets belong to train, where they are found at once.
    return live_games(task, count, seed, "dev" if source == "corpus" else "train", patience, source=source, simulator=simulator)


def succeeded(game: LiveGame) -> bool:
    """Whether the target has been built, wherever it was begun."""
    if isinstance(game, BuildingGame):
        states = [[list(block) for block in state.blocks()] for state in (game.target, game.built)]
        return bool(outcome("minecraft", *states)["success"])
    return bool(game.built == game.target)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind[:3])))
def test_a_game_reaches_its_target_whether_the_builder_errs_at_first_or_not(kind: tuple[str, str, str | None, int]) -> None:
    faults = Counter[str]()
    for errs in (0.0, 0.6):
        for n, game in enumerate(games(kind, PATIENT)):
            rng = Random(n)
            asked = play(game, lambda item, rng=rng, errs=errs: item.meta["kind"] == "order" and rng.random() < errs, n)  # type: ignore[misc]
            faults.update(item.meta["fault"] for item in asked if item.meta["kind"] == "correction")
            assert (succeeded(game), game.over) == (True, True), game.name
            assert game.corrections == sum(item.meta["kind"] == "correction" for item in asked)
            assert game.turns == game.steps + game.corrections == len(asked) > 0
            assert game.left_wrong == 0
            if not errs:
                assert (game.built, game.corrections, game.at_once) == (game.target, 0, game.steps)
    assert faults
    if kind[:3] == ("minecraft", "simulated", "blocks"):
        assert set(faults) == {"undo", "nothing", "extra", "missing", "color", "place"}


@pytest.mark.parametrize(
    ("kind", "digest"),
    [
        (KINDS[0], "7a5fab6489d4fa9cafc1d52424bef7e1"),
        (KINDS[3], "ee2c33251c8867715da12006c497e9e6"),
        (KINDS[4], "44ef5b8e495d6fc36108c4ea8886ff62"),
    ],
)
def test_the_messages_to_a_builder_that_errs_are_the_same_in_every_version(
    kind: tuple[str, str, str | None, int], digest: str
) -> None:
    rng = Random(0)
    asked = (play(game, lambda item: rng.random() < 0.4, n) for n, game in enumerate(games(kind, PATIENT, seed=1)))
    said = [[turn.text for turn in new_turns(item)] for messages in asked for item in messages]
    assert hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32] == digest


@pytest.mark.parametrize("task", ["minecraft", "hexagons"])
def test_without_patience_errors_stay_and_the_game_goes_on(task: str) -> None:
    (game,) = live_games(task, 1, 0, "train", 0)
    asked = play(game, lambda item: item.id.endswith("/2"))
    assert {item.meta["kind"] for item in asked} == {"order"}
    assert (game.left_wrong, game.corrections) == (1, 0)
    assert game.built != game.target


def test_a_structure_that_does_not_fit_where_it_is_begun_is_moved() -> None:
    target = Structure.of([(x, 1, 0, "red") for x in range(4)])
    game = BuildingGame("minecraft-own/val/1", "val", target, in_runs(target), Random(0), 3, "own")
    item = game.ask()
    assert item is not None
    ((_, _, x, _, _),) = item.actions  # type: ignore[misc]
    edge = 5 if x == 0 else -5
    game.take([Action("place", "red", edge, 1, 0)])
    (second,) = play(game)[:1]
    assert second.meta["kind"] == "correction"
    assert game.built == target


def test_what_was_done_is_shown_as_it_was_carried_out() -> None:
    (game,) = live_games("hexagons", 1, 0, "train", 3)
    game.ask()
    game.take([Paint(0, 0, "red"), Paint(40, 0, "red"), Paint(1, 1, "pink")])
    assert game.dialogue[-1] == Executed((Paint(0, 0, "red"),))
    assert game.built == Board().apply([Paint(0, 0, "red")]).board
    (other,) = live_games("minecraft", 1, 0, "train", 3)
    other.ask()
    floating = [Action("place", "red", 0, 5, 0), Action("place", "red", 0, 1, 0), Action("place", "blue", 0, 1, 0)]
    other.take(floating)
    assert isinstance(other.dialogue[-1], Executed)
    assert other.dialogue[-1].actions == (floating[1],)
