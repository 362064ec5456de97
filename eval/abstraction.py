"""Levels of abstraction of drawing steps ("Draw Me a Flower", Table 5), and files of them.

A file is JSON Lines, an object for each step: {"id": "hexagons/dev/15/1", "level": 2}. The id is made of the split, the index of
the procedure and the number of the step; `level` is the place of the level in `LEVELS`. The authors did not release their labels.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import yaml

from eval.predictions import read_records
from harness.errors import DataError

OURS = "our labels, not the paper's"
LEVELS: dict[str, int] = {
    level: about["count"]
    for level, about in yaml.safe_load(files("eval").joinpath("annotations", "levels.yaml").read_bytes())["labels"].items()
}
"""The levels, lowest first, and how many steps of dev the paper's labels put on each."""


def read_levels(path: Path | None = None) -> dict[str, str]:
    """The level of each step in a file, by the step's id; by default ours of the official dev split.

    Raises DataError with file and line for anything but the level of a drawing step.
    """
    if path is None:
        with as_file(files("eval").joinpath("annotations", "hexagons_levels_dev.jsonl")) as ours:
            return read_levels(ours)
    names, levels = list(LEVELS), {}
    for record in read_records(path):
        level, parts = record.fields.get("level"), record.id.split("/")
        if type(level) is not int or not 0 <= level < len(names) or parts[0] != "hexagons" or len(parts) != 4:
            form = f'{{"id": "hexagons/dev/15/1", "level": 0 to {len(names) - 1}}}'
            raise DataError(f"{path}:{record.line}: {record.id}: not the level of a step: {form}")
        levels[record.id] = names[level]
    return levels
