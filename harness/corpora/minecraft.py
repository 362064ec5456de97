"""The Minecraft Dialogue Corpus exactly as published: `mdc.tar.xz`, or the folder it unpacks to.

Narayan-Chen et al. 2019; splits and items of Builder Action Prediction after Jayannavar et al. 2020, section 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from harness.corpora import archive
from harness.corpora.archive import CorpusRecord, read_json
from harness.corpora.corpus import Corpus, building_counts
from harness.corpora.item import MinecraftItem
from harness.corpora.minecraft_logs import Game, read_game
from harness.corpora.targets import targets
from harness.errors import DataError
from harness.worlds.minecraft import Structure

SPLITS = ("train", "val", "test")
LOADER = 2
"""To be raised whenever the parsed games change."""

_LOG = re.compile(r"(?:^|[/ ])logs/(?P<day>data-[^/]+)/logs/(?P<game>[^/]+)/postprocessed-observations\.json$")
_GAME = re.compile(r"B\d+-A\d+-(?P<target>C\d+)-\d{7,}")


class SplitTargets(CorpusRecord):
    """`splits.json`: the target structures of each split. Games go where their target goes."""

    train: list[str]
    val: list[str]
    test: list[str]


def _find_logs(folder: Path) -> Path | None:
    """The folder with `splits.json` and the collection days in an unpacked corpus; None if there is none."""
    places = (folder / "data" / "logs", folder / "logs")
    return next((place for place in places if (place / "splits.json").is_file()), None)


def read_games(source: Path) -> list[Game]:
    """Every game of the corpus, in the canonical order: by (day folder, game folder), bytewise.

    Takes some seconds for the published corpus; see `MinecraftCorpus.games`. Raises DataError, which names the archive's
    member or the file, if one is damaged or is not as published, or if a split names a target without a game.
    """
    split_of: dict[str, str] | None = None
    games: dict[tuple[bytes, bytes], Game] = {}
    for name, data in _files(source):
        log = _LOG.search(name)
        if log is None:
            split_of = _split_of(read_json(SplitTargets, data, name), name)
            continue
        match = _GAME.fullmatch(log["game"])
        if match is None:
            raise DataError(f"{name}: {log['game']!r} is not a game: expected B<builder>-A<architect>-C<target>-<time>")
        key = log["day"].encode(), log["game"].encode()
        if key in games:
            raise DataError(f"{name}: the game occurs twice")
        games[key] = read_game(data, log["game"], log["day"], match["target"], name)
    if split_of is None:
        raise DataError(f"{source} holds no data/logs/splits.json: expected the corpus as published")
    unbuilt = sorted(split_of.keys() - {game.target for game in games.values()})
    if unbuilt:
        raise DataError(f"{source}: splits.json names {unbuilt[0]}, a target without any game in the logs")
    return [replace(games[key], split=split_of.get(games[key].target)) for key in sorted(games)]


def _split_of(targets: SplitTargets, where: str) -> dict[str, str]:
    """From target to split. Raises DataError for a target in two splits."""
    split_of: dict[str, str] = {}
    for split in SPLITS:
        for target in getattr(targets, split):
            if target in split_of:
                raise DataError(f"{where}: target {target} is both in {split_of[target]} and in {split}")
            split_of[target] = split
    return split_of


def _files(source: Path) -> Iterator[tuple[str, bytes]]:
    """The needed files of an archive, or of an unpacked corpus in order."""
    logs = source if source.is_file() else _find_logs(source)
    if logs is None:
        raise DataError(f"{source} holds no data/logs/splits.json: expected the corpus as published, unpacked")
    return archive.files(source, logs.parent, ("logs/splits.json", "logs/data-*/logs/*/postprocessed-observations.json"))


def items(games: Iterable[Game]) -> Iterator[MinecraftItem]:
    """The BAP items of some games, in order; games without a split and dropped runs have none."""
    for game in games:
        if game.split is None:
            continue
        for run in game.runs:
            if run.before is None or run.after is None:
                continue
            cluster = f"minecraft/{game.split}/{game.name}"
            yield MinecraftItem(
                id=f"{cluster}/{run.states[0]}",
                split=game.split,
                history=game.turns[: run.turn],
                before=run.before,
                pose=run.pose,
                actions=run.actions,
                after=run.after,
                group=game.target,
                cluster=cluster,
                meta={"game": game.name, "index": run.states[0], "target": game.target, "day": game.day, "states": run.states},
            )


class MinecraftCorpus(Corpus):
    """The Minecraft Dialogue Corpus, or our sample of the same form."""

    def find(self, folder: Path) -> Path | None:
        """The archive `mdc.tar.xz`, or the folder where it holds the corpus unpacked; None if there is neither."""
        packed = folder / "mdc.tar.xz"
        return packed if packed.is_file() else folder if _find_logs(folder) else None

    def digest(self, source: Path) -> str:
        return archive.digest(source, lambda: _files(source))

    def games(self, source: Path) -> list[Game]:
        """What `read_games` returns, from the cache where it holds this source. Raises DataError as that does."""
        return archive.through_cache(f"minecraft-{LOADER}-{self.digest(source)}", list[Game], lambda: read_games(source))

    def items(self, source: Path, splits: Sequence[str]) -> Iterator[MinecraftItem]:
        games = self.games(source)
        return chain.from_iterable(items(game for game in games if game.split == split) for split in splits)

    def targets(self, source: Path, split: str) -> dict[str, Structure]:
        return targets(self.games(source), source, split)

    def stats(self, source: Path) -> dict[str, Any]:
        """The counts for each split, as BAP v2 has them in its Table 1; games without a split are left out."""
        games = {split: [game for game in self.games(source) if game.split == split] for split in self.task.splits}
        return {
            "splits": {
                split: {"games": len(of_split), "targets": len({game.target for game in of_split})}
                | building_counts(list(items(of_split)))
                for split, of_split in games.items()
            }
        }
