"""Settings in YAML files, checked by pydantic: unknown keys are refused, and `key=value` is laid over what a file says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import UsageError

T = TypeVar("T")

Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0, le=1)]


class Strict(BaseModel):
    """A part of a recipe: all keys are required, and no others are allowed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def overridden(values: Mapping[str, Any], overrides: Sequence[str], check: Callable[[Mapping[str, Any], str], T]) -> T:
    """What `check` makes of the values with all overrides laid over them; its second argument says where a problem lies.

    Raises what `check` raises for them together, which names the override that it begins with: a pair of values may fit
    where the first of them alone does not.
    """
    stages = list(accumulate(map(nested, overrides), merged, initial=values))
    problem = None
    for stage, override in zip(reversed(stages), (*reversed(overrides), None), strict=True):
        try:
            checked = check(stage, f" (--set {override})" if override else "")
        except UsageError as error:
            problem = error
        else:
            if problem is None:
                return checked
            break
    assert problem is not None
    raise problem


def read_values(path: Path) -> dict[str, Any]:
    """The content of a recipe's file. Raises UsageError if it is not a mapping in YAML."""
    try:
        values = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path} is not a recipe in YAML: {error}") from None
    if not isinstance(values, dict):
        raise UsageError(f"{path} is not a recipe: it must hold a mapping")
    return values


def nested(override: str) -> dict[str, Any]:
    """`a.b=1` as {"a": {"b": 1}}. Raises UsageError for anything else."""
    key, equals, text = override.partition("=")
    if not equals or not all(key.split(".")):
        raise UsageError(f"--set {override}: write key=value, as in training.learning_rate=1e-4")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        raise UsageError(f"--set {override}: {text!r} is not a value in YAML") from None
    for part in reversed(key.split(".")):
        value = {part: value}
    result: dict[str, Any] = value
    return result


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`values` overridden by `over`, mappings key by key."""
    result = dict(values)
    for key, value in over.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, Mapping) else value
    return result


def first_problem(error: ValidationError) -> str:
    """The key that does not fit, and why."""
    # An unknown key says more than the missing one it may have been meant for.
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    key = ".".join(map(str, first["loc"]))
    problem = "no such key" if first["type"] == "extra_forbidden" else first["msg"]
    return f"{key or 'content'}: {problem}"
