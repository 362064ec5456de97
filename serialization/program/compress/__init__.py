"""Short programs that do exactly what given actions do, by minimum description length.

A program's length is roughly the length of its text, see `shared.length`. Each world proposes candidates, which are then run:
only programs that do the same as the plain one of `literal` count, and the plain program is itself a candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import permutations

from harness.worlds.hexagons import Paint
from harness.worlds.minecraft import Action, net_actions
from serialization.program import ast
from serialization.program.compress.hexagons import PaintTarget
from serialization.program.compress.minecraft import CompressionState
from serialization.program.compress.shared import length
from serialization.program.hexagons import DrawingState
from serialization.program.hexagons import run as run_drawing
from serialization.program.literal import building_program, drawing_program
from serialization.program.machine import ProgramResult
from serialization.program.minecraft import BuildingState, run_lenient
from serialization.program.minecraft import run as run_building
from serialization.program.parse import MAX_CHARS
from serialization.program.written import write, write_statement

Judge = Callable[[ast.Program], tuple[object, ...]]
"""The effect of a program. Programs with equal effects do the same; an error equals no other, so failing programs differ."""
SHORTEST = 7
"""Sets of at most this many characters are not shortened further."""


def drawing_programs(actions: Sequence[Paint], state: DrawingState | None = None, count: int = 1) -> list[ast.Program]:
    """At most `count` different programs that paint exactly these tiles, shortest first; the plain program may be among them.

    With `count` 1, the program has at most as many characters as the plain one. Deterministic. With a state, programs may refer
    to the board and to earlier steps, and only changes of the board count, as in `hexagons.run`.
    """
    plain = drawing_program(actions)
    if count == 1 and _is_short(plain):
        return [plain]
    tried = (ast.Program(statements) for statements in PaintTarget(actions, state, count).programs())
    return _best([plain, *tried], _exactly(lambda program: run_drawing(program, state)), count)


def building_programs(actions: Sequence[Action], state: BuildingState | None = None, count: int = 1) -> list[ast.Program]:
    """At most `count` different building programs for the actions, as in `drawing_programs`.

    With a state, programs must leave the same structure; the order of actions and temporary blocks do not matter. Without a
    state, programs must perform exactly these actions in this order.
    """
    plain = building_program(actions)
    if count == 1 and _is_short(plain):
        return [plain]
    judge = _exactly(run_building if state is None else lambda program: run_lenient(program, state))
    orders = [tuple(actions)]
    if state is not None and not (done := state.structure.apply(actions)).ignored:
        orders = list(dict.fromkeys([*orders, *_orders(net_actions(state.structure, done.structure))]))
        judge = _leaving(state)
    tried = (ast.Program(statements) for order in orders for statements in CompressionState(order, state, count).programs())
    return _best([plain, *tried], judge, count)


def _exactly(run: Callable[[ast.Program], ProgramResult]) -> Judge:
    """Programs do the same if their actions are the same and none fails."""
    return lambda program: run(program)[::2]


def _leaving(state: BuildingState) -> Judge:
    """Programs do the same if they leave the same structure and all their actions are feasible."""

    def judge(program: ast.Program) -> tuple[object, ...]:
        outcome = run_lenient(program, state)
        return *state.structure.apply(outcome.actions), outcome.error

    return judge


def _orders(net: Iterable[Action]) -> Iterator[tuple[Action, ...]]:
    """The net changes sorted by kind and color, then by cell, once for each order of the axes. Removals carry no color."""
    changes = [action if action.kind == "place" else action._replace(color=None) for action in net]
    for axes in permutations(("x", "y", "z")):
        yield tuple(sorted(changes, key=lambda a: (a.kind == "place", a.color or "", *(getattr(a, axis) for axis in axes))))


def _is_short(plain: ast.Program) -> bool:
    texts = [write_statement(one) for one in plain.statements]
    return len(texts) < 2 and all(len(text.split(" ")[1]) <= SHORTEST for text in texts)


def _best(programs: Sequence[ast.Program], judge: Judge, count: int) -> list[ast.Program]:
    """The shortest programs that do the same as the first one; ties keep their order."""
    wanted, best = judge(programs[0]), list[ast.Program]()
    for program in _by_length(programs, count == 1):
        if judge(program) == wanted:
            best.append(program)
            if len(best) == count:
                break
    return best


def _by_length(programs: Iterable[ast.Program], limited: bool) -> Iterator[ast.Program]:
    """The distinct programs, shortest first; `limited`: only those with at most as many characters as the first one."""
    texts: dict[str, ast.Program] = {}
    for program in programs:
        texts.setdefault(write(program), program)
    most = len(next(iter(texts))) if limited else MAX_CHARS
    yield from (texts[text] for text in sorted(texts, key=length) if len(text) <= most)
