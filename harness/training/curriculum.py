"""Curriculum learning (BAP v2, sections 6.2.1 and 12.1): from easy items to difficult ones, stage by stage."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.corpora.item import Item, data_set
from harness.errors import UsageError
from harness.util.settings import Strict

DATA_SETS = ("minecraft-blocks", "minecraft-shapes", "minecraft-random", "minecraft")
"""The paper's data sets from easy to difficult, as `data_set` names them: D_bs, D_ss, D_r, D_mc."""

History = Callable[[Any], int]
"""The number of tokens of an item's game history that are fed to the model."""


class Curriculum(Strict):
    """How training begins: with a stage per bucket, of one epoch each, before the epochs of all items: see `stages`."""

    difficulty: Literal["D", "L_A", "L_I", "D+L_A", "D+L_I", "L_I+L_A", "D+L_I+L_A"]
    """What items are sorted by; D+L_A: by D, and among equals by L_A. D: the data set (blocks, shapes, random, Minecraft); L_A:
    the number of gold actions; L_I: the number of tokens of the game history that are fed to the model."""
    buckets: Annotated[int, Field(ge=2)]
    """Number of buckets of rising difficulty (N; the paper tries 5 to 30); their sizes differ by at most one item."""


def check_curriculum(items: Sequence[Item], curriculum: Curriculum | None) -> None:
    """Raises UsageError, in one line, for fewer items than buckets and for items that D does not order."""
    if curriculum is None:
        return
    if len(items) < curriculum.buckets:
        raise UsageError(f"training.curriculum.buckets={curriculum.buckets}: there are {len(items)} items to train on")
    if "D" not in curriculum.difficulty.split("+"):
        return
    found = {data_set(item) for item in items}
    where = f"training.curriculum.difficulty={curriculum.difficulty}: D orders {', '.join(DATA_SETS)}"
    if others := found.difference(DATA_SETS):
        raise UsageError(f"{where}, and {min(others)} is none of them: give L_A, L_I or L_I+L_A")
    if len(found) == 1:
        raise UsageError(
            f"{where}, and all train items are of {min(found)}: give L_A, L_I or L_I+L_A, or add the other data sets"
        )


def difficulties(items: Sequence[Item], difficulty: str, history: History) -> list[tuple[int, ...]]:
    """A sort key for each item: its values of the metrics that `difficulty` names, in this order."""
    metrics: dict[str, History] = {
        "D": lambda item: DATA_SETS.index(data_set(item)),
        "L_A": lambda item: len(item.actions),
        "L_I": history,
    }
    chosen = [metrics[name] for name in difficulty.split("+")]
    return [tuple(metric(item) for metric in chosen) for item in items]


def stages(items: Sequence[Item], curriculum: Curriculum, seed: int, history: History) -> list[list[int]]:
    """The indices of the items of the stages S_1 to S_N, in random order; they depend on the arguments alone. The last stage of
    the paper, S_N+1, is all items until convergence: the epochs that follow.

    Stage i has an N-th of each of the buckets 1 to i; no item is in two stages. Items of equal difficulty are ordered at random,
    which the paper leaves open. The items are those that `check_curriculum` accepts.
    """
    count = curriculum.buckets
    random = Random(f"{seed}/curriculum")
    keys = difficulties(items, curriculum.difficulty, history)
    order = sorted(range(len(items)), key=lambda number: (keys[number], random.random()))
    parts_by_stage: list[list[int]] = [[] for _ in range(count)]
    for place, bucket in enumerate(_parts(order, count)):
        parts = _parts(random.sample(bucket, len(bucket)), count)
        for stage, part in zip(parts_by_stage[place:], parts, strict=False):
            stage += part
    for stage in parts_by_stage:
        random.shuffle(stage)
    return parts_by_stage


def _parts(numbers: Sequence[int], count: int) -> list[Sequence[int]]:
    """`count` consecutive parts whose sizes differ by at most one, the longer ones first."""
    short, longer = divmod(len(numbers), count)
    ends = [short * n + min(n, longer) for n in range(count + 1)]
    return [numbers[start:end] for start, end in pairwise(ends)]
