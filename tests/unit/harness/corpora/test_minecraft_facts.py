"""Counts and digests of the published Minecraft Dialogue Corpus."""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean, pstdev

import pytest

from harness.corpora import minecraft
from harness.corpora.item import Executed, MinecraftItem, Utterance
from harness.corpora.minecraft_logs import Game, read_game
from harness.corpora.stats import minecraft_stats
from harness.worlds.minecraft import Pose, Structure, in_region, net_actions
from serialization.words import h3_tokens, tokenize

SPLITS = minecraft.SPLITS
pytestmark = pytest.mark.data

#: Fact, train, val, test.
FACTS = """
games 281 101 137
target_structures 85 29 39
items 3709 1331 1616
skipped_items_out_of_grid 19 8 4
skipped_actions 193 56 15
skipped_items_whose_own_action_is_outside 17 8 4
out_of_grid_actions 78 22 7
actions 15085 5778 6017
mean_len 4.0671 4.3411 3.7234
sd_len 4.2292 4.483 3.6045
max_len 51 64 38
items_len_gt_10 242 100 84
placements 11006 4182 4449
removals 4079 1596 1568
net_placements 9119 3575 3717
net_removals 2192 989 836
net_actions 11311 4564 4553
zero_net_items 23 14 16
items_net_lt_len 959 339 413
items_with_recolored_cell 76 6 9
items_with_net_removal 1010 357 380
items_only_net_removals 423 174 155
empty_board_items 289 104 143
empty_board_net_actions 1202 369 508
empty_board_first_item_of_game 279 100 136
items_abs_yaw_gt_180 828 296 350
items_builder_outside_region_footprint 769 326 335
max_blocks 52 96 42
world_states 24420 9041 9990
null_position_states 33 12 13
chat_events 9239 3225 3981
action_events 15278 5834 6032
items_with_infeasible_step_in_stored_order 42 13 16
infeasible_steps 47 15 16
items_with_several_actions_in_one_state 103 36 40
seqs_not_reaching_final 2 0 0
tokens_per_utterance_all 7.104 7.4206 7.0801
mean_utts_since_last_action 2.292 2.2539 2.2692
items_no_dialogue_since_last_action 3 3 1
yaw_quadrants[-90] 711 314 246
yaw_quadrants[0] 1871 645 846
yaw_quadrants[180] 615 202 259
yaw_quadrants[90] 512 170 265
action_colors[blue] 2277 656 626
action_colors[green] 2219 876 831
action_colors[orange] 2738 1051 1408
action_colors[purple] 2878 1006 913
action_colors[red] 2754 1435 1396
action_colors[yellow] 2219 754 843
utterances[Architect] 6559 2254 2857
utterances[Builder] 2399 870 987
tokens[Architect] 54987 20075 23776
tokens[Builder] 8651 3107 3440
tokens_per_utterance[Architect] 8.3834 8.9064 8.322
tokens_per_utterance[Builder] 3.6061 3.5713 3.4853
longest_line[Architect] 48 45 50
longest_line[Builder] 29 19 33
word_types 1968 1243 1322
lowest_yaw -359.85083 -359.55212 -359.9999
highest_yaw 359.9999 359.99945 359.85
lowest_pitch -66.45005 -67.19991 -53.10004
highest_pitch 90.0 90.0 90.0
h3_len_mean 44.2335 45.0962 43.19
h3_len_min 1 1 1
h3_len_max 219 231 164
"""

