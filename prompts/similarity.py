"""How alike train items are to items that are asked: by words (BM25), by a structure's features, or by vectors of their texts.

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
from harness.worlds import hexagons, minecraft

Matrix = NDArray[np.float64]

DIGITS = 5
"""Decimals of a similarity that count: below them, machines and batches differ."""

_WORD = re.compile(r"[a-z]+|\d+")
_WORDS = """
first second third fourth fifth sixth seventh eighth ninth tenth last next previous one two three four five six seven eight nine
ten left right top bottom up down upper lower above below under over on behind front between middle center inside outside around
adjacent touching beside edge corner side end row column diagonal horizontal vertical away toward towards
every other all each same again repeat alternate mirror opposite
tile tiles block blocks line stripe ring circle flower triangle square rectangle hexagon star cross diamond tower stack wall floor
arch bridge bell letter chain zigzag path arm leg step stairs
paint color draw make fill leave place put add build remove destroy take pick break start move skip
"""
TELLING = frozenset(_WORDS.split()) | {*hexagons.COLORS, *minecraft.COLORS}
"""The words whose presence makes two instructions alike in structure."""


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


def by_structure(train: Sequence[Item], queries: Sequence[Item], *, boards: bool) -> Similarity:
    """Half for the telling words, the rare ones more; half for the state before, if `boards` says that a prompt shows it."""
    told, asked = (np.array([_told(item) for item in items]).reshape(len(items), len(TELLING)) for items in (train, queries))
    rare = np.log((1 + len(train)) / (1 + (told > 0).sum(axis=0))) + 0.1
    parts = [(_unit(told * rare), _unit(asked * rare))]
    if boards:
        parts.append((_unit(np.array([_seen(item) for item in train])), _unit(np.array([_seen(item) for item in queries]))))
    share = 1 / np.sqrt(len(parts))
    mine, theirs = (np.concatenate([pair[side] for pair in parts], axis=1) * share for side in (0, 1))
    return Similarity(theirs @ mine.T, mine)


_TOLD = {word: number for number, word in enumerate(sorted(TELLING))}


def _told(item: Item) -> NDArray[np.float64]:
    row = np.zeros(len(TELLING))
    for word in words(query_text(item)):
        if word in _TOLD:
            row[_TOLD[word]] = 1
    return row


def _seen(item: Item) -> NDArray[np.float64]:
    """Features of the state before: whether it is blank, how much there is, of which colors, and roughly where."""
    cells = np.asarray(item.before.cells)
    if isinstance(item, HexagonsItem):
        cells = cells.reshape(hexagons.ROWS, hexagons.COLUMNS)
        thirds = [part for rows in np.array_split(cells, 3) for part in np.array_split(rows, 3, axis=1)]
        extra = []
    else:
        thirds = np.array_split(cells, 3, axis=0) + np.array_split(cells, 3, axis=1) + np.array_split(cells, 3, axis=2)
        extra = [float(item.pose.quarter == quarter) / 2 for quarter in range(4)]
    painted = int((cells > 0).sum())
    amount = np.log2(1 + painted)
    bins = [float(np.exp(-((amount - center) ** 2))) for center in range(9)]
    colors = np.bincount(cells.ravel(), minlength=9)[1:9] > 0
    places = [float((part > 0).sum()) / max(painted, 1) for part in thirds]
    return np.array([float(painted == 0), *bins, *colors / 2, *places, *extra])


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return unit
