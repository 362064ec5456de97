from pathlib import Path
from typing import Any

import pytest

from harness.corpora import minecraft_logs
from harness.corpora.item import Executed, MinecraftItem, Utterance
from harness.corpora.minecraft_logs import Game
from harness.errors import DataError
from harness.worlds.minecraft import Action
from tests.helpers.corpora_files import DAY, GAME, pack, state, write_log, write_minecraft, write_splits

RED, BLUE, GREEN = (0, 1, 0, "red"), (0, 2, 0, "blue"), (1, 1, 0, "green")
STARTED = Utterance("Builder", "Mission has started.")
HI, MORE = "<Architect> hi", "<Architect> more"


def place(x: int, y: int, z: int, color: str) -> Action:
    return Action("place", color, x, y, z)


def remove(x: int, y: int, z: int, color: str) -> Action:
    return Action("remove", color, x, y, z)


def read(folder: Path, *states: dict[str, Any]) -> tuple[Game, list[MinecraftItem]]:
    (game,) = minecraft_logs.read_games(write_minecraft(folder, states))
    return game, list(minecraft_logs.items([game]))


def test_states_without_a_pose_are_skipped(tmp_path: Path) -> None:
    """They list no blocks; taken literally, everything would be removed and placed again."""
    states = [state(pose=None), state(), state([HI]), state([HI], [RED]), state([HI], pose=None)]
    game, (first, second) = read(tmp_path, *states, state([HI, MORE], [RED]), state([HI, MORE], [RED, BLUE]))
    assert (first.actions, second.actions) == ((place(*RED),), (place(*BLUE),))
    assert (first.meta["index"], second.meta["index"]) == (2, 4), "counted over the states with a pose"
    assert (game.world_states, game.null_states) == (7, 2)


def test_a_block_outside_drops_the_run_but_not_its_history(tmp_path: Path) -> None:
    outside = (6, 1, 0, "red")
    states = [state(), state([HI]), state([HI], [outside]), state([HI, MORE], [outside]), state([HI, MORE], [])]
    game, (item,) = read(tmp_path, *states, state([HI, MORE, HI]), state([HI, MORE, HI], [GREEN]))
    assert [run.before for run in game.runs[:2]] == [None, None]
    assert item.actions == (place(*GREEN),)
    assert item.history[2] == Executed((place(*outside),), game.runs[0].pose)
    assert item.history[4] == Executed((remove(*outside),), game.runs[1].pose)


def test_games_are_in_bytewise_order_of_day_and_name(tmp_path: Path) -> None:
    states = [state(), state([HI]), state([HI], [RED])]
    places = [("data-4-3", "B1-A1-C2-1522000000000"), ("data-4-10", "B9-A1-C1-1522000000001")]
    places += [("data-4-10", "B10-A1-C1-1522000000002"), ("data-3-30", "B2-A1-C9-1522000000003")]
    for day, game in places:
        write_log(tmp_path, states, game, day)
    write_splits(tmp_path, train=["C1"], test=["C2"])
    for source in (tmp_path, pack(tmp_path, tmp_path / "mdc.tar.xz")):
        games = minecraft_logs.read_games(source)
        assert [(game.day, game.name) for game in games] == [places[3], places[2], places[1], places[0]]
        assert [game.split for game in games] == [None, "train", "train", "test"]
        assert [item.group for item in minecraft_logs.items(games)] == ["C1", "C1", "C2"], "games in no split have no items"


# Invalid input: every error names the file, or the archive and its member, and what was expected.


def states_with(**changes: Any) -> list[dict[str, Any]]:
    return [state(), state([HI]), state([HI], [RED]) | changes]


def block(**changes: Any) -> list[dict[str, Any]]:
    return [{"AbsoluteCoordinates": {"X": 0, "Y": 1, "Z": 0}, "Type": "cwc_minecraft_red_rn"} | changes]


BAD_STATES = {
    "a coordinate 0.5": (states_with(BlocksInGrid=block(AbsoluteCoordinates={"X": 0.5, "Y": 1, "Z": 0})), "valid integer"),
    "a pink block": (states_with(BlocksInGrid=block(Type="cwc_minecraft_pink_rn")), "_pink_rn' has none of the six"),
    "a third speaker": (states_with(ChatHistory=["<Builder> Mission has started.", HI, "<Oracle> no"]), "'<Oracle> no' starts"),
    "a chat that shrinks": (states_with(ChatHistory=[]), "the chat of world state 2 is shorter"),
}


@pytest.mark.parametrize("name", BAD_STATES)
def test_a_bad_log_is_named(tmp_path: Path, name: str) -> None:
    states, expected = BAD_STATES[name]
    corpus = write_minecraft(tmp_path / "corpus", states)
    source = pack(corpus, tmp_path / "mdc.tar.xz") if name == "a pink block" else corpus
    with pytest.raises(DataError) as error:
        minecraft_logs.read_games(source)
    message = str(error.value)
    assert message.startswith(str(source))
    assert f"data/logs/{DAY}/logs/{GAME}/postprocessed-observations.json" in message
    assert expected in message
    assert "\n" not in message


def test_a_target_in_two_splits(tmp_path: Path) -> None:
    corpus = write_minecraft(tmp_path)
    (corpus / "data" / "logs" / "splits.json").write_text('{"train": ["C3"], "val": [], "test": ["C3"]}')
    with pytest.raises(DataError, match=r"splits\.json: target C3 is both in train and in test"):
        minecraft_logs.read_games(corpus)
