import pytest

from harness.augmentation.variants import augment, known_changes
from harness.corpora import load
from harness.errors import UsageError
from harness.tasks.registry import task_of
from tests.helpers import cases


@pytest.mark.parametrize(("item_id", "task"), cases(__file__)["tasks"])
def test_an_ids_task(item_id: str, task: str) -> None:
    assert task_of(item_id, "minecraft") == task


def test_a_task_with_compass_directions_is_not_turned() -> None:
    assert known_changes("minecraft") == ("colors", "words", "turn")
    with pytest.raises(UsageError, match="no change of iglu named 'turn'"):
        list(augment(load("iglu", "train"), 0, 2, changes=["turn"]))
