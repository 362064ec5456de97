"""Short drawing programs for the tiles to paint on a board. Some do not match exactly; `compress` runs and filters them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from harness.worlds.hexagons import CODES, Paint, Tile
from serialization.program import ast
from serialization.program.ast import Call, Color, Expr, Name, Program, number
from serialization.program.compress.copies import CopySource, copies, mirrors, repetitions
from serialization.program.compress.sets import (
    BOARD,
    Painting,
    SetExpression,
    cover,
    difference_terms,
    literal_terms,
    remaining_terms,
    shape_terms,
    term,
    to_mask,
    to_painting,
    to_shades,
    union,
)
from serialization.program.compress.shared import cycles, length
from serialization.program.hexagons import Drawing, DrawingState
from serialization.program.hexagons_geometry import ALL
from serialization.program.literal import change
from serialization.program.written import write

MOST_ORDERED = 4
"""With more colors than this, the colors are painted by falling number of tiles and no other order is tried."""
MOST_REPEATS, MOST_COPIES, MOST_STEPS = 6, 8, 6
"""How many repetitions and copies are tried, the most productive ones first, and how many of the last steps can be copied."""
Statements = tuple[ast.Statement, ...]


class PaintTarget:
    """The tiles to be painted and the state of the board."""

    def __init__(self, actions: Sequence[Paint], state: DrawingState | None, effort: int) -> None:
        self.known = state is not None
        self.state = state or DrawingState()
        self.effort = effort
        self.needed: Painting = to_painting({action.tile: action.color for action in actions})
        on_board = to_painting({tile: self.state.board[tile] for tile in ALL})
        wanted = union(self.needed)
        self.board = {color: mask for color, mask in on_board.items() if color != "white"}
        self.blank = on_board.get("white", 0)
        self.there = {color: mask & ~wanted for color, mask in on_board.items()} if self.known else {}
        """Tiles by the color that they have and keep; painting them in that color again does no harm."""
        self._machine = Drawing(self.state)
        self._found: dict[tuple[int, int], list[SetExpression]] = {}
        self._relations: list[SetExpression] | None = None

    def programs(self) -> Iterator[Statements]:
        """Candidates kind by kind; kinds that cannot beat the best so far are skipped unless several programs are wanted."""
        best = float("inf")
        for made, least in (
            (self.plain(self.needed), 0),
            (self._cycled(), 10),
            (self._repeated(), 18),
            (self._mirrored(), 26),
            (self._copied(), 21),
        ):
            if best > least or self.effort > 1:
                for found in made:
                    best = min(best, length(write(Program(found))))
                    yield found

    # --- one statement a color ---

    def plain(self, needed: Painting) -> Iterator[Statements]:
        """One statement a color, in the shortest order: a color may be painted under the colors that follow."""
        if len(needed) == 1:
            ((color, mask),) = needed.items()
            for found in self._covers(color, mask, 0):
                yield (change(color, found.expr),)
            return
        order = self._order(needed)
        if order:
            yield tuple(change(color, found.expr) for color, found in order)

    def _order(self, needed: Painting) -> Sequence[tuple[str, SetExpression]]:
        if len(needed) > MOST_ORDERED:
            ranked = sorted(needed, key=lambda color: (-needed[color].bit_count(), CODES[color]))
            return [(color, self._after(needed, color, tuple(ranked[k + 1 :]))) for k, color in enumerate(ranked)]
        best: dict[tuple[str, ...], tuple[float, list[tuple[str, SetExpression]]]] = {(): (0.0, [])}
        colors = sorted(needed, key=CODES.__getitem__)
        for size in range(1, len(colors) + 1):
            for group in combinations(colors, size):
                choices = []
                for color in group:
                    later = tuple(other for other in group if other != color)
                    found = self._after(needed, color, later)
                    cost, rest = best[later]
                    choices.append((cost + len(color) + 2 + found.cost, [(color, found), *rest]))
                best[group] = min(choices, key=lambda choice: choice[0])
        return best[tuple(colors)][1]

    def _after(self, needed: Painting, color: str, later: Sequence[str]) -> SetExpression:
        return self._covers(color, needed[color], union({other: needed[other] for other in later}))[0]

    def _covers(self, color: str, mask: int, over: int) -> list[SetExpression]:
        allowed = mask | self.there.get(color, 0) | over
        if (mask, allowed) not in self._found:
            terms = [*literal_terms(mask, allowed), *shape_terms(mask, allowed), *self._related(mask, allowed)]
            wholes = [SetExpression(BOARD & ~self.blank, Name("painted"), 7)] if self.known else []
            terms += difference_terms(mask, allowed, wholes)
            terms += [] if over else self._repeating(color, mask, allowed)
            self._found[mask, allowed] = cover(mask, terms, self.effort + 1, options=10 + 2 * self.effort)
        return self._found[mask, allowed]

    def _repeating(self, color: str, mask: int, allowed: int) -> Iterator[SetExpression]:
        """Repetitions of a set; the repeated part is covered first."""
        if mask.bit_count() < 4:
            return
        found = sorted(repetitions({color: mask}, {color: allowed}), key=lambda one: -one.saved)[:MOST_REPEATS]
        for one in found:
            base = one.base[color]
            terms = [*literal_terms(base, base), *shape_terms(base, base)]
            for inner in cover(base, terms, beam=3, options=5):
                count = () if one.turns is None else (one.turns,)
                expr = Call("repeat", (inner.expr, one.move, *count))
                made = to_mask(self._machine.figure_or_none(expr))
                if not made & ~allowed:
                    yield term(made, expr)

    def _related(self, mask: int, allowed: int) -> Iterator[SetExpression]:
        """Sets that refer to the board and to earlier steps."""
        if not self.known:
            return
        if self.blank != BOARD:
            yield from remaining_terms(mask, allowed, self.blank)
        if self._relations is None:
            self._relations = list(self._all_related())
        yield from (one for one in self._relations if one.mask & mask and not one.mask & ~allowed)

    def _all_related(self) -> Iterator[SetExpression]:
        for source in self._sources():
            for name in ("near", "inside", "above", "below", "left", "right", "outline"):
                for count in ((), (number(1),)) if name in ("above", "below", "left", "right") else ((),):
                    expr = Call(name, (source, *count))
                    if found := to_mask(self._machine.figure_or_none(expr)):
                        yield term(found, expr)
            found = to_mask(self._machine.figure_or_none(source))
            yield term(found, source)

    def _sources(self) -> list[Expr]:
        """The previous step, its colors and the colors of the board."""
        sources: list[Expr] = []
        if self.state.steps and self.state.steps[-1]:
            sources.append(Call("step", (number(-1),)))
            colors = sorted({paint.color for paint in self.state.steps[-1]})
            sources += [Call("step", (number(-1), Color(color))) for color in colors if len(colors) > 1]
        return sources + self._on_board()

    def _on_board(self) -> list[Expr]:
        """Each color of the board, and all painted tiles together."""
        return [*(Call("is", (Color(color),)) for color in self.board), *[Name("painted")] * (len(self.board) > 1)]

    # --- several colors at once ---

    def _cycled(self) -> Iterator[Statements]:
        colors = sorted(self.needed, key=CODES.__getitem__)
        groups = [tuple(colors)] + (list(combinations(colors, 2)) if 2 < len(colors) <= MOST_ORDERED else [])
        for group in groups if len(colors) > 1 else ():
            together = {color: self.needed[color] for color in group}
            rest = {color: mask for color, mask in self.needed.items() if color not in group}
            for found in self._covers("", union(together), 0):
                for paint in cycles(found.expr, self._machine.figure_or_none(found.expr), to_shades(together), self._machine):
                    yield from ((paint, *others) for others in (self.plain(rest) if rest else [()]))

    def _repeated(self) -> Iterator[Statements]:
        """A body that is repeated as a whole."""
        if len(self.needed) < 2:
            return
        fitting = {color: mask | self.there.get(color, 0) for color, mask in self.needed.items()}
        found = sorted(repetitions(self.needed, fitting, whole=True), key=lambda one: -one.saved)[:MOST_REPEATS]
        for one in found:
            for body in self.plain(one.base):
                yield (ast.Repeat(one.turns, one.move, body),)

    def _mirrored(self) -> Iterator[Statements]:
        """A half and its mirror image."""
        shades = to_shades(self.needed)
        if len(shades) < 4:
            return
        for axis, to in mirrors():
            if all(shades.get(to[tile]) == color for tile, color in shades.items()):
                half = to_painting({tile: color for tile, color in shades.items() if tile[::-1] <= to[tile][::-1]})
                for body in self.plain(half):
                    yield (*body, ast.Copy(Call("reflect", (Name("it"), axis))))

    def _copied(self) -> Iterator[Statements]:
        """A copy of something on the board, then the tiles that are still missing."""
        if not self.known:
            return
        fitting = {**self.needed, **{color: self.needed.get(color, 0) | mask for color, mask in self.there.items()}}
        found = [one for source in self._copyable() for one in copies(source, self.needed, fitting)]
        found.sort(key=lambda one: one.cost - 3 * one.made.bit_count())
        for one in found[: MOST_COPIES * self.effort]:
            rest = {color: mask & ~one.made for color, mask in self.needed.items() if mask & ~one.made}
            yield from ((one.statement, *others) for others in (self.plain(rest) if rest else [()]))

    def _copyable(self) -> Iterator[CopySource]:
        steps = self.state.steps
        exprs: list[Expr] = [Call("step", (number(-1),))] if steps else []
        exprs += [Call("step", (number(k),)) for k in range(1, len(steps)) if k == 1 or k > len(steps) - MOST_STEPS]
        seen: set[int] = set()
        for expr in (*exprs, *self._on_board()):
            cells = self._machine.figure_or_none(expr)
            mask = to_mask(cells)
            painting = {color: mask & own for color, own in self.board.items() if mask & own}
            if painting and mask not in seen:
                seen.add(mask)
                yield CopySource(expr, Tile(*next(iter(cells))), painting)
