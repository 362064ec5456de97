"""The items of a training run: dev, the order in which train is taken, and their changes from epoch to epoch."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora import load
from harness.corpora.item import Item, data_set
from harness.errors import UsageError
from harness.training.plan import dev_set
from harness.training.recipe import Augment
from harness.training.steps import Data, Steps, vary_by
from tests.helpers.slope import TRAINING


@given(st.lists(st.integers(0, 50), max_size=300), st.integers(1, 7), st.integers(0, 3))
def test_batches_of_similar_length_leave_no_item_out(lengths: list[int], batch: int, epoch: int) -> None:
    for length in (int, None):
        steps = Steps(Data(lengths, [], list, int, length), TRAINING.model_copy(update={"batch_size": batch, "epochs": 4}))
        order = steps.order(epoch)
        assert sorted(order) == list(range(len(lengths)))
        assert order == steps.order(epoch)


def made(counts: dict[str, int], split: str) -> list[Item]:
    """Items of data sets, four to a game."""
    item = load("minecraft", "train")[0]
    named = ((f"{name}/{split}/{n // 4}", n) for name, count in counts.items() for n in range(count))
    return [replace(item, id=f"{game}/{n}", cluster=game) for game, n in named]


def test_dev_has_each_data_set_s_share_of_train_as_far_as_the_validation_splits_reach() -> None:
    """In the sizes of BAP v2's Table 3, a tenth of each; augmented items count for their data set."""
    names = ("minecraft-blocks", "minecraft-shapes", "minecraft-random")
    train = [*made(dict(zip(names, (989, 1187, 1583), strict=True)), "train"), *made({"minecraft": 500}, "train")]
    train += made({"minecraft-augmented": 984}, "train")
    validation = made(dict(zip((*names, "minecraft"), (119, 100, 116, 133), strict=True)), "dev")
    dev = dev_set(train, validation, 1)
    assert Counter(map(data_set, dev)) == dict(zip((*names, "minecraft"), (72, 87, 116, 109), strict=True))
    assert dev == [item for item in validation if item in dev] == dev_set(train, validation, 1)
    real = [item for item in validation if data_set(item) == "minecraft"]
    simulated = dev_set(train, real, 1)
    assert Counter(map(data_set, simulated)) == dict(zip((*names, "minecraft"), (89, 106, 142, 133), strict=True))
    assert {item.split for item in simulated if item not in real} == {"val"}
    assert len({item.cluster for item in dev if data_set(item) == "minecraft-blocks"}) <= 19, "whole games"


def test_a_model_of_one_data_set_is_validated_on_all_of_its_own_split() -> None:
    validation = made({"minecraft-shapes": 7}, "dev")
    assert dev_set(made({"minecraft-shapes": 3}, "train"), validation, 0) == validation


@pytest.mark.parametrize(
    ("train", "validation", "problem"),
    [
        (("minecraft-level-1",), (), "there are train items of minecraft-level-1, but none to validate on"),
        (("minecraft-random",), ("minecraft", "minecraft-random"), "there are no train items of minecraft: leave"),
    ],
)
def test_validation_splits_that_do_not_fit_are_an_error_of_one_line(train: Any, validation: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=f"--dev-data: {problem}") as caught:
        dev_set(made(dict.fromkeys(train, 4), "train"), made(dict.fromkeys(validation, 4), "dev"), 0)
    assert "\n" not in str(caught.value)


def test_batches_have_items_of_similar_length_and_come_in_any_order() -> None:
    lengths = [n % 16 for n in range(64)]
    steps = Steps(Data(lengths, [], list, int, int), TRAINING.model_copy(update={"batch_size": 4}))
    batches = [steps[number] for number in range(16)]
    assert all(len(set(batch)) == 1 for batch in batches)
    assert batches != sorted(batches)


def shown(items: list[Item], augment: Augment, seed: int, epoch: int) -> list[Any]:
    vary = vary_by(augment, seed)
    assert vary
    return [vary(item, epoch) for item in items]


@pytest.mark.parametrize("augment", ["colors", "all"])
@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_what_is_shown_depends_on_the_seed_the_epoch_and_the_game(task: str, augment: Augment) -> None:
    items = load(task, "train")
    first = shown(items, augment, 7, 0)
    assert shown(items, augment, 7, 0) == first
    assert shown(items[5:], augment, 7, 0) == first[5:]
    assert shown(items, augment, 8, 0) != first
    assert shown(items, augment, 7, 1) != first
    assert [item.id for item in first] == [item.id for item in items]
