"""Surface statistics of items, to compare synthetic with real ones: words, their variety, and numbers of actions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.corpora.item import Executed, HexagonsItem, Item, Utterance

_TOKEN = re.compile(r"\w+|[^\w\s]")
_BINS = ((0, "0"), (1, "1"), (5, "2-5"), (10, "6-10"), (20, "11-20"), (50, "21-50"), (100, "51-100"))
_MORE = "101+"


class Spread(NamedTuple):
    """Percentiles 50, 90 and 99 of some counts, and their mean; all 0 without counts."""

    p50: int
    p90: int
    p99: int
    mean: float


class Surface(NamedTuple):
    """The surface of some items."""

    items: int
    utterances: int
    words: Spread
    """Words, divided by blanks, of an utterance."""
    type_token_ratio: float | None
    """Type-token ratio, 0..1, the mean over parts of equal length; None if the texts are too short."""
    actions: Mapping[str, float]
    """The share of the items, 0..1, by their number of actions: "0", "1", "2-5", ..., "101+"."""
    mean_actions: float
    sequence: Spread
    """Items per drawing procedure or game."""


def surface(items: Iterable[Item], tokens: int = 10_000) -> Surface:
    """The statistics of some items.

    An utterance counts for the item that it is new to: the instruction of a drawing step; what was said since the builder
    acted last. Tokens are words and single punctuation marks in small letters; their ratio is taken over parts of `tokens`
    tokens, so that it does not depend on how many items there are.
    """
    utterances, lengths, sequences = list[str](), list[int](), Counter[str]()
    for item in items:
        utterances += [turn.text for turn in new_turns(item)]
        lengths.append(len(item.actions))
        sequences[item.cluster] += 1
    bins = Counter(map(_bin, lengths))
    count = len(lengths)
    return Surface(
        items=count,
        utterances=len(utterances),
        words=spread([len(text.split()) for text in utterances]),
        type_token_ratio=_ratio([token for text in utterances for token in _TOKEN.findall(text.lower())], tokens),
        actions={name: bins[name] / count if count else 0.0 for name in (*(name for _, name in _BINS), _MORE)},
        mean_actions=sum(lengths) / count if count else 0.0,
        sequence=spread(list(sequences.values())),
    )


def new_turns(item: Item) -> Iterator[Utterance]:
    """What was said since the last actions, in order."""
    if isinstance(item, HexagonsItem):
        yield Utterance("Instructor", item.instruction)
        return
    done = [n for n, turn in enumerate(item.history) if isinstance(turn, Executed)]
    yield from (turn for turn in item.history[done[-1] + 1 if done else 0 :] if isinstance(turn, Utterance))


def spread(counts: Sequence[int]) -> Spread:
    if not counts:
        return Spread(0, 0, 0, 0.0)
    ordered = sorted(counts)
    p50, p90, p99 = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.9, 0.99))
    return Spread(p50, p90, p99, sum(ordered) / len(ordered))


def _bin(length: int) -> str:
    return next((name for most, name in _BINS if length <= most), _MORE)


def _ratio(tokens: Sequence[str], size: int) -> float | None:
    parts = [tokens[start : start + size] for start in range(0, len(tokens) - size + 1, size)]
    return sum(len(set(part)) for part in parts) / (size * len(parts)) if parts else None
