"""Reading a predictions file: JSON Lines, one item a line, either actions or the raw text of a model.

    {"id": "...", "actions": [...]}                     Hexagons [row, column, "color"]; Minecraft ["place", "color", x, y, z]
    {"id": "...", "text": "...", "format": "triplets"}     or ["remove", "color" | null, x, y, z]

If a line has both, the actions count: they are in the world's frame, even if the model answered in the builder's frame.
Actions off the board or outside the build region are kept; the worlds ignore them and the scores count them. All other
fields are ignored, except `error`: a line with one is counted separately, whatever else it holds, and scored as an empty
prediction.
"""

import json
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.util.files import json_lines
from harness.worlds import World, hexagons, minecraft

Actions = tuple[hexagons.Paint, ...] | tuple[minecraft.Action, ...]

_EXPECTED = {
    "hexagons": f'[row, column, "color"] with whole numbers and a color of {", ".join(hexagons.COLORS)}',
    "minecraft": f'["place", "color", x, y, z] or ["remove", "color" | null, x, y, z] with whole numbers and a color of '
    f"{', '.join(minecraft.COLORS)}",
}


@dataclass(frozen=True, slots=True)
class Record:
    """A line of the file: its number (from 1), the item's id and all of its fields."""

    line: int
    id: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Predictions:
    """Actions by item id, and the ids of the items for which only an error was recorded."""

    actions: Mapping[str, Actions]
    errors: frozenset[str] = frozenset()
    discarded: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    """By item id, the pieces of an answer's text that the parser discarded, and why."""


def read_records(path: Path, *, partial: bool = False) -> list[Record]:
    """The lines of a JSON Lines file whose objects have distinct `id`s, in order.

    `partial` is for a file in progress: an incomplete last line is left out. Raises DataError with file and line for
    anything but a JSON object with an `id`, and for a repeated id.
    """
    records: list[Record] = []
    first_line: dict[str, int] = {}
    for number, line in json_lines(path):
        try:
            fields = json.loads(line.decode(), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            if partial and not line.endswith(b"\n"):
                break
            raise DataError(f"{path}:{number}: not JSON ({error}); there must be one JSON object a line") from error
        if not isinstance(fields, dict) or not isinstance(fields.get("id"), str):
            raise DataError(f'{path}:{number}: not a JSON object with a string "id"')
        record = Record(number, fields["id"], fields)
        if record.id in first_line:
            raise DataError(f"{path}:{number}: id {record.id!r} again, first on line {first_line[record.id]}; keep one of them")
        first_line[record.id] = number
        records.append(record)
    return records


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def recorded_actions(values: Any, world: World) -> Actions:
    """The actions in a record's field `actions`. Raises DataError for actions of another form than the world's."""
    if not isinstance(values, list):
        raise DataError(f'"actions" must be a list, not {reprlib.repr(values)}')
    return tuple(_action(value, number, world) for number, value in enumerate(values, start=1))


def _action(value: Any, number: int, world: World) -> Any:
    match value:
        case [row, column, str(color)] if world == "hexagons" and color in hexagons.CODES and _whole(row, column):
            return hexagons.Paint(row, column, color)
        case ["place" | "remove" as kind, str() | None as color, x, y, z] if world == "minecraft" and _whole(x, y, z):
            if color in minecraft.CODES or (color is None and kind == "remove"):
                return minecraft.Action(kind, color, x, y, z)
    raise DataError(f"action {number} must be {_EXPECTED[world]}, not {reprlib.repr(value)}")


def _whole(*numbers: object) -> bool:
    # JSON's true and false are ints in Python.
    return all(type(number) is int for number in numbers)
