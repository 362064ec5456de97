"""How the answers of a baseline are chosen, from the options of a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.baselines import Baseline, Decoding, Ruled
from harness.errors import UsageError


def choose_decoding(name: str, baseline: Baseline | Ruled, asked: Mapping[str, Any]) -> Decoding:
    """The decoding that is asked for; a value of None or False was not asked for. Raises UsageError for what it does not know."""
    options = {key: value for key, value in asked.items() if value is not None and value is not False}
    for key in options:
        if key not in baseline.decoding:
            flags = ", ".join(f"--{own}" for own in baseline.decoding)
            raise UsageError(f"--{key}: {name} has no such option; it has {flags or 'none'}")
    if "share" in options and "samples" not in options:
        raise UsageError("--share counts the votes of drawn answers: add --samples")
    return replace(Decoding(), **options)


def known_decoding(baseline: Baseline | Ruled, decoding: Decoding) -> dict[str, Any]:
    """The part of it that decides this baseline's answers."""
    return {key: getattr(decoding, key) for key in baseline.decoding}