LENGTHS = {
    "train": "1:965, 2:788, 3:542, 4:368, 5:186, 6:264, 7:80, 8:138, 9:68, 10:68, 11:32, 12:46, 13:10, 14:29, 15:10, 16:29, "
    "17:11, 18:18, 19:2, 20:15, 21:1, 22:8, 23:6, 24:5, 25:2, 26:1, 27:4, 28:2, 29:1, 30:3, 31:1, 32:3, 34:1, 47:1, 51:1",
    "val": "1:319, 2:258, 3:180, 4:160, 5:86, 6:71, 7:37, 8:63, 9:32, 10:25, 11:12, 12:24, 13:11, 14:9, 15:5, 16:7, 17:5, 18:7, "
    "19:3, 20:3, 21:1, 22:3, 23:1, 24:4, 30:2, 36:2, 64:1",
    "test": "1:461, 2:331, 3:246, 4:148, 5:99, 6:96, 7:49, 8:45, 9:32, 10:25, 11:21, 12:19, 13:8, 14:3, 15:4, 16:9, 17:3, 18:1, "
    "19:4, 20:1, 21:1, 22:4, 23:1, 25:1, 27:1, 28:2, 38:1",
}
NET_COUNTS = {
    "train": "0:23, 1:1231, 2:985, 3:447, 4:375, 5:133, 6:179, 7:38, 8:107, 9:44, 10:31, 11:14, 12:37, 13:4, 14:11, 15:4, 16:21, "
    "17:4, 18:10, 19:1, 20:5, 21:2, 24:1, 32:1, 37:1",
    "val": "0:14, 1:415, 2:320, 3:146, 4:150, 5:65, 6:46, 7:34, 8:48, 9:21, 10:21, 11:1, 12:17, 13:3, 14:4, 15:2, 16:5, 17:3, "
    "18:3, 19:2, 20:5, 22:1, 24:3, 28:1, 64:1",
    "test": "0:16, 1:604, 2:410, 3:182, 4:134, 5:71, 6:64, 7:30, 8:29, 9:31, 10:13, 11:6, 12:13, 13:2, 14:1, 16:1, 18:1, 19:4, "
    "20:2, 21:1, 24:1",
}

#: Items left out for a block outside the region: game, then index and number of actions of each.
DROPPED = {
    "train": """
        B25-A10-C88-1523488530039 29,17
        B35-A44-C113-1523652699693 60,19
        B35-A44-C91-1523653832055 46,19
        B51-A54-C133-1523915495911 4,26 29,4 50,21
        B4-A40-C154-1523981971049 45,14
        B53-A15-C140-1524066269052 66,6 77,4 84,4 94,6 101,2
        B25-A51-C154-1524263241350 76,8
        B25-A51-C27-1524265565282 2,9
        B35-A15-C154-1524245575016 104,12
        B4-A20-C50-1522768148743 9,8
        B4-A19-C31-1522884235745 34,6
        B15-A27-C41-1522969861622 7,4 17,4
    """,
    "val": """
        B15-A38-C11-1523400016265 22,19
        B44-A15-C128-1523894700099 62,6 70,7
        B53-A4-C99-1524155387021 4,10
        B1-A44-C48-1523037288443 45,3 49,5 56,3 60,3
    """,
    "test": """
        B42-A4-C96-1524080693968 21,8
        B35-A15-C145-1524246503045 60,1
        B4-A19-C30-1522884961579 2,5 8,1
    """,
}


@pytest.fixture(scope="module")
def archive(data_dir: Path) -> Path:
    path = data_dir / "minecraft" / "mdc.tar.xz"
    if not path.is_file():
        pytest.skip("HARNESS_DATA holds no minecraft/mdc.tar.xz")
    return path


@pytest.fixture(scope="module")
def games(archive: Path) -> list[Game]:
    return minecraft.read_games(archive)


@pytest.fixture(scope="module")
def items(games: list[Game]) -> dict[str, list[MinecraftItem]]:
    return {split: list(minecraft.items(of_split(games, split))) for split in SPLITS}


def of_split(games: Iterable[Game], split: str) -> list[Game]:
    return [game for game in games if game.split == split]


def said(game: Game) -> list[Utterance]:
    return [turn for turn in game.turns if isinstance(turn, Utterance) and turn.text != "Mission has started."]


