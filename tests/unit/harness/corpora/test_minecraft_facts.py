"""Counts and digests of the published Minecraft Dialogue Corpus."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from harness.corpora import corpus_of, load_games, minecraft_logs
from harness.corpora.item import Executed, MinecraftItem, Utterance
from harness.corpora.minecraft_logs import Game
from harness.corpora.records import to_full_record
from serialization.words import h3_tokens, tokenize

SPLITS = minecraft_logs.SPLITS
pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def games(data_dir: Path) -> list[Game]:
    if not (data_dir / "minecraft" / "mdc.tar.xz").is_file():
        pytest.skip("HARNESS_DATA holds no minecraft/mdc.tar.xz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_DATA", str(data_dir))
        return load_games()


@pytest.fixture(scope="module")
def items(games: list[Game]) -> dict[str, list[MinecraftItem]]:
    return {split: list(minecraft_logs.items([game for game in games if game.split == split])) for split in SPLITS}


def test_counts_of_the_whole_corpus(games: list[Game]) -> None:
    assert len(games) == 547
    assert len({game.day for game in games}) == 16
    assert sum(game.world_states for game in games) == 43968
    assert sum(game.null_states for game in games) == 59
    assert Counter(game.target for game in games if game.split is None) == {"C3": 16, "C17": 10, "C32": 2}
    lines = Counter(turn.speaker for game in games for turn in game.turns if isinstance(turn, Utterance))
    assert lines == {"Architect": 11841, "Builder": 4904}
    outside = Counter(game.split for game in games for run in game.runs if run.before is None)
    assert [outside[split] for split in SPLITS] == [19, 8, 4]
    said = [turn for game in games if game.split for turn in game.turns if isinstance(turn, Utterance)]
    assert len({token for turn in said if turn.text != "Mission has started." for token in tokenize(turn.text)}) == 2664


def test_a_run_in_a_history_has_the_pose_of_its_own_item(items: dict[str, list[MinecraftItem]]) -> None:
    for of_one in items.values():
        place = {(item.cluster, len(item.history)): item for item in of_one}
        runs = [(item, n, turn) for item in of_one for n, turn in enumerate(item.history) if isinstance(turn, Executed)]
        own = [(turn, place[item.cluster, n]) for item, n, turn in runs if (item.cluster, n) in place]
        assert 0 < len(runs) - len(own) < len(own), "some are no items: a block lies outside the region"
        assert all(turn == Executed(item.actions, item.pose) for turn, item in own)
        assert all(turn.pose is not None for _, _, turn in runs)


def digest(lines: Iterable[Iterable[object]]) -> str:
    return hashlib.sha256("".join("\t".join(map(str, line)) + "\n" for line in lines).encode()).hexdigest()


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("train", "f239813d49cf96d2c1e70156408dda6b4212e11a7336f77d7b66279dde69b118"),
        ("val", "84d40a7fae38046d2dfe51f9ec6176182ebe4c0a23f6744bd43dc4c2c88464ad"),
        ("test", "54442d73549dacd7502ec1c44f86f7bdb150f698c35c05443986ce27a9731c7d"),
    ],
)
def test_golden_digest_of_the_h3_histories(items: dict[str, list[MinecraftItem]], split: str, expected: str) -> None:
    assert expected == digest((item.meta["game"], item.meta["index"], " ".join(h3_tokens(item))) for item in items[split])


def test_golden_digest_of_all_that_an_item_holds(items: dict[str, list[MinecraftItem]]) -> None:
    """The digest includes states, actions, poses, the words as typed, groups and meta."""
    found = {split: digest([json.dumps(to_full_record(item))] for item in items[split]) for split in SPLITS}
    assert found == {
        "train": "02ca98072cb81b03ea47f60ac6f6cde16c7e6eaa66754abd6eb20ecd45097e52",
        "val": "2dcf28cc1fc6f4c7fcbe5b343895c4515e2413d3ca6cb7fb750f5e781c35c3e9",
        "test": "f5254640ef0aef83625283c5e4ed7669c921290544bf883609de344081ba4588",
    }


def test_stats(games: list[Game], data_dir: Path) -> None:
    keys = [
        "games",
        "targets",
        "items",
        "actions",
        "placements",
        "removals",
        "net_actions",
        "empty_board_items",
        "zero_net_items",
    ]
    assert corpus_of("minecraft").stats(data_dir / "minecraft" / "mdc.tar.xz")["splits"] == {
        "train": dict(zip(keys, (281, 85, 3709, 15085, 11006, 4079, 11311, 289, 23), strict=True)),
        "val": dict(zip(keys, (101, 29, 1331, 5778, 4182, 1596, 4564, 104, 14), strict=True)),
        "test": dict(zip(keys, (137, 39, 1616, 6017, 4449, 1568, 4553, 143, 16), strict=True)),
    }
