"""The memory of a drawing procedure: the board, where the last words led, and what each step did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.baselines.parser.hexagons.meaning import Term
from harness.worlds.hexagons import Paint, Tile

Cells = dict[tuple[int, int], str]
"""The tiles that are not white, with their colors."""


DEEPEST = 12
"""Steps that may be repeated within each other."""
MOST_AGAIN = 2_000
"""Actions of earlier steps that one step may carry out again: repetitions of repetitions multiply."""
MOST_PAINTED = 20_000
"""Tiles that one step may paint, each as often as it is painted; the board has 180."""


class NoMeaningError(Exception):
    """An action means nothing here: it refers to what does not exist."""


@dataclass(frozen=True, slots=True)
class ExecutedInstruction:
    """An instruction that was carried out."""

    actions: tuple[Term, ...]
    painted: tuple[Paint, ...]
    """What it painted, in order, including tiles that already had the color."""
    latest: dict[Tile, Paint] = field(default_factory=dict, compare=False)
    """The same, each tile once, in the color that it got last."""
    columns: tuple[int, ...] = ()
    """The columns it mentioned last."""
    center: Tile | None = None
    """What it drew around, if it did."""


@dataclass(slots=True)
class Memory:
    """The state that an action is carried out in, and changes."""

    cells: Cells = field(default_factory=dict)
    columns: tuple[int, ...] = ()
    """The columns mentioned last: a tile without a column lies in them."""
    fronts: tuple[Tile, ...] = ()
    """Where "next" continues from: the last tile of the last action, one per column if it went by columns."""
    last: tuple[Tile, ...] = ()
    """The tiles of the last action."""
    ends: tuple[Tile, ...] = ()
    """Where the lines of the current action end, if it draws any."""
    before_last: tuple[Tile, ...] = ()
    """Those of the one before it."""
    color: str = ""
    direction: str = "d"
    """Letters of u, d, l, r."""
    gap: int = 0
    """Columns skipped between repetitions."""
    center: Tile | None = None
    """What the current step draws around."""
    unplaced: bool = False
    """Whether the current step mentioned tiles while no columns were known."""
    clipped: bool = False
    """Whether some of the tiles that the current step mentioned lie off the board."""
    left_out: bool = False
    """Whether the columns spoken of last were to be skipped, so that the next is meant."""
    steps: tuple[ExecutedInstruction, ...] = ()
    painted: tuple[Paint, ...] = ()
    """Painted by the current step."""
    found: Cells = field(default_factory=dict)
    """The board before the current step."""
    depth: int = 0
    """How many repetitions of steps the current action lies in."""
    again: int = 0
    """Actions of earlier steps that the current step has carried out again."""

    def copy(self) -> Memory:
        return replace(
            self, cells=dict(self.cells), painted=(), center=None, unplaced=False, clipped=False, found=self.cells, again=0
        )

    def paint(self, tiles: Sequence[Tile], color: str, *, over: bool = True, by_column: bool = False) -> None:
        """Paint those of the tiles that lie on the board; painted ones too if `over`. Raises NoMeaningError for too many."""
        if len(self.painted) + len(tiles) > MOST_PAINTED:
            raise NoMeaningError("a step that paints without end")
        done: list[Tile] = []
        if color:
            done = [tile for tile in tiles if over or tile not in self.cells]
            for tile in done:
                if color == "white":
                    self.cells.pop(tile, None)
                else:
                    self.cells[tile] = color
            self.painted += tuple(Paint(*tile, color) for tile in done)
            self.color = color
        self.look_at(done if color and done else tiles, by_column=by_column)

    def take_back(self, tiles: Sequence[Tile]) -> None:
        """Restore tiles to their state before the current step."""
        for tile in {paint.tile for paint in self.painted} & set(tiles):
            self.cells.pop(tile, None)
            self.cells |= {tile: self.found[tile]} if tile in self.found else {}
        self.painted = tuple(paint for paint in self.painted if paint.tile not in tiles)

    def look_at(self, tiles: Sequence[Tile], *, by_column: bool = False) -> None:
        if tiles:
            self.before_last, self.last = self.last, tuple(tiles)
            self.fronts = tuple({tile.column: tile for tile in tiles}.values()) if by_column else self.ends or (tiles[-1],)
            self.ends = ()

    def earlier(self) -> list[Paint]:
        """All that was painted so far, in order."""
        return [paint for step in self.steps for paint in step.painted] + list(self.painted)

    def painted_by(self, numbers: Sequence[object]) -> list[Paint]:
        """What some steps painted, by their numbers from 1. Raises NoMeaningError if there is no such step."""
        wanted = [n for n in numbers if isinstance(n, int) and 0 < n <= len(self.steps)]
        if not wanted:
            wanted = [max((n for n, step in enumerate(self.steps, 1) if step.painted), default=0)]
        if wanted == [0]:
            raise NoMeaningError("no such step")
        return [paint for n in wanted for paint in self.steps[n - 1].painted]
