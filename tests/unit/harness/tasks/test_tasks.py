import pytest

from harness.augmentation.variants import augment, known_changes
from harness.corpora import load
from harness.errors import UsageError
from harness.tasks.registry import task_of


@pytest.mark.parametrize(
    ("item_id", "task"),
    [
        ("iglu-augmented/train/game/1/x", "iglu"),
        ("minecraft-blocks/train/3/1", "minecraft"),
        ("everyday-minecraft-mine/train/3/1", "everyday-minecraft"),
        ("whatever", "minecraft"),
    ],
)
def test_an_ids_task(item_id: str, task: str) -> None:
    assert task_of(item_id, "minecraft") == task


def test_a_task_with_compass_directions_is_not_turned() -> None:
    assert known_changes("minecraft") == ("colors", "words", "turn")
    with pytest.raises(UsageError, match="no change of iglu named 'turn'"):
        list(augment(load("iglu", "train"), 0, 2, changes=["turn"]))
