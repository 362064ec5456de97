"""The format `json`: an array of actions in their JSON form, checked by a JSON Schema (one a task, in `schemas/`)."""

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from harness.worlds import World
from harness.worlds.hexagons import Paint, canonical
from harness.worlds.minecraft import Action
from serialization.formats.answer import Constraint, Parsed, scan

_INNERMOST = re.compile(r"\[[^\[\]]*\]")


@lru_cache
def schema_text(world: World) -> str:
    return files("serialization.formats").joinpath("schemas", f"{world}-actions.json").read_text()


@lru_cache
def _validator(world: World) -> Any:
    """A validator of one action of the world."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema_text(world))["items"])


def constraint(world: World) -> Constraint:
    return Constraint("json", schema_text(world))


def write(actions: Sequence[Paint] | Sequence[Action]) -> str:
    return json.dumps([list(action) for action in actions])


def loaded(text: str) -> Any:
    """The value of a JSON text, which may use escaped quotes, or Python's quotes and None; None for any other text."""
    text = text.replace('\\"', '"')
    for spelling in (text, re.sub(r"\bNone\b", "null", text.replace("'", '"'))):
        try:
            return json.loads(spelling)
        except ValueError:
            continue
    return None


def parse(world: World, text: str) -> Parsed:
    """Every innermost array is one action, so an answer that was cut off still yields the actions before the cut."""

    def read(match: re.Match[str]) -> Any:
        value = loaded(match.group())
        if value is None:
            return "not JSON"
        error = next(_validator(world).iter_errors(value), None)
        # JSON Schema counts 1.0 as an integer; a cell's index must be one.
        return f"not an action: {error.message[:80]}" if error else build(*(int(v) if isinstance(v, float) else v for v in value))

    build: Callable[..., Any] = Paint if world == "hexagons" else Action
    parsed = scan(text, _INNERMOST, read)
    discarded = tuple(d for d in parsed.discarded if d.text.strip("[], \t\r\n"))
    return Parsed(canonical(parsed.actions) if world == "hexagons" else parsed.actions, discarded)
