import json
from pathlib import Path

import pytest

from eval.answers import decode
from eval.predictions import Predictions, read_records
from harness.corpora.item import Item
from harness.errors import DataError
from harness.worlds.hexagons import Paint
from harness.worlds.minecraft import Action
from tests.helpers.scored import built_probe, drawn_probe

HEX, BAP = "hexagons/dev/46/1", "minecraft/test/B1-A3-C5-1522432776975/9"
ITEMS: list[Item] = [drawn_probe(id=HEX), drawn_probe(id="hexagons/dev/46/2"), built_probe(id=BAP)]


def write(tmp_path: Path, *lines: str | bytes, end: bytes = b"\n") -> Path:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines) + end)
    return path


def read(path: Path) -> Predictions:
    return decode(path, read_records(path), ITEMS)


def line(value: str, item: str = HEX) -> str:
    return f'{{"id": "{item}", {value}}}'


def test_actions_and_text_with_a_format(tmp_path: Path) -> None:
    other = "hexagons/dev/46/2"
    path = write(
        tmp_path, line('"actions": [[0, 4, "red"]], "seconds": 0.1'), line('"text": "(0, 0, red)", "format": "triplets"', other)
    )
    assert read(path).actions == {HEX: (Paint(0, 4, "red"),), other: (Paint(0, 0, "red"),)}
    expected = Action("place", "red", 0, 1, -5), Action("remove", None, 0, 1, 0), Action("remove", "blue", 9, 0, 0)
    path = write(tmp_path, line(f'"actions": {json.dumps(expected)}', BAP))
    assert read(path).actions == {BAP: expected}


def test_a_last_line_may_end_within_a_character(tmp_path: Path) -> None:
    path = write(tmp_path, line('"actions": []'), '{"id": "é'.encode()[:-1], end=b"")
    assert len(read_records(path, partial=True)) == 1


GOOD = line('"actions": []', HEX[:-1] + "2")

BAD_RECORDS = {
    "not JSON": ("actions: none", "not JSON"),
    "NaN": (line('"actions": [[0, NaN, "red"]]'), "NaN is not a JSON number"),
    "no id": ('{"actions": []}', 'string "id"'),
    "repeated id": (GOOD, "again, first on line 1"),
    "unknown id": (line('"actions": []', "hexagons/dev/46/99"), "unknown id 'hexagons/dev/46/99'"),
    "unknown format": (line('"text": "", "format": "prose"'), "no format for hexagons named 'prose'"),
    "second action short": (line('"actions": [[0, 4, "red"], [0, "red"]]'), "action 2 must be"),
    "action of the other task": (line('"actions": [["place", "red", 0, 1, 0]]'), "action 1 must be"),
}


@pytest.mark.parametrize(("bad", "message"), BAD_RECORDS.values(), ids=BAD_RECORDS)
def test_a_bad_line_is_named(tmp_path: Path, bad: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=r"predictions\.jsonl:2: ") as caught:
        read(write(tmp_path, GOOD, bad))
    assert message in (told := str(caught.value))
    assert ("\n" in told, len(told) < 600) == (False, True)
