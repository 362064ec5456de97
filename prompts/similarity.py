"""How similar train items are to the items that are asked, by the words (BM25) or the embeddings of their texts.

Only text that a prompt may show is compared, never what was done in the item.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.corpora.item import HexagonsItem, Item, Utterance
from prompts.shots import by_seed

Matrix = NDArray[np.float64]

_DIGITS = 5
"""Decimals of a similarity that count: further ones differ between machines and batches."""

_WORD = re.compile(r"[a-z]+|\d+")


def ranked(
    train: Sequence[Item], items: Sequence[Item], seed: int, embed: Callable[[Sequence[str]], Any] | None = None
) -> Iterator[Iterator[Item]]:
    """For each item, the train items, the most similar first; equals are in the order of the seed. Texts are compared by the
    embeddings that `embed` makes or, without it, by words."""
    known, asked = [query_text(item) for item in train], [query_text(item) for item in items]
    alike = by_embeddings(known, asked, embed) if embed else by_words(known, asked)
    key = by_seed(seed)
    ties = np.empty(len(train), np.int64)
    ties[sorted(range(len(train)), key=lambda n: key(train[n]))] = np.arange(len(train))
    for row in np.round(alike, _DIGITS):
        yield (train[n] for n in np.lexsort((ties, -row)))


def query_text(item: Item) -> str:
    """The text of an item's request. HEXAGONS: the instruction; Minecraft: what was said since the builder last acted, or, if
    nothing was, what was said before."""
    if isinstance(item, HexagonsItem):
        return item.instruction
    said: list[str] = []
    for turn in reversed(item.history):
        if isinstance(turn, Utterance):
            said.append(turn.text)
        elif said:
            break
    return "\n".join(reversed(said))


def words(text: str) -> list[str]:
    """Lower-case words and numbers."""
    return _WORD.findall(text.lower())


def by_words(train: Sequence[str], queries: Sequence[str]) -> Matrix:
    """BM25 (Lucene's, k1 1.5, b 0.75), shape (queries, train), at least 0. Words that no train text has are ignored."""
    split = [words(text) for text in train]
    # Numbered in alphabetic order, so that sums come out the same in every process.
    known = {word: number for number, word in enumerate(sorted(set().union(*split)))}
    index = _bm25s().BM25(backend="numpy", dtype="float64")
    index.index(([[known[word] for word in text] for text in split], known), show_progress=False)
    asked = ([known[word] for word in words(text) if word in known] for text in queries)
    return np.array([index.get_scores_from_ids(numbers) for numbers in asked])


def by_embeddings(train: Sequence[str], queries: Sequence[str], embed: Callable[[Sequence[str]], Any]) -> Matrix:
    """Cosines, shape (queries, train). `embed` makes vectors of length 1, shape (texts, width)."""
    cosines: Matrix = (embed(queries) @ embed(train).T).astype(float)
    return cosines


def _bm25s() -> Any:
    """The library bm25s without its optional numba: vLLM cannot load a model after numba was imported."""
    numba = sys.modules.get("numba")
    if numba is None:
        sys.modules["numba"] = None  # type: ignore[assignment]
    try:
        return import_module("bm25s")
    finally:
        if numba is None:
            del sys.modules["numba"]
