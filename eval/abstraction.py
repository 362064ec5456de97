"""Levels of abstraction of drawing steps ("Draw Me a Flower", Table 5).

Our labels are JSON Lines, an object for each step: {"id": "hexagons/dev/15/1", "level": 2}. The id is made of the split, the
index of the procedure and the number of the step; `level` is the place of the level in `LEVELS`. The authors did not release
theirs.
"""

from importlib.resources import as_file, files

import yaml

from eval.predictions import read_records

OURS = "our labels, not the paper's"
LEVELS: dict[str, int] = {
    level: about["count"]
    for level, about in yaml.safe_load(files("eval").joinpath("annotations", "levels.yaml").read_bytes())["labels"].items()
}
"""The levels, lowest first, and how many steps of dev the paper's labels put on each."""


def read_levels() -> dict[str, str]:
    """Our levels of the steps of the official dev split, by the step's id."""
    names = list(LEVELS)
    with as_file(files("eval").joinpath("annotations", "hexagons_levels_dev.jsonl")) as ours:
        return {record.id: names[record.fields["level"]] for record in read_records(ours)}
