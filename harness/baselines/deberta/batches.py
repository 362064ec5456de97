"""From drawing steps to the tensors of the HEXAGONS tile classifier: texts and the tiles' labels.

A context (`serialization.contexts`) decides which earlier instructions are in the text and whether the board is shown. The
board is always the item's `before`; for a predicted board, the caller has put the prediction there.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from harness.baselines.deberta.network import FARTHEST, NO_ACTION, TileBatch, TileTexts
from harness.baselines.rules.baseline import placed_words
from harness.corpora.item import HexagonsItem, Utterance
from harness.errors import UsageError
from harness.worlds.hexagons import CODES, COLORS, COLUMNS, ROWS, TILES, Paint, on_board
from serialization.contexts import Context

_ROOM = 64
"""The number of instruction tokens that must fit into an encoder's text in addition to everything else."""

Tokens = list[int]
Ints = npt.NDArray[np.int64]


class TextToken(NamedTuple):
    """A token of an instruction."""

    id: int
    number: int = 0
    """The number, 1 to 18, if the token's word is a cardinal or ordinal; otherwise 0."""
    color: int = 0
    """1 + the color's code if the token's word is a color; otherwise 0."""


T = TypeVar("T")


def tile_labels(items: Sequence[HexagonsItem]) -> Ints:
    """The tiles' labels, shape (items, 180), row by row: `NO_ACTION`, or 1 + the code of the color of a gold action."""
    labels = np.full((len(items), TILES), NO_ACTION)
    for row, item in zip(labels, items, strict=True):
        for action in item.actions:
            if on_board(*action.tile):
                row[action.row * COLUMNS + action.column] = 1 + CODES[action.color]
    return labels


def tile_actions(labels: Ints) -> list[Paint]:
    """The actions of one item's 180 labels, by row and column."""
    return [Paint(*divmod(int(tile), COLUMNS), COLORS[labels[tile] - 1]) for tile in np.flatnonzero(labels)]


def instructions(item: HexagonsItem, context: Context) -> list[str]:
    """The instructions that the context shows, the current one last."""
    texts = [turn.text for turn in item.history if isinstance(turn, Utterance)]
    earlier = texts if context.turns is None else texts[max(0, len(texts) - context.turns) :]
    return [*earlier, item.instruction]


def fitted(instructions: Sequence[list[T]], room: int, apart: int) -> list[list[T]]:
    """The last instructions that fit into `room` tokens, oldest first; each earlier one takes `apart` more tokens.

    The current instruction is always included, and cut if it alone is longer than the room.
    """
    *earlier, current = instructions
    turns = [current[:room]]
    left = room - len(turns[0])
    for turn in reversed(earlier):
        left -= len(turn) + apart
        if left < 0:
            break
        turns.insert(0, turn)
    return turns


class InstructionReader:
    """Turns the texts of a context into an encoder's tokens; holds its special tokens to begin a text and to separate parts."""

    def __init__(self, tokenizer: Any, encoder: Any, context: Context) -> None:
        self.tokenizer, self.context = tokenizer, context
        self.limit = min(int(encoder.config.max_position_embeddings), tokenizer.model_max_length)
        # Llama tokenizers have neither of BERT's special tokens.
        first, last = (tokenizer.cls_token_id, tokenizer.sep_token_id)
        self.first: int = tokenizer.bos_token_id if first is None else first
        self.apart: int = tokenizer.eos_token_id if last is None else last
        self.padding: int = tokenizer.pad_token_id or 0

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        ids: list[Tokens] = self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return ids

    def history(self, item: HexagonsItem) -> int:
        """The number of tokens of the instructions that the context shows: our reading of BAP v2's game history in HEXAGONS."""
        return sum(map(len, self.tokens(instructions(item, self.context))))

    def instructions_of(self, items: Sequence[HexagonsItem]) -> list[list[list[TextToken]]]:
        """The tokens of each item's `instructions`."""
        texts = [instructions(item, self.context) for item in items]
        flat = list(chain(*texts))
        read = self.tokenizer(flat, add_special_tokens=False, return_offsets_mapping=True)
        every = map(_marked, flat, read["input_ids"], read["offset_mapping"])
        return [[next(every) for _ in own] for own in texts]