def test_counts_of_the_whole_corpus(games: list[Game]) -> None:
    assert len(games) == 547
    assert len({game.day for game in games}) == 16
    assert sum(game.world_states for game in games) == 43968
    assert sum(game.null_states for game in games) == 59
    assert Counter(game.target for game in games if game.split is None) == {"C3": 16, "C17": 10, "C32": 2}
    lines = Counter(turn.speaker for game in games for turn in game.turns if isinstance(turn, Utterance))
    assert lines == {"Architect": 11841, "Builder": 4904}
    openings = Counter(next(turn.text for turn in game.turns if isinstance(turn, Utterance)) for game in games)
    assert openings == {"Mission has started.": 546, "hello again": 1}
    assert len({token for game in games if game.split for turn in said(game) for token in tokenize(turn.text)}) == 2664


def test_a_run_in_a_history_has_the_pose_of_its_own_item(items: dict[str, list[MinecraftItem]]) -> None:
    for of_one in items.values():
        place = {(item.cluster, len(item.history)): item for item in of_one}
        runs = [(item, n, turn) for item in of_one for n, turn in enumerate(item.history) if isinstance(turn, Executed)]
        own = [(turn, place[item.cluster, n]) for item, n, turn in runs if (item.cluster, n) in place]
        assert 0 < len(runs) - len(own) < len(own), "some are no items: a block lies outside the region"
        assert all(turn == Executed(item.actions, item.pose) for turn, item in own)
        assert all(turn.pose is not None for _, _, turn in runs)


def test_counts_without_the_region_filter(games: list[Game]) -> None:
    assert [sum(len(game.runs) for game in of_split(games, split)) for split in SPLITS] == [3728, 1339, 1620]


def test_counts_with_the_states_that_have_no_pose(archive: Path, games: list[Game]) -> None:
    """What a loader would count that takes the blocks of such a state, which are none, at face value."""
    split_of = {game.name: game.split for game in games}
    runs = {game.name: sum(run.before is not None for run in game.runs) for game in games}
    pose = {"X": 0.0, "Y": 1.0, "Z": 0.0, "Yaw": 0.0, "Pitch": 0.0}
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.name.endswith("postprocessed-observations.json") else None
            data = file.read() if file else b""
            if b'"BuilderPosition": null' in data:
                log = json.loads(data)
                for state in log["WorldStates"]:
                    state["BuilderPosition"] = state["BuilderPosition"] or pose
                name = member.name.split("/")[-2]
                game = read_game(json.dumps(log).encode(), name, "", "", member.name)
                runs[name] = sum(run.before is not None for run in game.runs)
    assert [sum(runs[name] for name in runs if split_of[name] == split) for split in SPLITS] == [3729, 1338, 1620]


@pytest.mark.parametrize("split", SPLITS)
def test_dropped_items(games: list[Game], split: str) -> None:
    dropped = {
        game.name: [f"{run.states[0]},{len(run.actions)}" for run in game.runs if run.before is None]
        for game in of_split(games, split)
        if any(run.before is None for run in game.runs)
    }
    assert dropped == {line.split()[0]: line.split()[1:] for line in DROPPED[split].strip().splitlines()}


def written(structure: Structure) -> str:
    return ";".join(f"{block.x} {block.y} {block.z} {block.color}" for block in structure.blocks())


def digest(lines: Iterable[Iterable[object]]) -> str:
    return hashlib.sha256("".join("\t".join(map(str, line)) + "\n" for line in lines).encode()).hexdigest()


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("train", "2d60c879a44101772b7354f9114a54c1e51642728c1858f2e5261d6fb9db3779"),
        ("val", "54e6a6e3cf9090f47f733423729a4a78b5238437b376abeca3bad0d082f53723"),
        ("test", "416635282619eace7997f80c42d2d791d233bf1e09282ff75c114e65e908bf48"),
    ],
)
def test_golden_digest_of_the_items(items: dict[str, list[MinecraftItem]], split: str, expected: str) -> None:
    assert expected == digest(
        (
            item.meta["game"],
            item.meta["index"],
            ";".join(f"{'P' if a.kind == 'place' else 'R'} {a.color} {a.x} {a.y} {a.z}" for a in item.actions),
            written(item.before),
            written(item.after),
        )
        for item in items[split]
    )


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


def test_the_first_item_of_test(items: dict[str, list[MinecraftItem]]) -> None:
    first = items["test"][0]
    assert first.id == "minecraft/test/B1-A3-C5-1522432776975/9"
    assert first.pose == Pose(0.5886874795971726, 1.0, -1.0011516958180822, -5.3999987, 37.500008)


