"""Helpers that several tests share."""

from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The repository."""

Command = Callable[..., tuple[int, str, str]]
"""Runs the words of a command line; returns the exit code, what it printed, and its errors."""
