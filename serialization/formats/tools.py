"""The format `tools`: an action is a call, `{"name": "remove", "arguments": {"x": 0, "y": 1, "z": 0}}`, one a line.

An endpoint that has tools gets their declarations, and its calls become this text.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.worlds import World, hexagons, minecraft
from harness.worlds.hexagons import Paint, canonical, on_board
from harness.worlds.minecraft import HEIGHT, SIDE
from serialization.formats import lines
from serialization.formats.answer import NOTHING, Constraint, Parsed, scan
from serialization.formats.json import loaded


def _integer(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


_CELL = {"x": _integer(-SIDE, SIDE), "y": _integer(1, HEIGHT), "z": _integer(-SIDE, SIDE)}
_TILE = {"column": _integer(1, hexagons.COLUMNS), "row": _integer(1, hexagons.ROWS)}
_ACTIONS: Mapping[World, Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "minecraft": {
        "place": ("Place a block in an empty cell.", {"color": {"type": "string", "enum": [*minecraft.COLORS]}, **_CELL}),
        "remove": ("Remove the block from a cell.", _CELL),
    },
    "hexagons": {"paint": ("Paint a tile.", {"color": {"type": "string", "enum": [*hexagons.COLORS]}, **_TILE})},
}
"""The tools that change a state, with their descriptions and the JSON Schemas of their arguments."""
_OTHERS = {"look": "See the blocks or the painted tiles.", "done": "Say that everything is done."}
_CALL = re.compile(r"\{[^{}]{0,80}\{[^{}]{0,160}\}[^{}]{0,40}\}")
_NO_ACTION = "changes nothing"


def declarations(world: World, *, looks: bool = False) -> list[dict[str, Any]]:
    """The tools of a world as the OpenAI protocol declares them, with `look` only if `looks`."""
    others: dict[str, tuple[str, Mapping[str, Any]]] = {
        name: (text, {}) for name, text in _OTHERS.items() if looks or name != "look"
    }
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": text,
                "parameters": {"type": "object", "properties": dict(of), "required": [*of], "additionalProperties": False},
            },
        }
        for name, (text, of) in {**_ACTIONS[world], **others}.items()
    ]


def call_text(name: str, arguments: Any) -> str:
    """A call as the format writes it."""
    return json.dumps({"name": name, "arguments": arguments})


def write(world: World, actions: Sequence[Any]) -> str:
    """The calls, one a line; tiles are counted from 1."""
    if world == "hexagons":
        paints = canonical(actions)
        calls = [call_text("paint", {"color": a.color, "column": a.column + 1, "row": a.row + 1}) for a in paints]
    else:
        calls = [
            call_text(a.kind, ({"color": a.color} if a.kind == "place" else {}) | dict(zip("xyz", a.cell, strict=True)))
            for a in actions
        ]
    return "\n".join(calls) or NOTHING


def _pattern(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f'"({"|".join(schema["enum"])})"'
    return f"({'|'.join(map(str, range(schema['minimum'], schema['maximum'] + 1)))})"


def constraint(world: World) -> Constraint:
    """The grammar, which admits the text that `write` returns."""
    calls = []
    for name, (_, of) in _ACTIONS[world].items():
        fields = ", ".join(f'"{key}": {_pattern(schema)}' for key, schema in of.items())
        calls.append(rf'\{{"name": "{name}", "arguments": \{{{fields}\}}\}}')
    call = f"({'|'.join(calls)})"
    return Constraint("regex", rf"({NOTHING}|{call}(\n{call})*)")


def _read(world: World, match: re.Match[str]) -> Any:
    value = loaded(match[0])
    name = value.get("name") if isinstance(value, dict) else None
    arguments = value.get("arguments", value.get("parameters")) if isinstance(value, dict) else None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return "not a call"
    if name in _OTHERS:
        return _NO_ACTION
    if name not in _ACTIONS[world]:
        return f"no tool {name[:20]}"
    wanted = _ACTIONS[world][name][1]
    if missing := [key for key in wanted if key not in arguments]:
        return f"without {missing[0]}"
    numbers = {key: arguments[key] for key in wanted if key != "color"}
    if wrong := [key for key, number in numbers.items() if type(number) is not int]:
        return f"{wrong[0]} is not an integer"
    color = str(arguments.get("color", "")).lower()
    if world == "minecraft":
        return lines.check_action(name, color if name == "place" else None, *numbers.values())
    column, row = (number - 1 for number in numbers.values())
    if not on_board(row, column):
        return "off the board"
    return Paint(row, column, color) if color in hexagons.CODES else "unknown color"


def parse(world: World, text: str) -> Parsed:
    """The actions of all calls; `look` and `done` change nothing."""
    parsed = scan(text, _CALL, lambda match: _read(world, match))
    discarded = tuple(piece for piece in parsed.discarded if piece.reason != _NO_ACTION)
    return Parsed(canonical(parsed.actions) if world == "hexagons" else parsed.actions, discarded)
