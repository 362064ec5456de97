"""A drawing in progress: its board, its colors, and the figures that later steps may mention."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from harness.corpora.wording import listing
from harness.simulators import Impossible, impossible_if, needed, weighted
from harness.simulators.hexagons import program as op
from harness.simulators.hexagons.program import Painting
from harness.simulators.hexagons.voice import SpeakerVoice
from harness.worlds.hexagons import COLUMNS, ROWS, Board, Paint, Tile, neighbors, on_board
from serialization.program import ast
from serialization.program.errors import Place, ProgramError
from serialization.program.figure import Cell
from serialization.program.hexagons import Drawing, DrawingState

COLOR_SHARES = {"orange": 20, "blue": 20, "purple": 19, "green": 16, "yellow": 11, "red": 9, "black": 5}
"""The colors' shares among the release's train actions, in percent; simulated procedures do not paint white."""
_LINES = frozenset({"line", "column", "row", "stem"})
"""Nouns that readers could confuse with one another."""


class DrawnProgram(NamedTuple):
    program: ast.Program
    painting: Painting


@dataclass(frozen=True, slots=True)
class Stroke:
    """One order, which becomes a figure on the board: its text, its level of abstraction (0..3), and its meaning as a program
    and as the tiles that the program paints."""

    kind: str
    level: int
    text: str
    program: ast.Program
    painting: Painting
    noun: str = ""
    """The noun that a reader would use for the figure; "" if it has no name."""
    color: str | None = None
    """The figure's color, or the color of a flower's petals; None if it has several."""
    center: Tile | None = None
    """The center of a ring or flower, the point of a V, or a single tile itself."""
    line: tuple[Tile, str, int] | None = None
    """Start, direction and length, if the figure is a straight line."""
    named: bool = True
    """Whether the text names the figure rather than only its tiles."""
    repaints: bool = False
    """Whether the order changes tiles that are not white."""
    step: int = 0
    """The step that painted the figure."""

    @property
    def tiles(self) -> tuple[Tile, ...]:
        return tuple(self.painting)

    @property
    def columns(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(tile.column for tile in self.painting))

    @property
    def colors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.painting.values()))


@dataclass(slots=True)
class Sketch:
    """The state on which the choice of strokes depends. `board` holds the tiles that are not white."""

    rng: Random
    voice: SpeakerVoice
    palette: list[str] = field(default_factory=list)
    board: dict[Tile, str] = field(default_factory=dict)
    figures: list[Stroke] = field(default_factory=list)
    step: int = 1
    forgot: bool = False
    """Whether the board shows figures that are no longer in `figures`."""
    chosen: str | None = None
    """A color that the last step told the reader to choose."""

    state: DrawingState = field(default_factory=DrawingState)
    """The state in which programs of this step start: the board before the step, and the actions of earlier steps."""
    begun: ast.Program = field(default_factory=ast.Program)
    """The program of this step so far."""
    _painted: Painting = field(default_factory=dict)

    def begin(self, step: int) -> None:
        """Start the first step, or the next one."""
        if step > 1:
            painted = [Paint(*tile, color) for tile, color in self._painted.items()]
            self.state = DrawingState(self.shown_board(), (*self.state.steps, painted))
        self.step, self.begun, self._painted = step, ast.Program(), {}

    def shown_board(self) -> Board:
        return Board().apply(Paint(*tile, color) for tile, color in self.board.items()).board

    def drawn_by(self, figure: Stroke) -> ast.Expr:
        """The set of tiles that a figure painted."""
        if figure.step == self.step:
            return op.IT
        if self.alone(figure):
            return op.call("step", figure.step)
        others = {color for other in self.figures if other.step == figure.step and other is not figure for color in other.colors}
        if others.isdisjoint(figure.colors):
            return op.call("step", figure.step, *map(ast.Color, figure.colors))
        return op.tiles(*figure.tiles)

    @property
    def last(self) -> Stroke | None:
        return self.figures[-1] if self.figures else None

    def paint(self, stroke: Stroke) -> None:
        """Carry a stroke out and remember it."""
        self.board |= stroke.painting
        self._painted |= stroke.painting
        self.begun = op.together(self.begun, stroke.program)
        if stroke.repaints:
            # Descriptions of earlier figures may no longer be true.
            self.figures.clear()
            self.forgot = True
        elif stroke.painting:
            color = stroke.color or (stroke.colors[0] if len(stroke.colors) == 1 else None)
            self.figures.append(replace(stroke, step=self.step, color=color))

    def color(self, *others: str | None) -> str:
        """A color of the drawing other than the given ones; a new one if none is left."""
        left = [color for color in self.palette if color not in others]
        return self.rng.choice(left) if left else self.add_color(*others)

    def add_color(self, *others: str | None) -> str:
        """A new color of the drawing, other than the given ones."""
        known = {*self.palette, *others}
        self.palette.append(weighted(self.rng, {color: n for color, n in COLOR_SHARES.items() if color not in known}))
        return self.palette[-1]

    def colors(self, count: int) -> list[str]:
        chosen: list[str] = []
        for _ in range(count):
            chosen.append(self.color(*chosen))
        return chosen

    def shown(self) -> list[str]:
        return sorted(set(self.board.values()))

    def tiles_of(self, color: str) -> list[Tile]:
        return sorted(tile for tile, its in self.board.items() if its == color)

    def free(self, tiles: Iterable[Tile]) -> bool:
        """Whether all the tiles are white tiles of the board."""
        return all(tile not in self.board and on_board(*tile) for tile in tiles)

    def run(self, program: ast.Program, *, clipped: bool = False) -> Painting:
        """The tiles that a program paints after the program of this step so far; unless `clipped`, also tiles off the board.

        Raises ProgramError for a program that names a tile off the board.
        """
        drawing = _Watched(self, clipped)
        if error := drawing.run(program).error:
            raise error
        return drawing.painting

    def tiles_in(self, what: ast.Expr) -> list[Tile]:
        """The tiles of a set, in order."""
        return [Tile(*tile) for tile in _Watched(self).figure(what)]

    def new(self, program: ast.Program, *, clipped: bool = False) -> DrawnProgram:
        """A program with its painting. Raises Impossible unless it paints something, and only white tiles of the board."""
        try:
            painting = self.run(program, clipped=clipped)
        except ProgramError as error:  # a tile off the board
            raise Impossible from error
        impossible_if(not painting or not self.free(painting))
        return DrawnProgram(program, painting)

    def draw(self, what: ast.Expr, *colors: str, by: str | None = None, counts: Sequence[int] = ()) -> DrawnProgram:
        """`new` for a set in some colors, with the arguments of `program.paint`."""
        return self.new(op.paint(what, *colors, by=by, counts=counts))

    def tile(self) -> Tile:
        """A random tile, half of the time near the last figure."""
        rng = self.rng
        if self.figures and rng.random() < 0.5:
            base = rng.choice(self.figures[-1].tiles)
            row, column = base.row + rng.randint(-3, 3), base.column + rng.randint(-3, 3)
            return Tile(min(ROWS - 1, max(0, row)), min(COLUMNS - 1, max(0, column)))
        return Tile(rng.choice((0, ROWS - 1, *range(ROWS), *range(ROWS))), rng.randrange(COLUMNS))

    def inner(self) -> Tile:
        """A tile with six neighbors."""
        tile = self.tile()
        return Tile(min(ROWS - 2, max(1, tile.row)), min(COLUMNS - 2, max(1, tile.column)))

    def open_center(self) -> Tile:
        """A tile with six neighbors; if a few attempts find one, all seven tiles are white."""
        for _ in range(6):
            center = Tile(self.rng.randint(1, ROWS - 2), self.rng.randint(1, COLUMNS - 2))
            if self.free((center, *neighbors(center))):
                break
        return center

    def recent(self) -> Stroke | None:
        """The last figure, if it was painted in this step or the one before."""
        return self.last if self.last and self.last.step >= self.step - 1 else None

    def recent_column(self) -> Stroke:
        """The recent figure if it lies in one column. Raises Impossible otherwise."""
        figure = needed(self.recent())
        impossible_if(len(figure.columns) != 1)
        return figure

    def refer(self, figure: Stroke) -> str | None:
        """Words that identify a figure; None if there are none."""
        words, alone, noun = list[str](), self.alone(figure), self.voice.noun(figure.noun) if figure.named else ""
        if figure is self.last and noun:
            # "The last tile" would be the one at the bottom.
            one = "that place" if figure.noun in ("tile", "column", "row") else "that"
            words += [self.voice.say("those" if figure.noun.endswith("s") else one, noun=noun)] * 2
        elif figure is self.last and alone:
            words.append(self.voice.say("that unnamed"))
        if noun and figure.color and not self.forgot and not any(self._alike(figure, other) for other in self.figures):
            words += [self.voice.say("by color", color=figure.color, noun=noun)] * 2
        if noun and alone and figure.step < self.step:
            words.append(self.voice.say("by step", noun=noun, k=str(figure.step)))
        return self.rng.choice(words) if words else None

    def alone(self, figure: Stroke) -> bool:
        """Whether a figure is the only one of its step."""
        return all(other.step != figure.step for other in self.figures if other is not figure)

    def _alike(self, figure: Stroke, other: Stroke) -> bool:
        """Whether the color and the noun of `figure` could also mean `other`."""
        if other is figure or figure.color not in other.colors:
            return False
        a, b = figure.noun.removesuffix("s"), other.noun.removesuffix("s")
        return a == "tile" or not b or a == b or {a, b} <= _LINES

    # --- words ---

    def spelled(self, painting: Painting, plain: bool) -> tuple[str, int]:
        """An order for any painting, tile by tile (`plain`) or range by range, and its level."""
        by_color: dict[str, list[Tile]] = {}
        for tile, color in painting.items():
            by_color.setdefault(color, []).append(tile)
        parts, level = [], 0
        columns = {tile.column for tile in painting}
        if len(columns) == 1 and len(by_color) > 1:
            part = "and color" if self.rng.random() < 0.75 else "color for"
            for color, tiles in by_color.items():
                ((what, _),), its = self.voice.groups(tiles, plain)
                parts.append(self.voice.say(part, what=what, color=color))
                level = max(level, its)
            where = self.voice.column(columns.pop())
            return self.voice.say(f"{part} in column", where=where, parts=listing(self.rng, parts)), level
        for color, tiles in by_color.items():
            groups, its = self.voice.groups(tiles, plain)
            level = max(level, its)
            if len(groups) == 1 and len(tiles) > 1:
                parts.append(self.voice.order_in(groups[0][1], groups[0][0], color))
            else:
                parts.append(self.voice.order(self.voice.spell(tiles, plain)[0], color))
        return ". ".join(parts), level

    def some_columns(self) -> tuple[int, ...]:
        """Two or more columns, mostly evenly spaced."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.25:
            return tuple(sorted(rng.sample(range(COLUMNS), rng.randint(2, 6))))
        if kind < 0.45:
            start, count = rng.choice((0, 0, rng.randrange(10))), rng.randint(2, 9)
            return tuple(range(start, start + count))
        if kind < 0.75:
            gap = rng.choice((2, 2, 3, 4, 4, 4, 5, 6))
            start = rng.randrange(gap)
            return tuple(range(start, COLUMNS, gap))[: rng.randint(2, 9)]
        return tuple(range(rng.randrange(2), COLUMNS, 2))

    def some_rows(self) -> tuple[int, ...]:
        """Rows of a column: one to three, a range of up to seven (often at an end of the column), or every other row."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.22:
            return (rng.choice((0, ROWS - 1, *range(ROWS))),)
        if kind < 0.4:
            return tuple(sorted(rng.sample(range(ROWS), rng.randint(2, 3))))
        if kind < 0.9:
            count = rng.randint(2, 7)
            start = rng.choice((0, ROWS - count, rng.randint(0, ROWS - count)))
            return tuple(range(start, start + count))
        return tuple(range(rng.randrange(2), ROWS, 2))


class _Watched(Drawing):
    """A drawing that records the tiles that a program paints, including tiles off the board unless it is `clipped`."""

    def __init__(self, sketch: Sketch, clipped: bool = False) -> None:
        super().__init__(sketch.state)
        self._clipped = clipped
        self.painting = Painting()
        if error := self.run(sketch.begun).error:
            raise error
        self.painting.clear()

    def inside(self, cell: Cell) -> bool:
        return not self._clipped or on_board(*cell)

    def color_of(self, tile: Cell) -> str:
        return super().color_of(tile) if on_board(*tile) else "white"

    def paint(self, painting: Mapping[Cell, str | None], at: Place) -> None:
        super().paint(painting, at)
        self.painting |= {Tile(*tile): color or "white" for tile, color in painting.items()}


def inside(tiles: Iterable[Tile]) -> bool:
    return all(on_board(*tile) for tile in tiles)


def moved(tile: Tile, rows: int, columns: int) -> Tile:
    """The tile moved down by `rows` and right by `columns`. An even number of columns keeps the shape of a drawing."""
    return Tile(tile.row + rows, tile.column + columns)