def _marked(text: str, ids: Sequence[int], places: Sequence[tuple[int, int]]) -> list[TextToken]:
    """The tokens of a text; `places` are their character spans."""
    by_end: dict[int, tuple[int, int]] = {}
    for (start, end), word in placed_words(text):
        number = word.number if word.letter in "ON" and word.number <= COLUMNS else 0
        color = 1 + CODES[word.color] if word.color else 0
        if number or color:
            by_end |= dict.fromkeys(range(start + 1, end + 1), (number, color))
    # Matched by the token's end, because a token may begin with the blank before its word.
    return [TextToken(token, *by_end.get(end, (0, 0))) for token, (_, end) in zip(ids, places, strict=True)]


class QueryCollator:
    """Makes batches with one text per item: all instructions, each followed by a delimiter."""

    def __init__(self, reader: InstructionReader) -> None:
        self.reader = reader

    def __call__(self, items: Sequence[HexagonsItem]) -> TileBatch:
        reader = self.reader
        rows: list[list[tuple[int, ...]]] = []
        for instructions in reader.instructions_of(items):
            recent = fitted(instructions, reader.limit - 2, apart=1)
            turns = [(min(len(recent) - 1 - n, FARTHEST), [*turn, TextToken(reader.apart)]) for n, turn in enumerate(recent)]
            begin = (*TextToken(reader.first), turns[0][0], 0)
            rows.append([begin, *((*token, back, place) for back, turn in turns for place, token in enumerate(turn))])
        padded, mask = _padded(rows, (*TextToken(reader.padding), 0, 0))
        tokens, numbers, colors, turns_back, places = padded.unbind(-1)
        board = np.zeros((len(items), TILES), np.int64)
        if reader.context.board:
            board = np.stack([item.before.cells.ravel() for item in items]).astype(np.int64)
        labels = torch.from_numpy(tile_labels(items))
        return TileBatch(tokens, mask, numbers, colors, turns_back, places, torch.from_numpy(board), labels)


class TileCollator:
    """Makes batches with 180 texts an item, one a tile.

    A text has the earlier instructions, the current one after the tile's row and column, and, if the context has it, the board as
    180 color names with commas, the tile's own between TARGET_S and TARGET_E; a delimiter ends each of them (section 6.1). The
    paper leaves open the order of these parts, the delimiter and where rows and columns begin: at 0, as in its triplets.
    """

    def __init__(self, reader: InstructionReader) -> None:
        """Raises UsageError for an encoder whose maximum length is too short."""
        self.reader = reader
        self.places = reader.tokens([f"{row} {column}" for row in range(ROWS) for column in range(COLUMNS)])
        self.colors = reader.tokens([f" {color}," for color in COLORS])
        self.left, self.right = reader.tokens([" TARGET_S,", " TARGET_E,"])
        longest = len(self._board([max(range(len(COLORS)), key=lambda code: len(self.colors[code]))] * TILES, 0))
        self.around = 2 + max(map(len, self.places)) + (longest + 1 if reader.context.board else 0)
        if reader.limit < self.around + _ROOM:
            raise UsageError(
                f"encoder.name: its texts have at most {reader.limit} tokens; variant paper in context {reader.context.name} "
                f"needs {self.around + _ROOM}"
            )

    def __call__(self, items: Sequence[HexagonsItem]) -> TileTexts:
        texts = [text for item in items for text in self._texts(item)]
        tokens, mask = _padded(texts, self.reader.padding)
        shape = (len(items), TILES, -1)
        return TileTexts(tokens.view(shape), mask.view(shape), torch.from_numpy(tile_labels(items)))

    def _texts(self, item: HexagonsItem) -> Iterable[Tokens]:
        reader, apart = self.reader, self.reader.apart
        *before, now = instructions(item, reader.context)
        *earlier, current = fitted(reader.tokens([*before, f" {now}"]), reader.limit - self.around, apart=1)
        history = [token for turn in earlier for token in (*turn, apart)]
        codes = item.before.cells.ravel().tolist()
        for tile, place in enumerate(self.places):
            board = [*self._board(codes, tile), apart] if reader.context.board else []
            yield [reader.first, *history, *place, *current, apart, *board]

    def _board(self, codes: Sequence[int], tile: int) -> Tokens:
        names = [self.colors[code] for code in codes]
        return list(chain(*names[:tile], self.left, names[tile], self.right, *names[tile + 1 :]))[:-1]  # no comma at the end


def _padded(rows: Sequence[Sequence[Any]], padding: Any) -> tuple[Tensor, Tensor]:
    """The rows as one padded tensor, and its mask."""
    lengths = torch.tensor([len(row) for row in rows])
    longest = int(lengths.max())
    padded = torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows])
    return padded, torch.arange(longest) < lengths[:, None]
