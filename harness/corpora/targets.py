"""The target structures of the Minecraft games: what the Architect sees and the builder does not.

The corpus has them as `gold-configurations/<target>.xml`, one block a line. Where there is no such file, a target is what its
last game ends in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from harness.corpora import archive
from harness.corpora.minecraft_logs import Game
from harness.errors import DataError
from harness.worlds.minecraft import COLORS, HEIGHT, SHAPE, SIDE, Structure

_FILE = re.compile(r"(?:^|/)gold-configurations/(?P<target>[^/]+)\.xml$")
_COLOR = re.compile("|".join(COLORS))
_OFFSET = 100
"""The files count x and z from here."""


def targets(games: Sequence[Game], source: Path, split: str) -> dict[str, Structure]:
    """The targets of a split by name, in the order of their numbers.

    `games` are those of the source. Raises DataError for a damaged file and for a target that the region is too small for.
    """
    wanted = {game.target for game in games if game.split == split}
    known = {
        match["target"]: _structure(data, where)
        for where, data in archive.files(source, source, ("**/gold-configurations/*.xml",))
        if (match := _FILE.search(where)) and match["target"] in wanted
    }
    for game in games:
        ends = [run.after for run in game.runs if run.after is not None]
        if game.split == split and game.target not in known and ends:
            known[game.target] = ends[-1]
    return {name: known[name] for name in sorted(known, key=lambda name: (len(name), name)) if len(known[name])}


def _structure(data: bytes, where: str) -> Structure:
    """Moved along the ground if it lies outside of the region but fits in it."""
    blocks = [_block(line, f"{where}:{n}") for n, line in enumerate(data.decode().splitlines(), start=1) if line.strip()]
    if not blocks:
        return Structure()
    spans = [(min(axis), max(axis)) for axis in zip(*(block[:3] for block in blocks), strict=True)]
    if (
        any(high - low >= size for (low, high), size in zip(spans, SHAPE, strict=True))
        or not 1 <= spans[1][0] <= spans[1][1] <= HEIGHT
    ):
        sizes = " x ".join(str(high - low + 1) for low, high in spans)
        raise DataError(f"{where}: the target is {sizes} blocks, from height {spans[1][0]}; the build region holds 11 x 9 x 11")
    x, z = (max(-SIDE - low, min(0, SIDE - high)) for low, high in (spans[0], spans[2]))
    return Structure.of((block[0] + x, block[1], block[2] + z, block[3]) for block in blocks)


def _block(line: str, where: str) -> tuple[int, int, int, str]:
    try:
        entry = ElementTree.fromstring(line).attrib
        color = _COLOR.search(entry["type"])
        x, y, z = (int(entry[axis]) for axis in "xyz")
    except (ElementTree.ParseError, KeyError, ValueError):
        color = None
    if color is None:
        raise DataError(
            f'{where}: expected a block such as <DrawBlock type="cwc_red_rn" x="100" y="1" z="100"/>, not {line.strip()[:80]}'
        )
    return x - _OFFSET, y, z - _OFFSET, color[0]
