"""Drawing programs, run on a HEXAGONS board. Programs count from 1, from the top and the left; everything here from 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from harness.worlds.hexagons import COLORS, COLUMNS, ROWS, Board, Paint, Tile, on_board
from serialization.program import ast
from serialization.program.budget import Budget
from serialization.program.errors import Place, ProgramError
from serialization.program.expressions import Shift, Value
from serialization.program.figure import Cell, Figure
from serialization.program.hexagons_functions import CONSTANTS, FUNCTIONS
from serialization.program.hexagons_geometry import around, board_shift, near_board
from serialization.program.machine import Machine, Outcome


@dataclass(frozen=True, slots=True)
class DrawingState:
    """What a program finds: the board, what each earlier step drew, and the names that earlier programs left."""

    board: Board = field(default_factory=Board)
    steps: Sequence[Sequence[Paint]] = ()
    names: Mapping[str, Value] = field(default_factory=dict)


def run(program: ast.Program, state: DrawingState | None = None, budget: Budget | None = None) -> Outcome:
    """Runs a drawing program. Never raises ProgramError: the outcome holds it, and what the statements before it drew.

    The actions are sorted by row and column, at most one a tile. Painting a tile in the color that it has is one too,
    unless a state is given: then only what changes the board counts.
    """
    machine = Drawing(state or DrawingState(), budget)
    outcome = machine.run(program)
    if state is None:
        return outcome
    return outcome._replace(actions=tuple(a for a in outcome.actions if state.board[a.tile] != a.color))


class Drawing(Machine):
    functions = FUNCTIONS
    constants = CONSTANTS
    colors = COLORS
    groups: ClassVar = {"column": (1,), "row": (0,)}
    origin = Tile(0, 0)

    def __init__(self, state: DrawingState, budget: Budget | None = None) -> None:
        super().__init__(state.names, [[(paint.tile, paint.color) for paint in step] for step in state.steps], budget)
        self.board = state.board
        self.drawn: dict[Cell, str] = {}

    def actions(self) -> tuple[Paint, ...]:
        return tuple(Paint(row, column, color) for (row, column), color in sorted(self.drawn.items()))

    def save(self) -> Any:
        return dict(self.drawn)

    def restore(self, saved: Any) -> None:
        self.drawn = saved

    def inside(self, cell: Cell) -> bool:
        return on_board(cell[0], cell[1])

    def close(self, cell: Cell) -> bool:
        return near_board(cell)

    def touching(self, cell: Cell) -> Sequence[Cell]:
        return around(Tile(cell[0], cell[1]))

    def color_of(self, tile: Cell) -> str:
        """The color that a tile of the board has now."""
        return self.drawn.get(tile) or self.board[tile[0], tile[1]]

    def color_at(self, cell: Cell) -> str | None:
        """None for white: a copy leaves what lies behind it."""
        color = self.color_of(cell) if self.inside(cell) else "white"
        return None if color == "white" else color

    def paint(self, painting: Mapping[Cell, str | None], at: Place) -> None:
        for tile, color in painting.items():
            # Painted again, a tile comes last in the order of what was drawn.
            self.drawn.pop(tile, None)
            self.drawn[tile] = color or "white"

    def shift(self, move: ast.Move, steps: Sequence[tuple[str, int]]) -> Shift:
        try:
            return board_shift(steps, move.grid)
        except ProgramError as error:
            raise ProgramError(error.problem, move.at) from None

    def literal(self, value: ast.Numbers | ast.Tiles) -> Figure:
        match value:
            case ast.Numbers(spans):
                columns, rows = spans, ()
            case ast.Tiles(columns, rows):
                pass
        across = self._indices(columns, COLUMNS, "column", value.at)
        down = self._indices(rows, ROWS, "row", value.at)
        if not columns:
            return Figure.of(Tile(row, column) for row in down for column in across)
        return Figure.of(Tile(row, column) for column in across for row in down)

    def _indices(self, spans: Sequence[ast.Span], size: int, name: str, at: Place) -> Sequence[int]:
        """0-based; all of them if none are named."""
        for span in spans:
            for end in (span.first, span.last):
                if not 1 <= end <= size:
                    raise ProgramError(f"{name} {end} is off the board: {name}s are 1 to {size}", at)
        return [number - 1 for span in spans for number in span.numbers()] if spans else range(size)
