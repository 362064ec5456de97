"""The memory of a drawing procedure: the board, the places mentioned last, and what each step did."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.baselines.parser.hexagons.meaning import Term
from harness.worlds.hexagons import Paint, Tile

Cells = dict[tuple[int, int], str]
"""The tiles that are not white, with their colors."""


DEEPEST = 12
"""How deeply repetitions of steps may be nested."""
MOST_AGAIN = 2_000
"""How many actions of earlier steps one step may carry out again: nested repetitions multiply."""
MOST_PAINTED = 20_000
"""How many tiles one step may paint, counting each repetition; the board has 180."""


class NoMeaningError(Exception):
    """An action has no meaning here, for example because it refers to something that does not exist."""


@dataclass(frozen=True, slots=True)
class ExecutedInstruction:
    """An instruction that was carried out."""

    actions: tuple[Term, ...]
    painted: tuple[Paint, ...]
    """What it painted, in order, including tiles that already had the color."""
    latest: dict[Tile, Paint] = field(default_factory=dict, compare=False)
    """The last paint of each tile."""
    columns: tuple[int, ...] = ()
    """The columns it mentioned last."""
    center: Tile | None = None
    """The tile it drew around, if any."""


@dataclass(slots=True)
class Memory:
    """The state in which an action is carried out, and which it changes."""

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
    """The tiles of the action before the last."""
    color: str = ""
    direction: str = "d"
    """Letters of u, d, l, r."""
    gap: int = 0
    """Columns skipped between repetitions."""
    center: Tile | None = None
    """The tile that the current step draws around."""
    unplaced: bool = False
    """Whether the current step mentioned tiles while no columns were known."""
    clipped: bool = False
    """Whether some of the tiles that the current step mentioned lie off the board."""
    left_out: bool = False
    """Whether the columns mentioned last are to be skipped, so that the next one is meant."""
    steps: tuple[ExecutedInstruction, ...] = ()
    painted: tuple[Paint, ...] = ()
    """Painted by the current step."""
    found: Cells = field(default_factory=dict)
    """The board before the current step."""
    depth: int = 0
    """How many repetitions of steps the current action lies in."""
    again: int = 0
    """Actions of earlier steps that the current step has carried out again."""

    def copy(self) -> "Memory":
        return replace(
            self, cells=dict(self.cells), painted=(), center=None, unplaced=False, clipped=False, found=self.cells, again=0
        )

    def paint(self, tiles: Sequence[Tile], color: str, *, over: bool = True, by_column: bool = False) -> None:
        """Paint tiles of the board, painted ones only if `over`. Raises NoMeaningError if the step paints too many."""
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
        """All paint so far, in order."""
        return [paint for step in self.steps for paint in step.painted] + list(self.painted)

    def painted_by(self, numbers: Sequence[int]) -> list[Paint]:
        """The paint of the steps with these numbers, from 1; if none of them exists, of the last step that painted. Raises
        NoMeaningError if no step did."""
        wanted = [n for n in numbers if 0 < n <= len(self.steps)]
        if not wanted:
            wanted = [max((n for n, step in enumerate(self.steps, 1) if step.painted), default=0)]
        if wanted == [0]:
            raise NoMeaningError("no such step")
        return [paint for n in wanted for paint in self.steps[n - 1].painted]
