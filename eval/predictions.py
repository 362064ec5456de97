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
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import DataError, HarnessError
from harness.tasks.registry import world_of
from harness.util.files import json_lines
from harness.worlds import hexagons, minecraft

Actions = tuple[hexagons.Paint, ...] | tuple[minecraft.Action, ...]
Parse = Callable[[str, str, str, str], Iterable[Any]]
"""(name of the action format, task, text, item id) -> actions. Total in the text; raises a HarnessError for an unknown format."""

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


def decode(path: Path, records: Iterable[Record], task: str, ids: Set[str], parse: Parse) -> Predictions:
    """The predicted actions of the records, which must all be of items in `ids`. `path` is for messages only.

    Raises DataError with file and line for an unknown id, actions of another form, a record without a prediction, and a
    format that `parse` refuses.
    """
    actions: dict[str, Actions] = {}
    errors = set()
    for record in records:
        if record.id not in ids:
            raise DataError(f"{path}:{record.line}: unknown id {record.id!r}: not one of the {len(ids)} items of its split")
        if record.fields.get("error"):
            errors.add(record.id)
            continue
        try:
            actions[record.id] = _actions(record, task, parse)
        except HarnessError as error:
            raise DataError(f"{path}:{record.line}: {error}") from error
    return Predictions(actions, frozenset(errors))


def _actions(record: Record, task: str, parse: Parse) -> Actions:
    fields = record.fields
    if "actions" in fields:
        if not isinstance(fields["actions"], list):
            raise DataError(f'"actions" must be a list, not {reprlib.repr(fields["actions"])}')
        return tuple(_action(value, number, task) for number, value in enumerate(fields["actions"], start=1))
    text, name = fields.get("text"), fields.get("format")
    if not isinstance(text, str) or not isinstance(name, str):
        raise DataError('neither "actions" nor the strings "text" and "format"')
    return tuple(parse(name, task, text, record.id))


def _action(value: Any, number: int, task: str) -> Any:
    world = world_of(task)
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
