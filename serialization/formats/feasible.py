"""Feasible answers in Minecraft: what may follow a text so that each action can be carried out when its turn comes.

A grammar (`Format.constraint`) knows the format only. `Feasible` also knows the structure after the actions written so far: a
block is placed in an empty cell that is on the ground or touches another block, and is picked from a filled cell (BAP's rule
of constrained decoding). HEXAGONS needs only the grammar, because every tile can be painted at any time.
"""

import json
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from harness.corpora.item import MinecraftItem
from harness.corpora.records import BlockRecord
from harness.worlds.minecraft import COLORS, SHAPE, SIDE, Action, Cell, Pose, Structure
from serialization.formats import calls, lines, tools
from serialization.formats import json as json_format
from serialization.formats.answer import NOTHING
from serialization.pose import as_seen

Pieces = Mapping[str, Action]
"""The texts of the feasible next pieces, each with its action."""


class _Style(NamedTuple):
    """How a format joins the texts of actions: `opening`, the texts separated by `between`, `closing`."""

    opening: str
    between: str
    closing: str
    nothing: str


_LINES = _Style("", "\n", "", NOTHING)
_STYLES = {"lines": _LINES, "calls": _LINES, "tools": _LINES, "json": _Style("[[", "], [", "]]", "[]")}
_WRITERS: dict[str, Callable[[list[Action]], str]] = {
    "lines": lines.write,
    "calls": calls.write,
    "tools": partial(tools.write, "minecraft"),
    "json": lambda one: json_format.write(one)[2:-2],
}

FORMATS = frozenset(_STYLES)
"""The formats whose answers can be constrained to feasible actions; programs are run as a whole."""

MOST_PIECES = 256
"""The most pieces of an answer: after them, only its end may follow. The longest turn of the corpora has 78 actions."""
MOST_JSON = 50_000
"""The most characters of a state as JSON; a region full of blocks takes half of them."""


_Place = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]
_Angle = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]


class _StateRecord(BaseModel):
    """What `Feasible.to_json` writes. Its sizes bound what a state costs whoever reads it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    format: str
    blocks: Annotated[list[BlockRecord], FailFast(), Field(max_length=math.prod(SHAPE))]
    opening: str = Field("", max_length=64, pattern=r"^\s*$")
    pose: tuple[_Place, _Place, _Place, _Angle, _Angle] | None = None


class Feasible:
    """The feasible answers to one item, in the item's own frame.

    Raises KeyError if `format_name` is not in FORMATS.
    """

    def __init__(self, format_name: str, structure: Structure, opening: str = "", pose: Pose | None = None) -> None:
        """`opening` precedes every answer, such as the blank that a template leaves to the answer. With a `pose`, cells are
        written as seen from it (`serialization.pose`)."""
        style = _STYLES[format_name]
        self._format, self._start, self._opening, self._pose = format_name, structure, opening, pose
        self._style = style._replace(opening=opening + style.opening, nothing=opening + style.nothing)
        self._done: list[str] = []
        self._structure = structure
        self._next: Pieces | None = None

    @classmethod
    def of_item(cls, format_name: str, item: MinecraftItem, opening: str = "", *, posed: bool = False) -> "Feasible":
        return cls(format_name, item.before, opening, item.pose if posed else None)

    def to_json(self) -> str:
        """The state and the format as JSON, for another process."""
        blocks = [list(block) for block in self._start.blocks()]
        pose = self._pose and list(self._pose)
        return json.dumps({"format": self._format, "blocks": blocks, "opening": self._opening, "pose": pose})

    @classmethod
    def from_json(cls, text: str) -> "Feasible":
        """The inverse of `to_json`. Raises ValueError for an invalid text."""
        if not isinstance(text, str) or len(text) > MOST_JSON:
            raise ValueError(f"not a state: no text of at most {MOST_JSON:,} characters")
        try:
            said = _StateRecord.model_validate_json(text)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = ".".join(map(str, fault["loc"]))
            raise ValueError(f"not a state: {place + ': ' if place else ''}{fault['msg']}") from None
        if said.format not in FORMATS:
            raise ValueError(f"not a state: no format {said.format[:80]!r}")
        return cls(said.format, Structure.of(said.blocks), said.opening, said.pose and Pose(*said.pose))

    def whole(self, text: str) -> bool:
        """Whether the text is a feasible answer as it stands."""
        style = self._style
        if text == style.nothing:
            return True
        if not (text.startswith(style.opening) and text.endswith(style.closing)):
            return False
        body = text[len(style.opening) : len(text) - len(style.closing)]
        done, _, rest = body.rpartition(style.between)
        pieces = self._pieces(done)
        return pieces is not None and rest in pieces

    def continuations(self, text: str, most: int) -> frozenset[str]:
        """The first `most` characters of everything that may follow the text in a feasible answer.

        Empty if nothing may follow: the text is then complete, or it does not begin any feasible answer.
        """
        style = self._style
        following = {style.nothing[len(text) :]} if style.nothing.startswith(text) else set[str]()
        if text.startswith(style.opening):
            done, _, rest = text[len(style.opening) :].rpartition(style.between)
            following |= self._after(done, rest)
        elif style.opening.startswith(text):
            following |= {style.opening[len(text) :] + next_ for next_ in self._after("", "")}
        return frozenset(after[:most] for after in following if after)

    def _after(self, done: str, rest: str) -> set[str]:
        """What may follow the pieces of `done` and `rest`, the beginning of another piece."""
        pieces = self._pieces(done)
        if pieces is None:
            return set()
        more = len(self._done) + 1 < MOST_PIECES
        ends = (self._style.between, self._style.closing) if more else (self._style.closing,)
        following = {piece[len(rest) :] + end for piece in pieces if piece.startswith(rest) for end in ends}
        # The rest may be a complete piece and the first characters of the separator or the closing.
        for end in ends:
            for size in range(1, len(end)):
                if rest.endswith(end[:size]) and rest[:-size] in pieces:
                    following.add(end[size:])
        return following

    def _pieces(self, text: str) -> Pieces | None:
        """The feasible pieces after the pieces of the text; None if those are infeasible.

        Only the last state is kept: an answer is asked about as it grows.
        """
        done = text.split(self._style.between) if text else []
        if self._next is None or done[: len(self._done)] != self._done:
            self._done, self._structure = [], self._start
            self._next = self._possible(self._start)
        for piece in done[len(self._done) :]:
            if (action := self._next.get(piece)) is None:
                return None
            self._structure = self._structure.apply([action]).structure
            self._done.append(piece)
            self._next = self._possible(self._structure)
        return self._next

    def _possible(self, structure: Structure) -> Pieces:
        picks, places = _feasible(structure)
        removals = [Action("remove", None, *cell) for cell in picks]
        placements = [Action("place", color, *cell) for color in COLORS for cell in places]
        pieces = {_WRITERS[self._format]([action]): action for action in removals + placements}
        return {as_seen(text, self._pose): action for text, action in pieces.items()} if self._pose else pieces


def _feasible(structure: Structure) -> tuple[list[Cell], list[Cell]]:
    """The cells from which a block can be picked and the cells in which one can be placed, as in `Structure.feasible`."""
    filled = np.pad(structure.cells > 0, 1)
    held = np.zeros_like(filled)
    for axis in range(3):
        held |= np.roll(filled, 1, axis) | np.roll(filled, -1, axis)
    held[:, 1] = True
    inside = (slice(1, -1),) * 3
    filled, held = filled[inside], held[inside]
    picks, places = ([(x - SIDE, y + 1, z - SIDE) for x, y, z in np.argwhere(at).tolist()] for at in (filled, held & ~filled))
    return picks, places
