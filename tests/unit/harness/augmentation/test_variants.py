"""Augmentation: changes are consistent, a whole game changes in the same way, and the counts are as requested."""

from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from harness.augmentation.colors import COLORS, permute_colors, random_colors, recolor_text
from harness.augmentation.paraphrase import lexicon, paraphrase
from harness.augmentation.variants import augment
from harness.commands.augment import augment as command
from harness.corpora import load
from harness.corpora.item import Executed, MinecraftItem, Utterance, turn_minecraft
from harness.corpora.records import read_items
from harness.errors import UsageError
from harness.worlds.minecraft import Action
from prompts.probe import PROBES
from tests.helpers.scored import first_items

WORDS = {"block": ["brick"], "left": ["red", "port"], "red": ["crimson"], "ok": ["okay"], "put": ["place", "add"]}


def test_a_quarter_turn_is_that_of_the_published_augmentation() -> None:
    item = first_items("random", 3, 5)[-1]
    turned = turn_minecraft(item, 1)
    assert {(-b.z, b.y, b.x, b.color) for b in item.before.blocks()} == set(map(tuple, turned.before.blocks()))
    assert turned.pose.yaw == item.pose.yaw + 90
    assert turn_minecraft(turned, -1).before == item.before
    done, again = ([turn for turn in its.history if isinstance(turn, Executed)] for its in (item, turned))
    for run, other in zip(done, again, strict=True):
        assert run.pose is not None
        first, second = ([a for a in one.actions if isinstance(a, Action)] for one in (run, other))
        assert [(-a.z, a.x) for a in first] == [(a.x, a.z) for a in second]
        expected = 1 - run.pose.z, run.pose.y, run.pose.x, run.pose.yaw + 90, run.pose.pitch
        assert other.pose == pytest.approx(expected)


def test_a_paraphrase_draws_from_the_word_and_its_entry() -> None:
    drawn = {paraphrase("ok put a Block", WORDS, Random(n)) for n in range(200)}
    assert drawn == {
        f"{ok} {put} a {block}" for ok in ("ok", "okay") for put in ("put", "place", "add") for block in ("Block", "Brick")
    }


@pytest.mark.parametrize("world", ["hexagons", "minecraft"])
def test_the_factor_is_exact_and_no_two_are_alike(world: str) -> None:
    items = first_items("random", 1, 40) if world == "minecraft" else load("hexagons", "train")
    count = len(items)
    made = list(augment(items, 5, 4, lexicon=lexicon()))
    assert made[:count] == items
    assert len(made) == len({item.id for item in made}) == 4 * count
    assert made == list(augment(items, 5, 4, lexicon=lexicon()))
    assert made[count:] != list(augment(items, 6, 4, lexicon=lexicon()))[count:]
    for item in made[count:]:
        assert item.before.apply(item.actions)[0] == item.after  # type: ignore[arg-type]
        assert item.meta["augmented"]["of"] in {original.id for original in items}


def test_the_command_writes_what_reads_back(tmp_path: Path) -> None:
    out = tmp_path / "new" / "items.jsonl.gz"
    result = CliRunner().invoke(command, ["--task", "minecraft", "--factor", "2", "--out", str(out)], catch_exceptions=False)
    items = load("minecraft", "train")
    assert result.output.endswith(f"{2 * len(items):,} items, {len(items):,} of them unchanged from the sample corpus\n")
    made = list(read_items(out))
    assert [item.id for item in made[: len(items)]] == [item.id for item in items]
    assert len(made) == 2 * len(items)
    with pytest.raises(UsageError, match="exists"):
        CliRunner().invoke(command, ["--task", "minecraft", "--out", str(out)], catch_exceptions=False)


CYCLE = dict(zip(COLORS["minecraft"], (*COLORS["minecraft"][1:], COLORS["minecraft"][0]), strict=True))


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
@given(seed=st.integers(0, 10_000))
def test_the_inverse_gives_the_item_back(task: str, seed: int) -> None:
    colors = random_colors(task, Random(seed))
    inverse = {new: old for old, new in colors.items()}
    for item in (*PROBES[task], *load(task, "train")[seed % 15 :][:3]):
        assert permute_colors(permute_colors(item, colors), inverse) == item


def test_states_history_and_words_go_along() -> None:
    item = PROBES["minecraft"][0]
    assert isinstance(item, MinecraftItem)
    changed = permute_colors(item, CYCLE)
    assert isinstance(changed, MinecraftItem)
    assert [turn.text for turn in changed.history if isinstance(turn, Utterance)][-1] == "now a purple one, left"
    assert [block.color for block in changed.before.blocks()] == ["orange", "blue"]
    assert (changed.id, changed.pose, changed.group) == (item.id, item.pose, item.group)


def test_only_whole_color_words_are_replaced_in_their_own_style() -> None:
    text = "Red, red and RED; reds, hundred, bored, rEd, Blue-green."
    assert recolor_text(text, CYCLE) == "Orange, orange and ORANGE; reds, hundred, bored, rEd, Purple-blue."
