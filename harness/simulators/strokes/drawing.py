"""A drawing procedure in progress: what the Instructor knows of the board and of what was said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from harness.corpora.places import COLOR_SHARES, WAYS, draw_rows
from harness.simulators.strokes.words import Voice
from harness.worlds.hexagons import COLUMNS, DIRECTIONS, ROWS, Board, Tile, on_board, step


@dataclass(frozen=True, slots=True)
class Stroke:
    """A drawing step: what is said and what is painted. `columns` and `rows` are kept where the step painted such a grid."""

    frame: str
    text: str
    paint: Mapping[Tile, str]
    columns: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()

    @property
    def color(self) -> str | None:
        """The one color of the step, None if there are several."""
        colors = set(self.paint.values())
        return colors.pop() if len(colors) == 1 else None


def grid(columns: tuple[int, ...], rows: tuple[int, ...], color: str) -> dict[Tile, str]:
    return {Tile(row, column): color for column in columns for row in rows}


@dataclass(slots=True)
class Drawing:
    """A procedure in progress: its voice, its board, and the last step that painted something."""

    rng: Random
    voice: Voice
    board: Board = field(default_factory=Board)
    last: Stroke | None = None
    last_step: str = "that"
    """What the last step can be called."""

    def color(self, *others: str) -> str:
        """A color other than the given ones."""
        left = {color: share for color, share in COLOR_SHARES.items() if color not in others}
        return self.rng.choices(tuple(left), tuple(left.values()))[0]

    def columns(self) -> tuple[int, ...]:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.6:
            return (rng.randrange(COLUMNS),)
        if kind < 0.79:
            return tuple(sorted(rng.sample(range(COLUMNS), rng.randint(2, 4))))
        if kind < 0.89:
            start = rng.choice((0, 0, rng.randrange(COLUMNS - 4)))
            return tuple(range(start, start + rng.randint(2, 5)))
        return tuple(range(rng.randrange(2), COLUMNS, 2)) if kind < 0.96 else tuple(range(COLUMNS))

    def rows(self) -> tuple[int, ...]:
        return draw_rows(self.rng, 0.38, 0.56, 6)

    def inner(self) -> Tile:
        """A tile with six neighbors."""
        return Tile(self.rng.randint(1, ROWS - 2), self.rng.randint(1, COLUMNS - 2))

    def way(self) -> str:
        return self.rng.choice(tuple(DIRECTIONS))

    def run(self, shortest: int = 3) -> tuple[str, list[Tile], str]:
        """A straight run of tiles on the board: its direction, the tiles, and the direction in words."""
        while True:
            start, way = Tile(self.rng.randrange(ROWS), self.rng.randrange(COLUMNS)), self.way()
            tiles = [t for t in (step(start, way, i) for i in range(self.rng.randint(shortest, 8))) if on_board(*t)]
            if len(tiles) >= shortest:
                return way, tiles, self.voice.draw(WAYS[way])

    def tiles_of(self, color: str) -> list[Tile]:
        return [paint.tile for paint in self.board.painted() if paint.color == color]

    def painted_color(self) -> str | None:
        colors = sorted({paint.color for paint in self.board.painted()})
        return self.rng.choice(colors) if colors else None
