"""The data card of a folder of simulated items: the README.md that a hub shows as the data set's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.simulators.outputs import GameChunk, GameSource

_HUB_SPLITS = {"val": "validation", "dev": "validation"}

_TEXT = """\
---
license: mit
language: en
task_categories:
- text-generation
tags:
- synthetic
{configs}---
# Simulated Minecraft building games

Made by rules, without any model or corpus: all texts come from sentence frames written for this project. The games follow BAP v2
(arXiv 2501.10836, section 5); frames and probabilities are the harness's own.

## How it was made

    {command}

grid-world-harness {version}. The same command makes the same bytes, with any number of workers.

| file | simulator | split | seed | games | items |
|---|---|---|---|---|---|
{rows}

A target structure occurs in one split only, whatever the seed, because its sha256 determines the split. `group` is the target,
`cluster` the game; the last game of a file may be cut short. `meta` describes the
order.

## License

MIT, like the project that made it.
"""


class File(NamedTuple):
    name: str
    source: GameSource
    made: GameChunk


def data_card(files: Sequence[File], command: str, version: str) -> str:
    """The text of the card, in Markdown. It contains no date, so that the same files have the same card."""
    rows = (
        f"| {name} | {source.simulator} | {source.split} | {source.seed} | {counts.games:,} | {counts.items:,} |"
        for name, source, counts in files
    )
    return _TEXT.format(configs=_configs(files), command=command, version=version, rows="\n".join(rows))


def _configs(files: Sequence[File]) -> str:
    """The Parquet files by simulator and split, for `datasets.load_dataset(FOLDER, SIMULATOR)`; empty without such files."""
    tables = [file for file in files if file.source.form == "parquet"]
    lines = ["configs:"] if tables else []
    for simulator in dict.fromkeys(file.source.simulator for file in tables):
        lines += [f"- config_name: {simulator}", "  data_files:"]
        for name, source, _ in tables:
            if source.simulator == simulator:
                lines += [f"  - split: {_HUB_SPLITS.get(source.split, source.split)}", f"    path: {name}"]
    return "".join(f"{line}\n" for line in lines)
