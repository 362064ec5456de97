"""The Minecraft Dialogue Corpus as tasks read it, with the target structures: what the Architect sees and the builder does not.

The corpus has the targets as `gold-configurations/<target>.xml`, one block a line. If a target has no such file, the structure in
which its last game ends is taken.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from harness.corpora import archive
from harness.corpora.corpus import Corpus, building_counts
from harness.corpora.item import MinecraftItem
from harness.corpora.minecraft_logs import Game, color_in, files, find_logs, items, read_games
from harness.errors import DataError
from harness.worlds.minecraft import HEIGHT, SHAPE, SIDE, Structure

LOADER = 2
"""The loader's version, to be raised whenever the parsed games change."""
_FILE = re.compile(r"(?:^|/)gold-configurations/(?P<target>[^/]+)\.xml$")
_OFFSET = 100
"""The value of x and z in the files at our coordinate 0."""


class MinecraftCorpus(Corpus):
    """The Minecraft Dialogue Corpus, or our sample of the same form."""

    def find(self, folder: Path) -> Path | None:
        """The archive `mdc.tar.xz`, or the folder if it holds the unpacked corpus; None if there is neither."""
        packed = folder / "mdc.tar.xz"
        return packed if packed.is_file() else folder if find_logs(folder) else None

    def digest(self, source: Path) -> str:
        return archive.digest(source, lambda: files(source))

    def games(self, source: Path) -> list[Game]:
        """The result of `read_games`, from the cache if it holds this source. Raises DataError as `read_games` does."""
        return archive.through_cache(f"minecraft-{LOADER}-{self.digest(source)}", list[Game], lambda: read_games(source))

    def items(self, source: Path, splits: Sequence[str]) -> Iterator[MinecraftItem]:
        games = self.games(source)
        return chain.from_iterable(items(game for game in games if game.split == split) for split in splits)

    def targets(self, source: Path, split: str) -> dict[str, Structure]:
        return targets(self.games(source), source, split)

    def stats(self, source: Path) -> dict[str, Any]:
        """The counts for each split, as in Table 1 of BAP v2; games without a split are left out."""
        games = {split: [game for game in self.games(source) if game.split == split] for split in self.task.splits}
        return {
            "splits": {
                split: {"games": len(of_split), "targets": len({game.target for game in of_split})}
                | building_counts(list(items(of_split)))
                for split, of_split in games.items()
            }
        }


def targets(games: Sequence[Game], source: Path, split: str) -> dict[str, Structure]:
    """The targets of a split by name, in the order of their numbers.

    `games` are the games of the source. Raises DataError for a damaged file and for a target that does not fit in the region.
    """
    wanted = {game.target for game in games if game.split == split}
    known = {
        match["target"]: _structure(data, where)
        for where, data in archive.files(source, source, ("**/gold-configurations/*.xml",))
        if (match := _FILE.search(where)) and match["target"] in wanted
    }
    for game in games:
        if game.target in wanted and (ends := [run.after for run in game.runs if run.after is not None]):
            known.setdefault(game.target, ends[-1])
    return {name: known[name] for name in sorted(known, key=lambda name: (len(name), name)) if len(known[name])}


def _structure(data: bytes, where: str) -> Structure:
    """The structure in a file, moved along the ground if it lies outside the region but fits in it."""
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
        color = color_in(entry["type"])
        x, y, z = (int(entry[axis]) for axis in "xyz")
    except (ElementTree.ParseError, KeyError, ValueError):
        color = None
    if color is None:
        raise DataError(
            f'{where}: expected a block such as <DrawBlock type="cwc_red_rn" x="100" y="1" z="100"/>, not {line.strip()[:80]}'
        )
    return x - _OFFSET, y, z - _OFFSET, color
