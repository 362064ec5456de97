"""Short building programs for a sequence of actions, some of them not quite right: `compress` runs them.

The sequence is cut into pieces that one statement, or one term of a statement, does; the shortest way to cut it is found from its
end on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from harness.worlds.minecraft import Action
from serialization.program import ast
from serialization.program.ast import Call, Color, Expr, Name, number, plus
from serialization.program.budget import Budget
from serialization.program.compress_blocks import Block, Row, Rows, beyond, moved, offset, row
from serialization.program.compress_cycles import cycles
from serialization.program.compress_terms import UNION, length
from serialization.program.errors import ProgramError
from serialization.program.figure import Figure
from serialization.program.minecraft import Building, BuildingState
from serialization.program.written import write_statement

LONGEST_BODY, MAX_TURNS = 12, 20
MOST_TURNS = 12
"""How many of the last turns may be copied."""
Statements = tuple[ast.Statement, ...]


class Piece(NamedTuple):
    """A statement for the next `size` actions."""

    size: int
    statement: ast.Statement
    cost: float


class Best(NamedTuple):
    """The shortest way to do the rest: its cost, the next term or piece, and whether the term goes on with a statement."""

    cost: float
    step: Row | Piece | None
    joined: bool


class Plan:
    """The actions to compress, and their state."""

    def __init__(self, actions: Sequence[Action], state: BuildingState | None, effort: int) -> None:
        self.actions = [(action.color if action.kind == "place" else None, action.cell) for action in actions]
        self.known = state is not None
        self.effort = effort
        self.builder = Building(state or BuildingState())
        self.rows = Rows(self.builder)
        self.blocks = [dict(self.builder.before)]
        """Before each action."""
        for color, cell in self.actions:
            after = dict(self.blocks[-1])
            after.pop(cell, None)
            self.blocks.append(after | ({} if color is None else {cell: color}))
        self._bodies: dict[tuple[int, int], Statements] = {}

    def programs(self) -> Iterator[Statements]:
        end = len(self.actions)
        if not end:
            return
        yield self.shortest(0, end, alone=False)
        if self.known:
            yield self.shortest(0, end, alone=True)
        color = self.actions[0][0]
        if all(one == color for one, _ in self.actions):
            cells = [cell for _, cell in self.actions]
            for one in (*self.rows.rows(cells, self.effort > 1), *self._relative(0, cells)):
                if one.size == end:
                    yield (_statement(color, one.expr),)
        for piece in self._pieces(0, end):
            if piece.size == end:
                yield (piece.statement,)

    def shortest(self, start: int, end: int, *, alone: bool) -> Statements:
        """`alone`: without speaking of the structure."""
        done = Best(0.0, None, False)
        opened: dict[int, Best] = {end: done}
        fresh: dict[int, Best] = {end: done}
        for at in range(end - 1, start - 1, -1):
            color = self.actions[at][0]
            cells = self._run(at, end)
            terms = list(self.rows.rows(cells)) + ([] if alone else list(self._relative(at, cells)))
            ways = [(one.cost + opened[at + one.size].cost, one) for one in terms]
            cost, best = min(ways, key=lambda way: way[0])
            head = len(color or "remove") + 2
            fresh[at] = Best(cost + head, best, False)
            for piece in self._pieces(at, end, alone=alone):
                total = piece.cost + 1 + fresh[at + piece.size].cost
                if total < fresh[at].cost:
                    fresh[at] = Best(total, piece, False)
            same = at > start and self.actions[at - 1][0] == color
            opened[at] = Best(cost + UNION, best, True) if same and cost + UNION < fresh[at].cost else fresh[at]
        return tuple(self._told(start, end, fresh, opened))

    def _run(self, at: int, end: int) -> list[Block]:
        """The cells of the actions of one color, or of the removals, that come next."""
        color = self.actions[at][0]
        return [cell for _, cell in takewhile(lambda one: one[0] == color, self.actions[at:end])]

    def _told(self, start: int, end: int, fresh: dict[int, Best], opened: dict[int, Best]) -> Iterator[ast.Statement]:
        at, terms = start, list[Expr]()
        color = None
        while at < end:
            best = opened[at] if terms else fresh[at]
            if terms and not best.joined:
                yield _statement(color, plus(terms))
                terms = []
            if isinstance(best.step, Piece):
                yield best.step.statement
            elif best.step:
                terms.append(best.step.expr)
                color = self.actions[at][0]
            at += best.step.size if best.step else 0
        if terms:
            yield _statement(color, plus(terms))

    # --- terms that speak of the structure ---

    def _relative(self, at: int, cells: Sequence[Block]) -> Iterator[Row]:
        """Sets of the structure that a sequence of cells to place or remove begins with."""
        if not self.known:
            return
        color = self.actions[at][0]
        placing = color is not None
        here = self.blocks[at]
        # What is removed is all that a statement removes: with other cells next to it a name says little.
        if not placing and (at == 0 or self.actions[at - 1][0] != color):
            for expr, own in self._sets(at):
                present = [cell for cell in own if cell in here]
                if present == list(cells):
                    yield row(len(present), expr)
        if placing and (self.effort > 1 or at == 0):
            yield from self._beside(at, cells)

    def _sets(self, at: int) -> Iterator[tuple[Expr, Sequence[Block]]]:
        """What can be named before an action, in its order."""
        here = self.blocks[at]
        mine = list(dict.fromkeys(cell for color, cell in reversed(self.actions[:at]) if color is not None))
        newest = [*mine, *reversed(self.builder.newest)]
        last = next((cell for cell in newest if cell in here), None)
        if last:
            yield Name("last"), [last]
        if len(here) > 1:
            yield Name("all"), sorted(here)
        if mine:
            yield Name("it"), [cell for color, cell in self.actions[:at] if color is not None]
        for color in sorted(set(here.values())):
            yield Call("is", (Color(color),)), sorted(cell for cell, own in here.items() if own == color)
        steps = self.builder.steps
        for back, step in enumerate(reversed(steps[-MOST_TURNS:]), start=1):
            index = number(-1) if back == 1 else number(len(steps) + 1 - back)
            yield Call("step", (index,)), [cell for cell, _ in step]
            colors = sorted({color for _, color in step})
            for color in colors if len(colors) > 1 else ():
                yield Call("step", (index, Color(color))), [cell for cell, own in step if own == color]

    def _beside(self, at: int, cells: Sequence[Block]) -> Iterator[Row]:
        """The cells next to a set that can be named."""
        for expr, own in self._sets(at):
            for name, way in _BESIDE.items():
                step = self.rows.vectors[way]
                if moved(cells[0], step, -1) not in own:
                    continue
                for count in range(1, 5):
                    found = [cell for cell in beyond(own, step, count) if cell not in self.blocks[at]]
                    if not found or found != list(cells[: len(found)]):
                        break
                    size = () if count == 1 else (number(count),)
                    yield row(len(found), Call(name, (expr, *size)))

    # --- whole statements ---

    def _pieces(self, at: int, end: int, *, alone: bool = False) -> Iterator[Piece]:
        yield from self._in_turn(at, end)
        yield from self._again(at, end, alone)
        if self.known and not alone:
            yield from self._copied(at, end)

    def _in_turn(self, at: int, end: int) -> Iterator[Piece]:
        """Blocks of several colors, in a cycle."""
        told = list(takewhile(lambda one: one[0] is not None, self.actions[at:end]))
        shades = {cell: str(color) for color, cell in told}
        if len(set(shades.values())) < 2 or len(shades) < len(told):
            return
        for one in self.rows.rows([cell for _, cell in told]):
            cells = self._figure(one.expr)
            for paint in cycles(one.expr, cells, shades, self.builder) if len(cells) == one.size > 1 else ():
                yield Piece(one.size, paint, length(write_statement(paint)))

    def _figure(self, expr: Expr) -> Figure:
        self.builder.budget = Budget()
        try:
            return self.builder.figure(expr)
        except ProgramError:
            return Figure()

    def _again(self, at: int, end: int, alone: bool) -> Iterator[Piece]:
        """A body of several statements, repeated."""
        told = self.actions[at:end]
        for size in range(2, min(LONGEST_BODY, len(told) // 2) + 1):
            if told[0][0] != told[size][0] or len({color for color, _ in told[:size]}) == 1:
                continue
            by = offset(told[0][1], told[size][1])
            body = told[:size]
            turns = 1
            while turns < MAX_TURNS and told[turns * size : (turns + 1) * size] == [(c, moved(p, by, turns)) for c, p in body]:
                turns += 1
            if turns > 1:
                key = at, at + size
                if key not in self._bodies:
                    self._bodies[key] = self.shortest(*key, alone=True)
                way = self.rows.move(by) if any(by) else None
                statement = ast.Repeat(number(turns), way, self._bodies[key])
                yield Piece(size * turns, statement, length(write_statement(statement)))

    def _copied(self, at: int, end: int) -> Iterator[Piece]:
        """An earlier turn, moved."""
        color, cell = self.actions[at]
        here = self.blocks[at]
        for expr, own in self._sets(at) if color else ():
            source = [one for one in own if one in here]
            told = self.actions[at : min(end, at + len(source))]
            if len(source) < 2 or len(told) < len(source):
                continue
            by = offset(source[0], cell)
            if [place for _, place in told] != [moved(one, by) for one in source] or not any(by):
                continue
            swaps = dict(zip((here[one] for one in source), (str(new) for new, _ in told), strict=True))
            made = Call("shift", (expr, self.rows.move(by)))
            if all(new == swaps[here[one]] for one, (new, _) in zip(source, told, strict=True)):
                ways: list[ast.Statement] = [ast.Copy(made, tuple((a, b) for a, b in swaps.items() if a != b))]
                ways += [_statement(color, made)] * (len(set(swaps.values())) == 1)
                yield from (Piece(len(source), way, length(write_statement(way))) for way in ways)


_BESIDE = {"on": "up", "below": "down", "left": "left", "right": "right", "front": "front", "behind": "behind"}


def _statement(color: str | None, what: Expr) -> ast.Statement:
    return ast.Remove(what) if color is None else ast.Paint(((color, 1),), what)
