"""Curriculum learning (BAP v2, sections 6.2 and 12.1): from easy items to difficult ones, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Annotated, Literal

from pydantic import Field

from harness.corpora.item import Executed, HexagonsItem, Item, Utterance
from harness.errors import UsageError
from harness.util.settings import Strict
from serialization.words import h3_tokens, tokenize


class Curriculum(Strict):
    """How training begins: with a stage per bucket, of one epoch each, before the epochs of all items: see `stages`."""

    difficulty: Literal["D", "L_A", "L_I", "D+L_A", "D+L_I", "L_A+L_I", "D+L_A+L_I"]
    """The metric, or several joined by +, which rank an item by the mean of its ranks."""
    buckets: Annotated[int, Field(ge=2)]
    """Number of buckets of rising difficulty; their sizes differ by at most one item."""


def dialogue_length(item: Item) -> int:
    """D: the number of tokens of the instruction and its context.

    The name is the paper's; what it counts is our reading: H3 in Minecraft, all instructions so far in HEXAGONS.
    """
    if isinstance(item, HexagonsItem):
        texts = (turn.text for turn in item.history if isinstance(turn, Utterance))
        return sum(len(tokenize(text)) for text in (*texts, item.instruction))
    return len(h3_tokens(item))


def instruction_length(item: Item) -> int:
    """L_I: the number of tokens of what was said since the last action (speaker tags included, as in H3); in HEXAGONS, of the
    step's instruction. This, too, is our reading."""
    if isinstance(item, HexagonsItem):
        return len(tokenize(item.instruction))
    last = max((place for place, turn in enumerate(item.history) if isinstance(turn, Executed)), default=-1)
    return len(h3_tokens(replace(item, history=item.history[last + 1 :]))) - 1  # without the start token


METRICS: dict[str, Callable[[Item], int]] = {
    "D": dialogue_length,
    "L_A": lambda item: len(item.actions),
    "L_I": instruction_length,
}


def difficulties(items: Sequence[Item], difficulty: str) -> list[float]:
    """Each item's mean rank, from 1, by the metrics that `difficulty` names; ties share the mean of their ranks."""
    from scipy.stats import rankdata

    by_metric = [rankdata([METRICS[name](item) for item in items]) for name in difficulty.split("+")]
    return [float(sum(ranks)) / len(ranks) for ranks in zip(*by_metric, strict=True)]


def stages(items: Sequence[Item], curriculum: Curriculum, seed: int) -> list[list[int]]:
    """The indices of each stage's items, in random order; they depend on the arguments alone. Epochs of all items follow.

    Stage i of N has an N-th of each of the buckets 1 to i; no item is in two stages. Items of equal difficulty are ordered at
    random. Raises UsageError for fewer items than buckets.
    """
    count = curriculum.buckets
    if len(items) < count:
        raise UsageError(f"training.curriculum.buckets={count}: there are {len(items)} items to train on")
    random = Random(f"{seed}/curriculum")
    rank = difficulties(items, curriculum.difficulty)
    order = sorted(range(len(items)), key=lambda number: (rank[number], random.random()))
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
