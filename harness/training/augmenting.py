"""Baselines' training items that differ in every epoch, so that they cannot be learned by heart (adapters: `adapters.rows`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from harness.augmentation.paraphrase import lexicon
from harness.augmentation.variants import change, known_changes, variant
from harness.corpora.item import Item

Augment = Literal["none", "colors", "all"]
"""The key of a recipe. colors: other colors in each epoch; all: in Minecraft also other words and another orientation, in
HEXAGONS also half a turn where it is sure that what was said can be turned."""

Vary = Callable[[Item, int], Item]
"""What an item is in an epoch, counted from 0."""


def vary_by(augment: Augment, seed: int) -> Vary | None:
    """The same change for all items of a game or drawing procedure. It depends on the seed, the epoch and the game alone, so a
    run that was killed resumes with the same ones."""
    if augment == "none":
        return None
    words = lexicon() if augment == "all" else {}

    def vary(item: Item, epoch: int) -> Item:
        changes = known_changes(item.task) if augment == "all" else ("colors",)
        how = variant(item.task, item.cluster, epoch, seed, changes)
        changed = change(item, how, words) or change(item, how._replace(quarters=0), words)
        return replace(changed, id=item.id, cluster=item.cluster) if changed else item

    return vary
