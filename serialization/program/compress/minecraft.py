"""Short building programs for a sequence of actions. Some do not match exactly; `compress` runs and filters them.

The sequence is cut into pieces that one statement, or one term of a statement, performs. The shortest segmentation is found by
dynamic programming from the end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise, product, takewhile
from typing import NamedTuple

from harness.worlds.minecraft import Action
from serialization.program import ast
from serialization.program.ast import Call, Color, Expr, Move, Name, Numbers, Span, number, plus
from serialization.program.compress.shared import UNION, cycles, length
from serialization.program.errors import ProgramError
from serialization.program.figure import Figure
from serialization.program.literal import change
from serialization.program.minecraft import DIRECTIONS, FUNCTIONS, Building, BuildingState
from serialization.program.written import write_expression, write_statement

Block = tuple[int, int, int]
LONGEST_BASE, MAX_COPIES = 8, 20
PLANES = ("plane", "frame", "lshape", "ushape", "tshape")


class CellExpression(NamedTuple):
    """An expression for the next `size` cells of a sequence."""

    size: int
    expr: Expr
    cost: float


def row(count: int, expr: Expr) -> CellExpression:
    return CellExpression(count, expr, length(write_expression(expr)))


def offset(start: Block, end: Block) -> Block:
    return end[0] - start[0], end[1] - start[1], end[2] - start[2]


def moved(cell: Block, by: Block, times: int = 1) -> Block:
    return cell[0] + by[0] * times, cell[1] + by[1] * times, cell[2] + by[2] * times


def coordinates(spans: Sequence[Span]) -> tuple[Expr, ...]:
    """A cell or a box of cells as arguments of a function: three arguments, or a single one if a span has steps."""
    if any(span.step > 1 for span in spans):
        return (Numbers(tuple(spans)),)
    return tuple(number(span.first) if span.first == span.last else Numbers((span,)) for span in spans)


def cell_expr(cell: Block) -> tuple[Expr, ...]:
    return tuple(map(number, cell))


def _span(first: int, last: int, values: Collection[int]) -> Span | None:
    """The span from first to last in equal steps that holds exactly the values; None if there is none."""
    step = abs(last - first) // (len(values) - 1) if len(values) > 1 else 1
    span = Span(first, last, max(step, 1))
    return span if {*span.numbers()} == values else None


class ExpressionFinder:
    """Finds expressions for the next cells of a sequence; `builder` decides what left and right mean."""

    def __init__(self, builder: Building) -> None:
        self.builder = builder
        self.vectors = {way: builder.vector(way) for way in DIRECTIONS[:6]}

    def move(self, by: Block) -> Move:
        """Directions as the builder sees them."""
        steps: list[tuple[str, Expr | None]] = []
        for way, vector in self.vectors.items():
            count = sum(a * b for a, b in zip(by, vector, strict=True))
            if count > 0:
                steps.append((way, None if count == 1 else number(count)))
        return Move(tuple(steps))

    def literals(self, cells: Sequence[Block]) -> Iterator[tuple[CellExpression, tuple[Span, ...]]]:
        """Boxes, or cells in equal steps, with which the sequence begins, and their spans in x (outermost), y and z."""
        values: tuple[set[int], ...] = (set(), set(), set())
        for count, last in enumerate(cells, start=1):
            for axis, value in zip(values, last, strict=True):
                axis.add(value)
            if len(values[0]) * len(values[1]) * len(values[2]) != count:
                continue
            spans = tuple(_span(*ends) for ends in zip(cells[0], last, values, strict=True))
            written = tuple(span for span in spans if span)
            if len(written) == 3 and list(product(*(span.numbers() for span in written))) == list(cells[:count]):
                yield row(count, Numbers(written)), written

    def rows(self, cells: Sequence[Block], named: bool = False) -> Iterator[CellExpression]:
        """All expressions for the first cells of a sequence, in its order; `named`: also longer ones that name the shape."""
        bases: list[tuple[int, tuple[Expr, ...]]] = []
        for one, spans in self.literals(cells):
            yield one
            bases.append((one.size, coordinates(spans)))
        for count in self._diagonals(cells):
            line = Call("line", (*cell_expr(cells[0]), *cell_expr(cells[count - 1])))
            yield row(count, line)
            bases.append((count, (line,)))
        for count, args in bases:
            if count <= LONGEST_BASE:
                yield from self._repeated(cells, count, args)
        if len(cells) > 1:
            yield from self._shapes(cells, named)

    def _diagonals(self, cells: Sequence[Block]) -> Iterator[int]:
        """The number of cells of the diagonal line (over edges or corners) with which the sequence begins, if there is one."""
        steps = [offset(a, b) for a, b in pairwise(cells)]
        if not steps or max(map(abs, steps[0])) != 1 or sum(map(abs, steps[0])) == 1:
            return
        count = next((k for k, step in enumerate(steps) if step != steps[0]), len(steps)) + 1
        if count > 2:
            yield count

    def _repeated(self, cells: Sequence[Block], count: int, args: tuple[Expr, ...]) -> Iterator[CellExpression]:
        if len(cells) < 2 * count:
            return
        by = offset(cells[0], cells[count])
        copies = 1
        while copies < MAX_COPIES and list(cells[copies * count : (copies + 1) * count]) == [
            moved(cell, by, copies) for cell in cells[:count]
        ]:
            copies += 1
        if copies > 1 and any(by):
            yield row(copies * count, Call("repeat", (*args, self.move(by), number(copies))))

    def _shapes(self, cells: Sequence[Block], named: bool) -> Iterator[CellExpression]:
        """Shapes that make up the whole sequence."""
        spans = [(min(values), max(values)) for values in zip(*cells, strict=True)]
        long = [axis for axis, (low, high) in enumerate(spans) if low < high]
        if len(long) == 1 and named:
            way = self._way(long[0], cells[-1][long[0]] > cells[0][long[0]])
            given = (*cell_expr(cells[0]), ast.Move(((way, None),)), number(len(cells)))
            yield from self._exactly(cells, Call("row", given))
            if way == "up":
                yield from self._exactly(cells, Call("tower", (*given[:3], given[4])))
        if len(long) == 2 and len(cells) > 3:
            for (one, other), senses in product((long, long[::-1]), product((False, True), repeat=2)):
                corner = list(cells[0])
                for axis, sense in zip((one, other), senses, strict=True):
                    corner[axis] = spans[axis][not sense]
                size, height = (spans[axis][1] - spans[axis][0] + 1 for axis in (one, other))
                ways = [Move(((self._way(axis, sense), None),)) for axis, sense in zip((one, other), senses, strict=True)]
                for name in PLANES:
                    if name == "tshape":
                        corner[one] += ((size - 1) // 2) * (1 if senses[0] else -1)
                    start = cell_expr((corner[0], corner[1], corner[2]))
                    yield from self._exactly(cells, Call(name, (*start, ways[0], number(size), ways[1], number(height))))

    def _way(self, axis: int, upward: bool) -> str:
        wanted = tuple((1 if upward else -1) * (k == axis) for k in range(3))
        return next(way for way, vector in self.vectors.items() if vector == wanted)

    def _exactly(self, cells: Sequence[Block], expr: Call) -> Iterator[CellExpression]:
        try:
            named = list(self.builder.figure(expr))
        except ProgramError:
            return
        if named == list(cells):
            yield row(len(cells), expr)


LONGEST_BODY, MAX_TURNS = 12, 20
MOST_TURNS = 12
"""How many of the last turns may be copied."""
Statements = tuple[ast.Statement, ...]


class SpanStatement(NamedTuple):
    """A statement for the next `size` actions."""

    size: int
    statement: ast.Statement
    cost: float


class Best(NamedTuple):
    """The shortest way to do the rest: its cost, the next term or piece, and whether the term continues a statement."""

    cost: float
    step: CellExpression | SpanStatement | None
    joined: bool


class CompressionState:
    """The actions to compress, and their state."""

    def __init__(self, actions: Sequence[Action], state: BuildingState | None, effort: int) -> None:
        self.actions = [(action.color if action.kind == "place" else None, action.cell) for action in actions]
        self.known = state is not None
        self.effort = effort
        self.builder = Building(state or BuildingState())
        self.rows = ExpressionFinder(self.builder)
        self.blocks = [dict(self.builder.before)]
        """The blocks before each action, and after the last one."""
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
                    yield (change(color, one.expr),)
        for piece in self._pieces(0, end):
            if piece.size == end:
                yield (piece.statement,)

    def shortest(self, start: int, end: int, *, alone: bool) -> Statements:
        """The shortest statements for the actions from `start` to `end`; `alone`: without references to the structure."""
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
        return tuple(self._written(start, end, fresh, opened))

    def _run(self, at: int, end: int) -> list[Block]:
        """The cells of the next run of actions of one color, or of removals."""
        color = self.actions[at][0]
        return [cell for _, cell in takewhile(lambda one: one[0] == color, self.actions[at:end])]

    def _written(self, start: int, end: int, fresh: dict[int, Best], opened: dict[int, Best]) -> Iterator[ast.Statement]:
        at, terms = start, list[Expr]()
        color = None
        while at < end:
            best = opened[at] if terms else fresh[at]
            if terms and not best.joined:
                yield change(color, plus(terms))
                terms = []
            if isinstance(best.step, SpanStatement):
                yield best.step.statement
            elif best.step:
                terms.append(best.step.expr)
                color = self.actions[at][0]
            at += best.step.size if best.step else 0
        if terms:
            yield change(color, plus(terms))

    # --- terms that speak of the structure ---

    def _relative(self, at: int, cells: Sequence[Block]) -> Iterator[CellExpression]:
        """Sets of the structure with which a sequence of cells to place or remove begins."""
        if not self.known:
            return
        color = self.actions[at][0]
        placing = color is not None
        here = self.blocks[at]
        # A named set must be everything that a statement removes: next to other cells, a name gains little.
        if not placing and (at == 0 or self.actions[at - 1][0] != color):
            for expr, cells_of in self._sets(at):
                present = [cell for cell in cells_of if cell in here]
                if present == list(cells):
                    yield row(len(present), expr)
        if placing and (self.effort > 1 or at == 0):
            yield from self._beside(at, cells)

    def _sets(self, at: int) -> Iterator[tuple[Expr, Sequence[Block]]]:
        """The sets that can be named before an action, with their cells in order."""
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
            yield Call("is", (Color(color),)), sorted(cell for cell, shade in here.items() if shade == color)
        steps = self.builder.steps
        for back, step in enumerate(reversed(steps[-MOST_TURNS:]), start=1):
            index = number(-1) if back == 1 else number(len(steps) + 1 - back)
            yield Call("step", (index,)), [cell for cell, _ in step]
            colors = sorted({color for _, color in step})
            for color in colors if len(colors) > 1 else ():
                yield Call("step", (index, Color(color))), [cell for cell, shade in step if shade == color]

    def _beside(self, at: int, cells: Sequence[Block]) -> Iterator[CellExpression]:
        """The cells next to a named set."""
        for expr, cells_of in self._sets(at):
            for name, way in _BESIDE.items():
                if moved(cells[0], self.rows.vectors[way], -1) not in cells_of:
                    continue
                for count in range(1, 5):
                    beyond = FUNCTIONS[name].call(self.builder, Figure.of(cells_of), count)
                    found = [cell for cell in beyond if cell not in self.blocks[at]]
                    if not found or found != list(cells[: len(found)]):
                        break
                    size = () if count == 1 else (number(count),)
                    yield row(len(found), Call(name, (expr, *size)))

    # --- whole statements ---

    def _pieces(self, at: int, end: int, *, alone: bool = False) -> Iterator[SpanStatement]:
        yield from self._in_turn(at, end)
        yield from self._again(at, end, alone)
        if self.known and not alone:
            yield from self._copied(at, end)

    def _in_turn(self, at: int, end: int) -> Iterator[SpanStatement]:
        """Blocks of several colors, in a cycle."""
        ahead = list(takewhile(lambda one: one[0] is not None, self.actions[at:end]))
        shades = {cell: str(color) for color, cell in ahead}
        if len(set(shades.values())) < 2 or len(shades) < len(ahead):
            return
        for one in self.rows.rows([cell for _, cell in ahead]):
            cells = self.builder.figure_or_none(one.expr)
            for paint in cycles(one.expr, cells, shades, self.builder) if len(cells) == one.size > 1 else ():
                yield SpanStatement(one.size, paint, length(write_statement(paint)))

    def _again(self, at: int, end: int, alone: bool) -> Iterator[SpanStatement]:
        """A body of several statements, repeated."""
        ahead = self.actions[at:end]
        for size in range(2, min(LONGEST_BODY, len(ahead) // 2) + 1):
            if ahead[0][0] != ahead[size][0] or len({color for color, _ in ahead[:size]}) == 1:
                continue
            by = offset(ahead[0][1], ahead[size][1])
            body = ahead[:size]
            turns = 1
            while turns < MAX_TURNS and ahead[turns * size : (turns + 1) * size] == [(c, moved(p, by, turns)) for c, p in body]:
                turns += 1
            if turns > 1:
                key = at, at + size
                if key not in self._bodies:
                    self._bodies[key] = self.shortest(*key, alone=True)
                way = self.rows.move(by) if any(by) else None
                statement = ast.Repeat(number(turns), way, self._bodies[key])
                yield SpanStatement(size * turns, statement, length(write_statement(statement)))

    def _copied(self, at: int, end: int) -> Iterator[SpanStatement]:
        """A named set, such as an earlier turn, moved."""
        color, cell = self.actions[at]
        here = self.blocks[at]
        for expr, cells_of in self._sets(at) if color else ():
            source = [one for one in cells_of if one in here]
            ahead = self.actions[at : min(end, at + len(source))]
            if len(source) < 2 or len(ahead) < len(source):
                continue
            by = offset(source[0], cell)
            if [place for _, place in ahead] != [moved(one, by) for one in source] or not any(by):
                continue
            swaps = dict(zip((here[one] for one in source), (str(new) for new, _ in ahead), strict=True))
            made = Call("shift", (expr, self.rows.move(by)))
            if all(new == swaps[here[one]] for one, (new, _) in zip(source, ahead, strict=True)):
                ways: list[ast.Statement] = [ast.Copy(made, tuple((a, b) for a, b in swaps.items() if a != b))]
                ways += [change(color, made)] * (len(set(swaps.values())) == 1)
                yield from (SpanStatement(len(source), way, length(write_statement(way))) for way in ways)


_BESIDE = {"on": "up", "below": "down", "left": "left", "right": "right", "front": "front", "behind": "behind"}
