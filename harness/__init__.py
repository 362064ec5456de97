"""A prompting and fine-tuning harness for grid-world instruction following. `harness.api` says what can be used from Python."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from harness.api import Counts, PromptSpec, apply, gold, load, parse, render, score, total
    from harness.service.client import Client

__all__ = ["Client", "Counts", "PromptSpec", "apply", "gold", "load", "parse", "render", "score", "total"]


def __getattr__(name: str) -> Any:
    """Loads the API with its first use, so that `harness --help` need not."""
    if name not in __all__:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    return getattr(import_module("harness.service.client" if name == "Client" else "harness.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
