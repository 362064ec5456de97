"""Digests and counts of the published corpora, as the papers print them."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable

import pytest

from harness.corpora import SPLITS, corpus_of, load, load_games, load_targets, locate
from harness.corpora.item import builder_turns
from harness.corpora.records import to_full_record
from serialization.words import h3_tokens

pytestmark = pytest.mark.data


def digest(lines: Iterable[str]) -> str:
    """The first 32 digits of the sha256 of some lines."""
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()[:32]


@pytest.mark.parametrize(
    ("task", "digests"),
    [
        ("hexagons", "4b5cc49cb9a0792288ef6c4cf6982fa0 c34adb064b7aa2baf1735fb65660f1c8 9d07ab2d300b9f1f038f1d889b7e623e"),
        ("minecraft", "02ca98072cb81b03ea47f60ac6f6cde1 2dcf28cc1fc6f4c7fcbe5b343895c451 f5254640ef0aef83625283c5e4ed7669"),
    ],
)
def test_golden_digests_of_all_that_the_items_hold(task: str, digests: str) -> None:
    assert [digest(json.dumps(to_full_record(item)) for item in load(task, split)) for split in SPLITS[task]] == digests.split()


def test_golden_digests_of_the_h3_histories() -> None:
    digests = "f239813d49cf96d2c1e70156408dda6b 84d40a7fae38046d2dfe51f9ec617618 54442d73549dacd7502ec1c44f86f7bd"
    parts = [builder_turns(load("minecraft", split)) for split in SPLITS["minecraft"]]
    made = [
        digest(f"{item.meta['game']}\t{item.meta['index']}\t{' '.join(h3_tokens(item))}" for item in items) for items in parts
    ]
    assert made == digests.split()


def test_tables_1_2_and_6_of_the_paper_of_hexagons() -> None:
    stats = corpus_of("hexagons").stats(locate("hexagons").path)
    keys = ("procedures", "steps", "gold_actions", "no_action_steps", "agreed_procedures", "agreed_steps")
    assert stats["splits"] == {
        "train": dict(zip(keys, (496, 3278, 31377, 83, 394, 2812 / 3225), strict=True)),
        "dev": dict(zip(keys, (62, 446, 4155, 4, 49, 381 / 446), strict=True)),
        "test": dict(zip(keys, (62, 453, 4093, 3, 43, 377 / 453), strict=True)),
    }
    of_round = ("procedures", "steps", "tokens", "images")
    assert stats["rounds"] == {
        "0": dict(zip(of_round, (123, 1045, 21084, 17), strict=True)),
        "1": dict(zip(of_round, (304, 1909, 42900, 101), strict=True)),
        "2": dict(zip(of_round, (193, 1223, 36241, 63), strict=True)),
    }
    total = {"procedures": 620, "steps": 4177, "tokens": 100225, "images": 175, "gold_actions": 39625, "no_action_steps": 90}
    assert stats["total"] == total | {"agreed_procedures": 486, "agreed_steps": 3570 / 4124}
    agreement = {name: [round(100 * value, 4) for value in values] for name, values in stats["agreement"].items()}
    assert agreement["board_f1"] == [91.0980, 85.8322, 96.3637]
    assert [round(value, 2) for value in agreement["board_em"]] == [72.32, 58.07, 86.57]


def test_table_1_of_bap_v2_and_the_logs() -> None:
    counted = ("games", "targets", "items", "actions", "placements", "removals", "net_actions")
    keys = (*counted, "empty_board_items", "zero_net_items")
    assert corpus_of("minecraft").stats(locate("minecraft").path)["splits"] == {
        "train": dict(zip(keys, (281, 85, 3709, 15085, 11006, 4079, 11311, 289, 23), strict=True)),
        "val": dict(zip(keys, (101, 29, 1331, 5778, 4182, 1596, 4564, 104, 14), strict=True)),
        "test": dict(zip(keys, (137, 39, 1616, 6017, 4449, 1568, 4553, 143, 16), strict=True)),
    }
    games = load_games()
    assert (len(games), sum(game.world_states for game in games), sum(game.null_states for game in games)) == (547, 43968, 59)
    assert Counter(game.target for game in games if game.split is None) == {"C3": 16, "C17": 10, "C32": 2}
    targets = load_targets("minecraft", "dev")
    assert (len(targets), sum(map(len, targets.values()))) == (29, 735)


def test_iglu() -> None:
    stats = corpus_of("iglu").stats(locate("iglu").path)
    assert [(counts["items"], counts["games"]) for counts in stats["splits"].values()] == [(4285, 105), (443, 22), (606, 15)]
    assert (stats["instructions"]["items"], stats["instructions"]["unclear"]) == (5334, 890)
    faults = {"no target world": 415, "floating": 149, "unchanged": 33, "repeated": 5, "no pose": 2}
    assert {kind: fault["lines"] for kind, fault in stats["left_out"].items() if fault["lines"]} == faults
    everything = sorted(builder_turns(load("iglu")), key=lambda item: str(item.meta["game"]))
    assert all(item.before.apply(item.actions) == (item.after, ()) for item in everything)
    rows = ((item.meta["game"], item.history[0], item.before.blocks(), item.after.blocks()) for item in everything)
    made = digest(f"{game}\t{said[1]}\t{json.dumps(before)}\t{json.dumps(after)}" for game, said, before, after in rows)
    assert made == "da316347d0243e995fe4dcadf7fb28f6"
