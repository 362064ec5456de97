"""A prompting and fine-tuning harness for grid-world instruction following. The Python API is in `harness.api`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from harness.api import Counts, PromptSpec, apply, gold, load, parse, render, score, total

__all__ = ["Counts", "PromptSpec", "apply", "gold", "load", "parse", "render", "score", "total"]


def __getattr__(name: str) -> Any:
    """Imports the API at its first use: `harness --help` does not need it."""
    if name not in __all__:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    return getattr(import_module("harness.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
