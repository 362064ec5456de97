"""The Minecraft Dialogue Corpus exactly as published: `mdc.tar.xz`, or the folder it unpacks to.

Narayan-Chen et al. 2019; splits and items of Builder Action Prediction after Jayannavar et al. 2020, section 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from harness.corpora import archive
from harness.corpora.archive import CorpusRecord, read_json
from harness.corpora.item import MinecraftItem
from harness.corpora.minecraft_logs import Game, read_game
from harness.errors import DataError

SPLITS = ("train", "val", "test")

_LOG = re.compile(r"(?:^|[/ ])logs/(?P<day>data-[^/]+)/logs/(?P<game>[^/]+)/postprocessed-observations\.json$")
_GAME = re.compile(r"B\d+-A\d+-(?P<target>C\d+)-\d{7,}")


class SplitTargets(CorpusRecord):
    """`splits.json`: the target structures of each split. Games go where their target goes."""

    train: list[str]
    val: list[str]
    test: list[str]


def find_logs(folder: Path) -> Path | None:
    """The folder with `splits.json` and the collection days in an unpacked corpus; None if there is none."""
    places = (folder / "data" / "logs", folder / "logs")
    return next((place for place in places if (place / "splits.json").is_file()), None)


def find(folder: Path) -> Path | None:
    """The archive `mdc.tar.xz` in a folder, or the folder where it holds the corpus unpacked; None if there is neither."""
    packed = folder / "mdc.tar.xz"
    return packed if packed.is_file() else folder if find_logs(folder) else None


def digest(source: Path) -> str:
    """The sha256 of an archive, or of the needed files of an unpacked corpus with their names, in hexadecimal.

    Raises DataError if one cannot be read.
    """
    return archive.digest(source, lambda: _files(source))


def read_games(source: Path) -> list[Game]:
    """Every game of the corpus, in the canonical order: by (day folder, game folder), bytewise.

    Takes some seconds for the published corpus; see `harness.corpora.cache`. Raises DataError, which names the archive's
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
    logs = source if source.is_file() else find_logs(source)
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
