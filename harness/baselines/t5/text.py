"""What the T5 of HEXAGONS reads and writes: items as text, and batches of tokens ("Draw Me a Flower", TACL 2022, section 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

import torch
from pydantic import AfterValidator
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from harness.corpora.item import HexagonsItem
from harness.errors import UsageError
from harness.util.settings import Positive, Strict
from harness.worlds.hexagons import COLORS, Board
from serialization.contexts import get_context, view
from serialization.formats import Format, get_format, grouped

PREFIX, SUFFIX = "Which tiles does the last step paint?", "Tiles:"
"""Around each input. The paper has such a pair too; we do not have its words, so these are ours."""
FROM_0: dict[str, Any] = {
    "write": partial(grouped.write, first=0),
    "parse": partial(grouped.parse, first=0),
    "constraint": partial(grouped.constraint, 0),
    "first": 0,
}
IGNORED = -100
"""The target of a step without actions."""


def _paper_context(name: str) -> str:
    context = get_context("hexagons", name)
    if context.chat:
        raise UsageError(f"context={name}: give one of the paper's seven, such as full-history; this one is for chat models")
    return context.name


class Texts(Strict):
    """How items become text and how much of it is used. Raises UsageError for a context or a format that does not exist."""

    context: Annotated[str, AfterValidator(_paper_context)]
    """One of the paper's seven (`serialization.contexts`, Table 7)."""
    format: Annotated[str, AfterValidator(lambda name: get_format("hexagons", name).name)]
    """The answer's format; the paper's is "triplets"."""
    board: Literal["colors", "grouped"]
    """How a context's board is written: the colors of its 180 tiles, as in the paper, or the painted tiles as in the format
    "grouped", which takes about a quarter of the tokens and names each tile's coordinates."""
    input_tokens: Positive
    """Longest input; of a longer one only the end is read, so the prefix and the earliest text are lost."""
    target_tokens: Positive
    """Longest target, its end included; of a longer one only the beginning is learned."""
    answer_tokens: Positive
    """Longest prediction."""

    @property
    def written(self) -> Format:
        """The format, with rows and columns counted from 0: so were the shipped weights trained."""
        return replace(get_format("hexagons", self.format), **(FROM_0 if self.format == "grouped" else {}))

    def input_of(self, item: HexagonsItem) -> str:
        """One line: `PREFIX`, the earlier steps, the board, the current step, `SUFFIX`; what a context has not is left out."""
        context = get_context("hexagons", self.context)
        seen = view(item, context, self.written)
        parts = [PREFIX]
        *before, now = (piece.text for piece in seen.pieces)
        if before:
            parts += ["Before:", *(f"{number}. {instruction}" for number, instruction in enumerate(before, seen.first))]
        if context.board:
            parts += ["Board:", _tiles(item.before) if self.board == "colors" else _grouped(item.before)]
        parts += ["Now:", now, SUFFIX]
        return " ".join(" ".join(parts).split())

    def target_of(self, item: HexagonsItem) -> str:
        return self.written.write(item.actions)

    def words_of(self, item: HexagonsItem) -> int:
        """The length of an item in words; its colors do not change it."""
        return len(self.input_of(item).split()) + len(self.target_of(item).split())


def _grouped(board: Board) -> str:
    painted = tuple(board.painted())
    return grouped.write(painted, first=0) if painted else "blank"


def _tiles(board: Board) -> str:
    """The colors of all tiles, row by row. The commas between rows are ours."""
    return ", ".join(" ".join(COLORS[code] for code in row) for row in board.cells)


class TextTokens(NamedTuple):
    """A tokenizer of the library tokenizers, and the tokens around texts: what pads them, ends them, and starts an answer."""

    tokenizer: Any
    pad: int
    end: int
    start: int

    def encode(self, text: str) -> list[int]:
        """Without its end."""
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def read(self, ids: Sequence[int]) -> tuple[str, bool]:
        """The text of an answer, and whether it came to its end."""
        ended = self.end in ids
        own = list(ids[: ids.index(self.end)] if ended else ids)
        text: str = self.tokenizer.decode(own, skip_special_tokens=True)
        return text, ended


class TextBatch(NamedTuple):
    """Some items, padded: what is read, (items, input), what of it is text, what the decoder is given and should say, (items,
    target), the latter `IGNORED` in padding."""

    inputs: Tensor
    mask: Tensor
    given: Tensor
    targets: Tensor


class Coder:
    """Makes batches of items."""

    def __init__(self, texts: Texts, tokens: TextTokens) -> None:
        self.texts, self.tokens = texts, tokens

    def __call__(self, items: Sequence[HexagonsItem]) -> TextBatch:
        inputs, mask = self.inputs(items)
        targets = [self.target(item)[: self.texts.target_tokens] for item in items]
        shifted = _padded([[self.tokens.start, *target[:-1]] for target in targets], self.tokens.pad)
        return TextBatch(inputs, mask, shifted, _padded(targets, IGNORED))

    def inputs(self, items: Sequence[HexagonsItem]) -> tuple[Tensor, Tensor]:
        """The tokens of what is read, padded, and 1 where they are text, 0 where not."""
        rows = [self.input(item)[-self.texts.input_tokens :] for item in items]
        return _padded(rows, self.tokens.pad), _padded([[1] * len(row) for row in rows], 0)

    def input(self, item: HexagonsItem) -> list[int]:
        """Uncut, its end included."""
        return [*self.tokens.encode(self.texts.input_of(item)), self.tokens.end]

    def target(self, item: HexagonsItem) -> list[int]:
        """Uncut, its end included."""
        return [*self.tokens.encode(self.texts.target_of(item)), self.tokens.end]


def _padded(rows: Sequence[Sequence[int]], filler: int) -> Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=filler)
