"""Every reader of JSON Lines takes a file as editors and spreadsheets on other systems save it."""

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from eval.predictions import read_records
from harness.corpora import hexagons
from harness.corpora.records import load_items, to_full_record
from harness.engines.engine import Sampling
from harness.engines.scripted import ScriptedEngine
from harness.errors import DataError
from harness.simulators.games import game
from prompts.rendered import Rendered
from serialization.annotations import read_annotations
from tests.helpers.corpora_files import procedure

ITEM = to_full_record(next(item for n in range(99) for item in game("random", 0, "train", n)))


def scripted(path: Path) -> Sequence[Any]:
    (answer,) = ScriptedEngine(path).generate([Rendered("a", (), "", ())], Sampling())
    return [answer] if answer.error is None else []


READERS: dict[str, tuple[Callable[[Path], Sequence[Any]], dict[str, Any]]] = {
    "predictions": (read_records, {"id": "hexagons/dev/46/1", "actions": []}),
    "a script": (scripted, {"id": "a", "text": "x"}),
    "items": (load_items, ITEM),
    "the corpus of HEXAGONS": (lambda path: list(hexagons.read_procedures(path)), procedure(3)),
    "programs": (lambda path: list(read_annotations(path)), {"id": "a", "program": "none"}),
}


@pytest.mark.parametrize("name", READERS)
def test_a_byte_order_mark_and_blank_lines_at_the_end_are_no_lines_and_one_between_lines_is_named(
    name: str, tmp_path: Path
) -> None:
    read, record = READERS[name]
    path, line = tmp_path / "file.jsonl", json.dumps(record)
    for end in ("", "\n", "\n\n", "\r\n \r\n"):
        path.write_bytes(BOM_UTF8 + line.encode() + end.encode())
        assert len(read(path)) == 1
    path.write_text(f"{line}\n\n\n{line}\n")
    with pytest.raises(DataError, match=r"file\.jsonl(:| line |, line )2: "):
        read(path)
