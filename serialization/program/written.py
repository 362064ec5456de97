"""Programs as text: `write` returns the shortest text, which `parse` turns back into an equal program."""

import re

from serialization.program import ast

_RANGE = re.compile(r"\d(?:-|\.\.-?)\d+$")
_LEVELS = {"..": 0, "+": 1, "-": 1, "&": 2, "*": 3, "/": 3}


def write(program: ast.Program) -> str:
    """The shortest text of the program, a statement a line."""
    return "\n".join(map(write_statement, program.statements))


def write_statement(statement: ast.Statement) -> str:
    match statement:
        case ast.PaintSet(colors, what, way):
            return " ".join([_shades(colors), *(way or ()), write_expression(what)])
        case ast.Remove(what):
            return f"remove {write_expression(what)}"
        case ast.Copy(what, swaps, away):
            changes = ",".join(f"{old}={new}" for old, new in swaps)
            return f"{'move' if away else 'copy'} {write_expression(what)}" + (f" with {changes}" if changes else "")
        case ast.Replace(what, colors):
            return f"replace {write_expression(what)} with {_shades(colors)}"
        case ast.Assign(name, value):
            return f"{name}={write_expression(value)}"
        case ast.Repeat(count, move, body):
            head = ["repeat", *([] if count is None else [_count(count)]), *([] if move is None else [_move(move)])]
            return " ".join(head) + _block(body)
        case ast.For(name, values, body):
            return f"for {name} in {write_expression(values)}{_block(body)}"
        case ast.If(test, body, otherwise):
            return f"if {_condition(test)}{_block(body)}" + (f" else{_block(otherwise)}" if otherwise else "")
        case ast.Frame(frame):
            return f"facing {frame}"


def _shades(colors: tuple[tuple[str, int], ...]) -> str:
    return ",".join(color if n == 1 else f"{color}*{n}" for color, n in colors)


def _block(body: tuple[ast.Statement, ...]) -> str:
    return "{" + ";".join(map(write_statement, body)) + "}"


def _condition(test: ast.Condition) -> str:
    compared = f"{test.operator}{write_expression(test.right)}" if test.operator and test.right else ""
    return "not " * test.negated + write_expression(test.left) + compared


def _move(move: ast.Move) -> str:
    steps = " ".join(way if count is None else f"{way} {_count(count)}" for way, count in move.steps)
    return "grid " * move.grid + steps


def _count(count: ast.Expr) -> str:
    text = write_expression(count, argument=True)
    return text if isinstance(count, ast.Name) or text.isdigit() else f"({text})"


def write_expression(value: ast.Expr | ast.Color | ast.Move, *, argument: bool = False) -> str:
    """The text of an expression; as an argument, a list is put in parentheses because a comma would end it."""
    match value:
        case ast.Numbers() | ast.Tiles():
            columns = value.spans if isinstance(value, ast.Numbers) else value.columns
            text = spans_text(columns) + (f":{spans_text(value.rows)}" if isinstance(value, ast.Tiles) else "")
            return f"({text})" if argument and "," in text else text
        case ast.Name(name) | ast.Color(name):
            return name
        case ast.Move():
            return _move(value)
        case ast.Call(name, args):
            return f"{name}({','.join(write_expression(arg, argument=True) for arg in args)})"
        case ast.Negative(inner):
            text = write_expression(inner)
            # -3:4 and -3,4:1 would be lists and -7..3 a range, all starting with a negative number.
            listed = isinstance(inner, ast.Tiles) or (isinstance(inner, ast.Numbers) and ("," in text or ".." in text))
            return f"-({text})" if listed or isinstance(inner, ast.Negative | ast.Chain) else f"-{text}"
        case ast.Chain(first, rest):
            return _chain(first, rest, argument)


def _chain(first: ast.Expr, rest: tuple[tuple[str, ast.Expr], ...], argument: bool) -> str:
    level = _LEVELS[rest[0][0]]
    text = _operand(first, level, argument)
    for operator, operand in rest:
        right = _operand(operand, level, argument)
        # Kept apart because 3:4-6 is a range of rows, 1..3 a range of numbers, and 1-9/2 a range with a step.
        if operator == ".." and text[-1].isdigit() and right.lstrip("-")[0].isdigit():
            right = f"({right})"
        apart = (operator == "-" and text[-1].isdigit() and right[0].isdigit()) or (operator == "/" and _RANGE.search(text))
        text += f" {operator} {right}" if apart else f"{operator}{right}"
    return text


def _operand(value: ast.Expr, level: int, argument: bool) -> str:
    own = _LEVELS[value.rest[0][0]] if isinstance(value, ast.Chain) else 4
    return write_expression(value, argument=argument) if own > level else f"({write_expression(value)})"


def spans_text(spans: tuple[ast.Span, ...]) -> str:
    return ",".join(map(_span, spans))


def _span(span: ast.Span) -> str:
    if span.first == span.last:
        return str(span.first)
    between = "-" if min(span.first, span.last) >= 0 else ".."
    return f"{span.first}{between}{span.last}" + (f"/{span.step}" if span.step != 1 else "")