def test_ids_are_unique(items: dict[str, list[MinecraftItem]]) -> None:
    assert len({item.id for split in SPLITS for item in items[split]}) == 6656


@pytest.mark.parametrize("split", SPLITS)
def test_histograms(items: dict[str, list[MinecraftItem]], split: str) -> None:
    def histogram(text: str) -> dict[int, int]:
        return {int(key): int(count) for key, count in (pair.split(":") for pair in text.split(", "))}

    assert Counter(len(item.actions) for item in items[split]) == histogram(LENGTHS[split])
    assert Counter(len(net_actions(item.before, item.after)) for item in items[split]) == histogram(NET_COUNTS[split])


@pytest.mark.parametrize("split", SPLITS)
def test_table_of_facts(games: list[Game], items: dict[str, list[MinecraftItem]], split: str) -> None:
    expected = {line.split()[0]: float(line.split()[1 + SPLITS.index(split)]) for line in FACTS.split("\n") if line}
    counted = (
        facts_of_games(of_split(games, split))
        | facts_of_items(items[split])
        | facts_of_words(of_split(games, split), items[split])
    )
    assert {key: round(value, 5 if "yaw" in key or "pitch" in key else 4) for key, value in counted.items()} == expected


def test_stats(games: list[Game]) -> None:
    keys = (
        "games",
        "targets",
        "items",
        "actions",
        "placements",
        "removals",
        "net_actions",
        "empty_board_items",
        "zero_net_items",
    )
    assert minecraft_stats(games)["splits"] == {
        "train": dict(zip(keys, (281, 85, 3709, 15085, 11006, 4079, 11311, 289, 23), strict=True)),
        "val": dict(zip(keys, (101, 29, 1331, 5778, 4182, 1596, 4564, 104, 14), strict=True)),
        "test": dict(zip(keys, (137, 39, 1616, 6017, 4449, 1568, 4553, 143, 16), strict=True)),
    }


def facts_of_games(games: list[Game]) -> dict[str, float]:
    dropped = [run for game in games for run in game.runs if run.before is None]
    outside = [sum(not in_region(*action.cell) for action in run.actions) for run in dropped]
    return {
        "games": len(games),
        "target_structures": len({game.target for game in games}),
        "skipped_items_out_of_grid": len(dropped),
        "skipped_actions": sum(len(run.actions) for run in dropped),
        "skipped_items_whose_own_action_is_outside": sum(count > 0 for count in outside),
        "out_of_grid_actions": sum(outside),
        "world_states": sum(game.world_states for game in games),
        "null_position_states": sum(game.null_states for game in games),
        "chat_events": sum(isinstance(turn, Utterance) for game in games for turn in game.turns),
        "action_events": sum(len(turn.actions) for game in games for turn in game.turns if isinstance(turn, Executed)),
    }


