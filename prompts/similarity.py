"""How alike train items are to items that are asked: by words (BM25), or by vectors of their texts.

Only what a prompt may show is compared, never what was done in the item.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.corpora.item import HexagonsItem, Item, Utterance

Matrix = NDArray[np.float64]

DIGITS = 5
"""Decimals of a similarity that count: below them, machines and batches differ."""

_WORD = re.compile(r"[a-z]+|\d+")


class Similarity(NamedTuple):
    """How alike each item is to each train item, and what says how alike two train items are."""

    scores: Matrix
    """(items, train), the larger the more alike; at least 0 for BM25, -1 to 1 otherwise."""
    vectors: Any
    """(train, width), rows of length 1, dense or sparse: the product of two is their cosine."""


def query_text(item: Item) -> str:
    """What an item asks for: HEXAGONS the instruction; Minecraft what was said since the builder last did something, or before it
    where nothing was."""
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


def by_words(train: Sequence[str], queries: Sequence[str]) -> Similarity:
    """BM25 (Lucene's, k1 1.5, b 0.75) of all queries in one sparse product. Words that no train text has count for nothing."""
    from scipy.sparse import csc_matrix, csr_matrix

    split = [words(text) for text in train]
    # Numbered in alphabetic order, so that sums come out the same in every process.
    known = {word: number for number, word in enumerate(sorted(set().union(*split)))}
    index = _bm25s().BM25(backend="numpy")
    index.index(([[known[word] for word in text] for text in split], known), show_progress=False)
    parts = index.scores
    width = len(parts["indptr"]) - 1  # Also a column for the empty text.
    weights = csc_matrix((parts["data"].astype(np.float64), parts["indices"], parts["indptr"]), (len(train), width)).tocsr()
    asked = [[known[word] for word in words(text) if word in known] for text in queries]
    counts = csr_matrix(
        (
            np.ones(sum(map(len, asked))),
            [number for text in asked for number in text],
            np.cumsum([0, *map(len, asked)]),
        ),
        (len(queries), width),
    )
    lengths = np.sqrt(weights.multiply(weights).sum(axis=1)).A1 if len(train) else np.zeros(0)
    unit = csr_matrix(weights.multiply(1 / np.maximum(lengths, 1e-9)[:, None]))
    return Similarity((counts @ weights.T).toarray(), unit)


def _bm25s() -> Any:
    """The library without its optional numba: vLLM cannot load a model where that was imported before."""
    numba = sys.modules.get("numba")
    if numba is None:
        sys.modules["numba"] = None  # type: ignore[assignment]
    try:
        return import_module("bm25s")
    finally:
        if numba is None:
            del sys.modules["numba"]


def by_vectors(train: NDArray[np.float32], queries: NDArray[np.float32]) -> Similarity:
    """Cosines of vectors of length 1: `train` (train, width) and `queries` (items, width)."""
    return Similarity(np.asarray(queries @ train.T, np.float64), train)
