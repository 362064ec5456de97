"""A prompting and fine-tuning harness for grid-world instruction following. `harness.api` says what can be used from Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from harness.api import Counts as Counts
    from harness.api import PromptSpec as PromptSpec
    from harness.api import apply as apply
    from harness.api import gold as gold
    from harness.api import load as load
    from harness.api import parse as parse
    from harness.api import render as render
    from harness.api import score as score
    from harness.api import total as total
    from harness.service.client import Client as Client

_FROM_API = ("Counts", "PromptSpec", "apply", "gold", "load", "parse", "render", "score", "total")


def __getattr__(name: str) -> Any:
    """Loads the API with its first use, so that `harness --help` need not."""
    if name in _FROM_API:
        from harness import api

        return getattr(api, name)
    if name == "Client":
        from harness.service.client import Client

        return Client
    raise AttributeError(f"module 'harness' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_FROM_API, "Client"])