def facts_of_items(items: list[MinecraftItem]) -> dict[str, float]:
    lengths = [len(item.actions) for item in items]
    nets = [net_actions(item.before, item.after) for item in items]
    placed = [sum(action.kind == "place" for action in net) for net in nets]
    empty = [len(item.before) == 0 for item in items]
    first = [not any(isinstance(turn, Executed) for turn in item.history) for item in items]
    replays = [replay(item) for item in items]
    recorded = [{block[:3]: block.color for block in item.after.blocks()} for item in items]
    kinds = Counter(action.kind for item in items for action in item.actions)
    yaws, pitches = [item.pose.yaw for item in items], [item.pose.pitch for item in items]
    quadrants = Counter((0, 90, 180, -90)[item.pose.quarter] for item in items)
    colors = Counter(action.color for item in items for action in item.actions)
    return {
        "items": len(items),
        "actions": sum(lengths),
        "mean_len": fmean(lengths),
        "sd_len": pstdev(lengths),
        "max_len": max(lengths),
        "items_len_gt_10": sum(length > 10 for length in lengths),
        "placements": kinds["place"],
        "removals": kinds["remove"],
        "net_placements": sum(placed),
        "net_removals": sum(len(net) for net in nets) - sum(placed),
        "net_actions": sum(len(net) for net in nets),
        "zero_net_items": sum(not net for net in nets),
        "items_net_lt_len": sum(len(net) < length for net, length in zip(nets, lengths, strict=True)),
        "items_with_recolored_cell": sum(len({action.cell for action in net}) < len(net) for net in nets),
        "items_with_net_removal": sum(count < len(net) for count, net in zip(placed, nets, strict=True)),
        "items_only_net_removals": sum(count == 0 < len(net) for count, net in zip(placed, nets, strict=True)),
        "empty_board_items": sum(empty),
        "empty_board_net_actions": sum(len(net) for net, blank in zip(nets, empty, strict=True) if blank),
        "empty_board_first_item_of_game": sum(a and b for a, b in zip(empty, first, strict=True)),
        "items_abs_yaw_gt_180": sum(abs(yaw) > 180 for yaw in yaws),
        "items_builder_outside_region_footprint": sum(max(abs(item.pose.x), abs(item.pose.z)) > 5.5 for item in items),
        "max_blocks": max(max(len(item.before), len(item.after)) for item in items),
        "items_with_infeasible_step_in_stored_order": sum(count > 0 for count, _ in replays),
        "infeasible_steps": sum(count for count, _ in replays),
        "items_with_several_actions_in_one_state": sum(len({*item.meta["states"]}) < len(item.actions) for item in items),
        "seqs_not_reaching_final": sum(blocks != after for (_, blocks), after in zip(replays, recorded, strict=True)),
        "mean_utts_since_last_action": fmean(map(utterances_since_last_action, items)),
        "items_no_dialogue_since_last_action": sum(not utterances_since_last_action(item) for item in items),
        "lowest_yaw": min(yaws),
        "highest_yaw": max(yaws),
        "lowest_pitch": min(pitches),
        "highest_pitch": max(pitches),
        **{f"yaw_quadrants[{key}]": count for key, count in quadrants.items()},
        **{f"action_colors[{key}]": count for key, count in colors.items()},
    }


def replay(item: MinecraftItem) -> tuple[int, dict[tuple[int, int, int], str]]:
    """How many steps of the stored order were infeasible, removals of another color too, and the blocks if all are done."""
    blocks = {block[:3]: block.color for block in item.before.blocks()}
    infeasible = 0
    for action in item.actions:
        structure = Structure.of((*cell, color) for cell, color in blocks.items())
        wrong_color = action.kind == "remove" and blocks.get(action.cell) != action.color
        infeasible += wrong_color or not structure.feasible(action)
        if action.kind == "place" and action.color:
            blocks[action.cell] = action.color
        else:
            blocks.pop(action.cell, None)
    return infeasible, blocks


def utterances_since_last_action(item: MinecraftItem) -> int:
    runs = [k for k, turn in enumerate(item.history) if isinstance(turn, Executed)]
    return len(item.history) - (runs[-1] + 1 if runs else 0)


def facts_of_words(games: list[Game], items: list[MinecraftItem]) -> dict[str, float]:
    lines = [(turn.speaker, tokenize(turn.text)) for game in games for turn in said(game)]
    histories = [len(h3_tokens(item)) for item in items]
    facts: dict[str, float] = {
        "tokens_per_utterance_all": fmean(len(tokens) for _, tokens in lines),
        "word_types": len({token for _, tokens in lines for token in tokens}),
        "h3_len_mean": fmean(histories),
        "h3_len_min": min(histories),
        "h3_len_max": max(histories),
    }
    for speaker in ("Architect", "Builder"):
        lengths = [len(tokens) for who, tokens in lines if who == speaker]
        facts[f"utterances[{speaker}]"] = len(lengths)
        facts[f"tokens[{speaker}]"] = sum(lengths)
        facts[f"tokens_per_utterance[{speaker}]"] = fmean(lengths)
        facts[f"longest_line[{speaker}]"] = max(lengths)
    return facts
