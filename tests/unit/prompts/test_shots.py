"""Given or similar examples: never from the item's own group, the best kept longest, the same in every process."""

import subprocess
import sys
from dataclasses import replace

import pytest

from harness.corpora import load
from harness.corpora.item import HexagonsItem, builder_turns
from harness.prompting.examples import choose_shots
from prompts.render import Renderer
from prompts.shots import ChosenShots, ShotChoice, may_show
from prompts.similarity import query_text
from prompts.spec import PromptSpec
from tests.helpers import ROOT
from tests.helpers.scored import drawn_probe

TASKS = ("hexagons", "minecraft")


def hexagons(n: int, text: str, group: str) -> HexagonsItem:
    return drawn_probe(id=f"hexagons/train/{n}/1", instruction=text, group=group, cluster=f"procedure {n}")


TRAIN = [
    hexagons(1, "Paint a red flower in the top left corner", "a"),
    hexagons(2, "Paint a red flower in the top left corner", "own"),
    hexagons(3, "draw a blue line", "b"),
    hexagons(4, "Paint a red flower at the top left edge", "c"),
    hexagons(5, "", "d"),
]
ITEM = hexagons(9, "paint a RED flower in the top left corner!", "own")


def test_the_most_similar_come_first_without_the_items_own_image() -> None:
    chosen = choose_shots(ShotChoice(64, 0, "bm25"), [ITEM], TRAIN).choose(ITEM, 64)
    assert chosen[0] is TRAIN[0]
    assert TRAIN[1] not in chosen
    assert len(chosen) == 4
    assert chosen[1] is TRAIN[3]


def test_bm25_leaves_numba_alone() -> None:
    """vLLM cannot load a model once numba has been imported."""
    code = "import sys; from prompts.similarity import by_words; by_words(['a'], ['a']); assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize("task", TASKS)
def test_no_example_of_the_same_drawing_or_game(task: str) -> None:
    train, items = load(task, "train"), load(task, "train")[:20] + load(task, "dev")
    chosen = choose_shots(ShotChoice(5, 0, "bm25"), items, train)
    for item in items:
        shots = chosen.choose(item, 5)
        assert len(shots) == 5
        assert all(may_show(shot, item) and shot.split == "train" for shot in shots)


def test_the_gold_actions_of_an_item_choose_nothing() -> None:
    item, *others = builder_turns(load("minecraft", "train"))
    poisoned = replace(item, actions=others[0].actions, after=others[0].after)
    assert query_text(poisoned) == query_text(item)


def test_the_hash_covers_the_ids_their_order_and_their_answers() -> None:
    def made(shots: list[HexagonsItem], best_last: bool = True) -> str:
        return ChosenShots({ITEM.id: shots}, best_last).hash

    first, other = TRAIN[0], TRAIN[2]
    hashes = {made([first]), made([other]), made([first, other]), made([other, first]), made([])}
    hashes.add(made([replace(first, actions=())]))
    assert len(hashes) == 6
    assert made([first, other], False) == made([other, first])


def test_what_does_not_fit_is_the_least_similar() -> None:
    shots = [TRAIN[0], TRAIN[2], TRAIN[3]]
    chosen = ChosenShots({ITEM.id: shots}, True)
    renderer = Renderer(PromptSpec.make("hexagons", "no-history"), None, 100_000, 1)
    two = len(renderer.render(ITEM, shots[:2]).text) // 3 + 1
    rendered = Renderer(renderer.spec, None, two + 2, 1).render(ITEM, chosen.choose(ITEM, 3), chosen.arrange)
    asked = [message["content"] for message in rendered.messages if message["role"] == "user"]
    assert rendered.dropped_shots == 1
    assert [text.partition(". ")[2] for text in asked] == [i.instruction for i in (TRAIN[2], TRAIN[0], ITEM)]
