"""Augmented training items: other colors, other words, another orientation (BAP v2, section 2.5).

Each change alone or all together, in this order: colors are permuted, words replaced from a lexicon, everything turned. Random
choices are made once for a variant of a whole game (HEXAGONS: of a drawing procedure), so the history fits. HEXAGONS items change
their colors only.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from random import Random
from typing import Any, NamedTuple

from harness.augmentation.colors import permute_colors, random_colors
from harness.augmentation.paraphrase import Lexicon, paraphrase
from harness.corpora.item import Item, MinecraftItem, Utterance, turn_minecraft
from harness.errors import UsageError
from harness.tasks.registry import TASKS, world_of
from harness.util.registry import choose

CHANGES = {"minecraft": ("colors", "words", "turn"), "hexagons": ("colors",)}
VARIANTS = 20
"""Variants per game from which items are drawn, as in the original (its README; 4x is the best factor there)."""


def known_changes(task: str) -> tuple[str, ...]:
    """The kinds of changes that a task's items may have: a task that names compass directions has no turns."""
    return tuple(name for name in CHANGES[world_of(task)] if name != "turn" or not TASKS[task].compass)


class Variant(NamedTuple):
    """The changes of a game: new colors, the seed for its words, quarter turns. None and 0 change nothing."""

    number: int
    colors: dict[str, str] | None
    words: str | None
    quarters: int

    @property
    def effect(self) -> tuple[Any, ...]:
        """A key for what it changes: equal for variants that do the same."""
        new = [*self.colors.items()] if self.colors else []
        return tuple(pair for pair in new if pair[0] != pair[1]), self.words, self.quarters


_NO_EFFECT = ((), None, 0)


def variant(task: str, game: str, number: int, seed: int, changes: Collection[str]) -> Variant:
    """The variant of a game with the given number; permutations and turns are drawn uniformly."""
    name = f"{seed}/{game}/{number}"
    rng = Random(name)
    colors, quarters = random_colors(task, rng), rng.choice((0, 1, 2, -1))
    new_colors, words = colors if "colors" in changes else None, name if "words" in changes else None
    return Variant(number, new_colors, words, quarters if "turn" in changes else 0)


def change(item: Item, how: Variant, lexicon: Lexicon | None = None) -> Item:
    """The changed item, with a new id and cluster and the same group; `meta` gets "augmented", its id before and the variant."""
    changed = item if how.colors is None else permute_colors(item, how.colors)
    if isinstance(changed, MinecraftItem):
        if how.words is not None:
            changed = _reworded(changed, how.words, lexicon or {})
        if how.quarters:
            changed = turn_minecraft(changed, how.quarters)
    head, _, last = item.id.rpartition("/")
    task, _, rest = head.partition("/")
    name = f"{task}-augmented/{rest}/{how.number}"
    # A thought may name colors, words and cells that are others now.
    kept = {key: value for key, value in item.meta.items() if key != "thought"}
    meta = kept | {"augmented": {"of": item.id, **how._asdict(), "words": how.words is not None}}
    return replace(changed, id=f"{name}/{last}", cluster=name, meta=meta)


def _reworded(item: MinecraftItem, words: str, lexicon: Lexicon) -> MinecraftItem:
    """Words are drawn by the index of their turn in the history, so they are the same in all items of the game."""
    history = list(item.history)
    for n, turn in enumerate(history):
        if isinstance(turn, Utterance):
            history[n] = turn._replace(text=paraphrase(turn.text, lexicon, Random(f"{words}/{n}")))
    return replace(item, history=tuple(history))


def augment(
    items: Sequence[Item],
    seed: int,
    factor: int,
    *,
    changes: Collection[str] | None = None,
    lexicon: Lexicon | None = None,
    whole: bool = False,
) -> Iterator[Item]:
    """The items of whole games, then `factor - 1` times as many drawn without replacement from their variants; with `whole`,
    all items of the first `factor - 1` variants, so that a variant is a game again.

    If `changes` names none, all kinds of changes of the task are made. Every drawn item is changed, and no two are the same
    change of an item. The same arguments give the same items. Raises UsageError for a change that the task does not have, and
    if there are not enough variants.
    """
    if not items:
        return iter(())
    task = items[0].task
    known = known_changes(task)
    changes = known if not changes else [choose(f"change of {task}", name, known) for name in changes]
    variants = cache(lambda game, number: variant(task, game, number, seed, changes))
    if whole:
        pairs = [(variants(item.cluster, k), n) for k in range(factor - 1) for n, item in enumerate(items)]
        drawn = [(how, n) for how, n in pairs if how.effect != _NO_EFFECT]
    else:
        drawn = _draw(items, variants, seed, (factor - 1) * len(items), changes)
    return chain(items, (change(items[n], how, lexicon) for how, n in drawn))


def _draw(
    items: Sequence[Item], variants: Callable[[str, int], Variant], seed: int, count: int, changes: Collection[str]
) -> list[tuple[Variant, int]]:
    """`count` random pairs of a variant and an item's index, sorted by variant and item."""
    order = list(range(VARIANTS * len(items)))
    Random(f"{seed}/augment").shuffle(order)
    chosen, seen = list[tuple[Variant, int]](), set[Any]()
    for place in order:
        if len(chosen) == count:
            break
        number, n = divmod(place, len(items))
        how = variants(items[n].cluster, number)
        if (n, how.effect) not in seen and how.effect != _NO_EFFECT:
            seen.add((n, how.effect))
            chosen.append((how, n))
    if len(chosen) < count:
        raise UsageError(
            f"{count:,} changed items are wanted, but {' and '.join(changes)} make {len(chosen):,} of {len(items):,} items; "
            "use a smaller factor or more kinds of changes"
        )
    return sorted(chosen, key=lambda pair: (pair[0].number, pair[1]))
