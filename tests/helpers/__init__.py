"""Helpers that several tests share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
"""The repository."""

Command = Callable[..., tuple[int, str, str]]
"""Runs the words of a command line; returns the exit code, what it printed, and its errors."""


def cases(module: str) -> dict[str, Any]:
    """The tables of inputs and expected outputs in the YAML file beside a test module."""
    tables: dict[str, Any] = yaml.safe_load(Path(module).with_suffix(".yaml").read_text(encoding="utf-8"))
    return tables
