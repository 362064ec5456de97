"""What two neighbors make together, and what is said piece by piece."""

from __future__ import annotations

from harness.baselines.parser.hexagons.grammar import Rule
from harness.baselines.parser.hexagons.meaning import Term


def wrapped(rule: Rule, term: Term) -> Term:
    """What a unary rule makes."""
    if rule.op == "done":
        return term
    return Term(rule.op, (Term(rule.left, (term,)) if rule.op == "line" else term,))


def combined(rule: Rule, left: Term, right: Term) -> Term | None:
    """What a rule makes of two neighbors; None where a frame has such a piece already, or there is nothing to say it of."""
    args = (right, left) if rule.swapped else (left, right)
    match rule.op:
        case "first" | "second":
            return args[rule.op == "second"]
        case "line":
            return Term("line", tuple(Term(type_, (arg,)) for type_, arg in zip((rule.left, rule.right), args, strict=True)))
        case "second_mentioned":
            return Term("mention", (right,))
        case "ways":
            return Term("ways", (*_each_way(left), *_each_way(right)))
        case "paint" if args[1].op == "line" and any(isinstance(piece, Term) and piece.op == "Q" for piece in args[1].args):
            return None
        case "all_from" if args[0].op != "all" or args[1].op not in ("cross", "tiles"):
            return None
        case "turned" if args[0].op == "turned" and _leads(args[0].args[1]) and _leads(args[1]):
            return None
        case "in_columns" if args[0].op in ("mention", "go"):
            return Term("then", (args[0], Term("go", (args[1],))))
        case "turned" if rule.left == "D" and rule.right == "t" and len(str(left.args[0])) < 2:
            return None
        case "both" if right.op == "every_other" and left.op == "at":
            return Term("every_other_from", (Term("columns" if rule.type == "C" else "tiles", (left,)),))
        case "union" if right.op in ("next", "turned") and (right.op == "next" or _op_of(right.args[0]) == "next"):
            return None
        case "around" if args[1].op == "around":
            return args[1]
        case "line_run":
            return _line_run(*args)
        case "merge":
            return _merged(*args)
        case "counted":
            return Term("counted", (*left.args, *right.args))
        case "counted_from":
            return _turned_round(args[0], str(args[1].args[0]), {"T": "b", "C": "r"}.get(rule.type, ""))
        case "but_tiles" | "but_columns":
            return Term("but", (Term(rule.op[4:], (right,)),))
        case "until" if right.op != "colored" or left.op != "paint" or _op_of(left.args[1]) not in ("cross", "columns", "tiles"):
            return None
        case "starting":
            return _starting(*args)
        case "with":
            return _with(*args, rule.left if rule.swapped else rule.right)
    return Term(rule.op, args)


def _leads(direction: object) -> bool:
    """Whether it is a direction by itself, and not only "diagonally"."""
    return isinstance(direction, Term) and (direction.op == "ways" or "g" not in str(direction.args[0]))


def _op_of(value: object) -> str:
    return value.op if isinstance(value, Term) else ""


def _each_way(direction: Term) -> tuple[object, ...]:
    return direction.args if direction.op == "ways" else (direction,)


def _with(frame: Term, piece: Term, slot: str) -> Term | None:
    if sum(isinstance(given, Term) and given.op == slot for given in frame.args) > (slot == "C"):
        return None
    return Term(frame.op, (*frame.args, Term(slot, (piece,))))


def _line_run(start: Term, turned: Term) -> Term | None:
    """So many tiles in a direction, the first of them told."""
    if turned.op != "turned" or not isinstance(turned.args[0], Term) or turned.args[0].op != "count":
        return None
    return Term("line", (Term("F", (start,)), Term("N", (turned.args[0],)), Term("D", (turned.args[1],))))


def _merged(one: Term, two: Term) -> Term | None:
    told = [piece.op for piece in (*one.args, *two.args) if isinstance(piece, Term) and piece.op != "s"]
    return Term(one.op, (*one.args, *two.args)) if len(set(told)) == len(told) else None


_AXES = {"cross": "br", "tiles": "b", "columns": "r", "go": "r", "repeat": "r", "C": "r", "mark": "-b", "paint_marks": "-r"}
"""From which far side the arguments of an operation may be counted, in order."""


def _turned_round(what: Term, sides: str, axis: str) -> Term:
    """Numbers that do not say from where, counted from other sides."""
    if what.op in ("at", "first") and what.args[1] == "":
        return Term(what.op, (what.args[0], "back" if axis and axis in sides else "fore"))
    axes = _AXES.get(what.op, axis * len(what.args))
    return Term(
        what.op,
        tuple(
            _turned_round(arg, sides, axes[n : n + 1] or axis) if isinstance(arg, Term) else arg
            for n, arg in enumerate(what.args)
        ),
    )


def _starting(what: Term, start: Term) -> Term | None:
    """Every other one, from where it is said afterwards; None where nothing waits for that."""
    if what.op == "every_other":
        return Term("every_other_from", (start,))
    for n, arg in enumerate(what.args):
        if isinstance(arg, Term) and (found := _starting(arg, start)):
            return Term(what.op, (*what.args[:n], found, *what.args[n + 1 :]))
    return None
