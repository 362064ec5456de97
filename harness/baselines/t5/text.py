"""The inputs and targets of the T5 of HEXAGONS: items as text, and batches of tokens ("Draw Me a Flower", TACL 2022, 6.2)."""

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
from serialization.contexts import CONTEXTS, view
from serialization.formats import Format, get_format, grouped

PREFIX, SUFFIX = "simplify instructions: ", ". simplified instructions:"
"""The paper's words around the current instruction (section 6.1); its period stays, even after another one."""
BETWEEN = " | "
"""Between the board, the earlier instructions and the current one: the paper leaves the delimiter and this order open."""
OURS = "Which tiles does the last step paint?", "Tiles:"
"""The words around an input with the layout "numbered"."""
FROM_0: dict[str, Any] = {"write": partial(grouped.write, first=0), "parse": partial(grouped.parse, first=0), "first": 0}
IGNORED = -100
"""The target at padding, which the loss ignores."""


def _paper_context(name: str) -> str:
    context = CONTEXTS["hexagons"][name]
    if context.chat:
        raise UsageError(f"context={name}: give one of the paper's seven, such as full-history; this one is for chat models")
    return context.name


class Texts(Strict):
    """How items become text and how much of it is used. Raises UsageError for an unknown context or format."""

    context: Annotated[str, AfterValidator(_paper_context)]
    """One of the paper's seven contexts (`serialization.contexts`, Table 7)."""
    format: Annotated[str, AfterValidator(lambda name: get_format("hexagons", name).name)]
    """The answer's format; the paper's is "triplets"."""
    layout: Literal["paper", "numbered"] = "numbered"
    """The words of an input: the paper's, or numbered steps with headings, which the shipped weights learned, as did checkpoints
    without this key."""
    input_tokens: Positive
    """The maximum length of an input, in tokens; a longer one loses its beginning, that is, the prefix and the earliest text."""
    target_tokens: Positive
    """The maximum length of a target, in tokens, its end included; only the beginning of a longer one is learned."""
    answer_tokens: Positive
    """The maximum length of a prediction, in tokens."""

    @property
    def written(self) -> Format:
        """The format, with rows and columns counted from 0, as in the training of the shipped weights."""
        return replace(get_format("hexagons", self.format), **(FROM_0 if self.format == "grouped" else {}))

    def input_of(self, item: HexagonsItem) -> str:
        """One line: the current step, with the earlier ones and the board if the context has them, in a prefix and a suffix."""
        context = CONTEXTS["hexagons"][self.context]
        seen = view(item, context, self.written)
        *before, now = (" ".join(piece.text.split()) for piece in seen.pieces)
        if self.layout == "paper":
            return PREFIX + BETWEEN.join([*([_colors(item.before)] if context.board else []), *before, now]) + SUFFIX
        parts = [OURS[0]]
        if before:
            parts += ["Before:", *(f"{number}. {instruction}" for number, instruction in enumerate(before, seen.first))]
        if context.board:
            parts += ["Board:", _colors(item.before)]
        return " ".join(" ".join([*parts, "Now:", now, OURS[1]]).split())

    def words_of(self, item: HexagonsItem) -> int:
        """The length of an item's input and target, in words; it does not depend on the item's colors."""
        return len(self.input_of(item).split()) + len(self.written.write(item.actions).split())


def _colors(board: Board) -> str:
    """The colors of all tiles, row by row, as the paper writes them."""
    return ", ".join(COLORS[code] for code in board.cells.ravel())


class TextTokens(NamedTuple):
    """A tokenizer of the library `tokenizers`, and the tokens that pad a text, end it, and start the decoder."""

    tokenizer: Any
    pad: int
    end: int
    start: int

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, without the end token."""
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def read(self, ids: Sequence[int]) -> tuple[str, bool]:
        """The text of an answer, and whether it has an end token."""
        ended = self.end in ids
        own = list(ids[: ids.index(self.end)] if ended else ids)
        text: str = self.tokenizer.decode(own, skip_special_tokens=True)
        return text, ended


class TextBatch(NamedTuple):
    """Some items, padded: inputs and their mask, shape (items, longest input); the decoder's inputs (`given`) and targets, shape
    (items, longest target). Targets are `IGNORED` at padding."""

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
        written = [[*self.tokens.encode(self.texts.written.write(item.actions)), self.tokens.end] for item in items]
        targets = [target[: self.texts.target_tokens] for target in written]
        shifted = _padded([[self.tokens.start, *target[:-1]] for target in targets], self.tokens.pad)
        return TextBatch(inputs, mask, shifted, _padded(targets, IGNORED))

    def inputs(self, items: Sequence[HexagonsItem]) -> tuple[Tensor, Tensor]:
        """The padded inputs, and their mask: 1 for text, 0 for padding."""
        texts = [[*self.tokens.encode(self.texts.input_of(item)), self.tokens.end] for item in items]
        rows = [text[-self.texts.input_tokens :] for text in texts]
        return _padded(rows, self.tokens.pad), _padded([[1] * len(row) for row in rows], 0)

    def history(self, item: HexagonsItem) -> int:
        """The number of tokens of the instructions that the context shows: our reading of BAP v2's game history in HEXAGONS."""
        seen = view(item, CONTEXTS["hexagons"][self.texts.context], self.texts.written)
        return sum(len(self.tokens.encode(piece.text)) for piece in seen.pieces)


def _padded(rows: Sequence[Sequence[int]], filler: int) -> Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=filler)
