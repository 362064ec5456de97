"""The sandbox in which prompt templates are rendered. A template may come with an adapter from anywhere, so it reaches only its
values, and its steps and the size of its text are bounded."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from functools import wraps
from typing import Any

from jinja2 import Environment, nodes, pass_context
from jinja2.exceptions import TemplateRuntimeError
from jinja2.nodes import EvalContext
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

MOST_STEPS = 50_000
"""Most loop iterations and macro calls of one rendering, which take seconds at most. Our largest prompt takes thousands."""
MOST_CHARACTERS = 5_000_000
"""Largest size of a rendered text, and of every text and list on the way to it: more than the longest context holds."""

_WIDTH = re.compile(r"[%{:][^%{}]{0,20}\d{7}")


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """An environment that raises TemplateRuntimeError from within a template that goes beyond its bounds."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.steps = threading.local()
        for name in ("center", "indent", "format", "join", "replace", "wordwrap"):
            self.filters[name] = self._bounded_filter(self.filters[name])
        # Filters, not functions, which a sandbox checks at every call.
        self.filters |= {"step": _step, "joined": _joined}

    def rendered(self, file: str, values: Mapping[str, Any]) -> str:
        """The text of a template, named by its file, with these values."""
        self.steps.taken = 0
        pieces, size = [], 0
        for piece in self.get_template(file).generate(values):
            size += len(piece)
            _check_size(size)
            pieces.append(piece)
        return "".join(pieces)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "*":
            sizes = [len(side) if hasattr(side, "__len__") else abs(side) for side in (left, right) if _counts(side)]
            if any(hasattr(side, "__len__") for side in (left, right)) and len(sizes) == 2:
                _check_size(sizes[0] * sizes[1])
        if operator == "**" and isinstance(left, int) and isinstance(right, int):
            _check_size(left.bit_length() * abs(right))
        if operator == "%" and isinstance(left, str):
            _check_width(left)
            _check_product(left, right)
        return _checked(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        # Parameters are named as in jinja2, so that a template may use any other name as a keyword.
        if isinstance(owner := getattr(__obj, "__self__", None), str):
            _check_product(owner, *args, *kwargs.values())
        return _checked(super().call(__context, __obj, *args, **kwargs))

    def wrap_str_format(self, value: Any) -> Any:
        if isinstance(pattern := getattr(value, "__self__", None), str):
            _check_width(pattern)
        return super().wrap_str_format(value)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for block in tree.find_all((nodes.For, nodes.Macro, nodes.CallBlock)):
            assert isinstance(block, nodes.For | nodes.Macro | nodes.CallBlock)
            block.body.insert(0, nodes.Output([_filtered("step", [nodes.Const("")], block.lineno)], lineno=block.lineno))
        return _Joins().visit(tree)  # type: ignore[no-any-return]

    def _bounded_filter(self, act: Any) -> Any:
        @wraps(act)
        def bounded(*args: Any, **kwargs: Any) -> Any:
            values = [value for value in (*args, *kwargs.values()) if not isinstance(value, Environment | Context | EvalContext)]
            if isinstance(values[0], str):
                _check_width(values[0])
            _check_product(*values)
            return _checked(act(*args, **kwargs))

        return bounded


class _Joins(NodeTransformer):
    """Replaces `~` by the filter `joined`."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _filtered("joined", node.nodes, node.lineno)


def _filtered(name: str, values: list[nodes.Expr], line: int) -> nodes.Filter:
    return nodes.Filter(values[0], name, values[1:], [], None, None, lineno=line)


@pass_context
def _step(context: Context, text: str) -> str:
    """Count a loop iteration or a macro call. A filter that takes the context is never evaluated at compile time."""
    steps = context.environment.steps  # type: ignore[attr-defined]
    steps.taken += 1
    if steps.taken > MOST_STEPS:
        raise TemplateRuntimeError(f"it takes more than {MOST_STEPS:,} steps")
    return text


@pass_context
def _joined(context: Context, *parts: Any) -> str:
    """The operator `~`, with its result bounded in size."""
    texts = list(map(str, parts))
    _check_size(sum(map(len, texts)))
    return "".join(texts)


def _counts(side: Any) -> bool:
    return isinstance(side, int) or hasattr(side, "__len__")


def _checked(value: Any) -> Any:
    if hasattr(value, "__len__"):
        _check_size(len(value))
    return value


def _check_size(size: int) -> None:
    if size > MOST_CHARACTERS:
        raise TemplateRuntimeError(f"its text has more than {MOST_CHARACTERS:,} characters")


def _check_product(first: Any, *others: Any) -> None:
    """Refuses a call that might make too large a text. The result of a method or a filter is at most as large as its text times
    its largest argument, such as a width or the replacement of a letter."""
    _check_size(_size(first) * max(map(_size, others), default=1))


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return max(map(_size, value.values()), default=1)
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return max(1, abs(value) if isinstance(value, int) else len(value) if isinstance(value, str) else 1)


def _check_width(pattern: str) -> None:
    """Refuses too large a width in a text that may be a format string."""
    if _WIDTH.search(pattern):
        raise TemplateRuntimeError("a width in it has too many digits")
