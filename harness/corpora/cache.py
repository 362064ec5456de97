"""The parsed Minecraft corpus as one Parquet file, so that only the first load takes seconds.

One row is a game; its events and runs are columns of lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from harness.corpora import minecraft
from harness.corpora.corpus import Corpus, building_counts
from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.corpora.minecraft_logs import ActionRun, Game
from harness.corpora.parquet import CELLS, as_cells, structures, through_cache
from harness.corpora.targets import targets
from harness.worlds.minecraft import Action, Pose, Structure

#: Increment whenever the parsed games or the columns change.
LOADER = 2

_SCALARS = ("name", "day", "target", "split", "world_states", "null_states")
_ACTIONS = ("place", "remove")


def read_games(source: Path) -> list[Game]:
    """What `minecraft.read_games` returns, from the cache where it holds this source. Raises DataError as that does."""
    return through_cache(f"minecraft-{LOADER}-{minecraft.digest(source)}", lambda: minecraft.read_games(source), _table, _games)


def _schema() -> Any:
    import pyarrow as pa

    names, counts, cells = pa.string(), pa.int32(), pa.binary(CELLS)
    # What was said and done. `kind` is the speaker or the kind of action, `text` what was said or the block's color.
    event = pa.struct([("kind", names), ("text", names), ("state", counts), ("x", counts), ("y", counts), ("z", counts)])
    run = pa.struct([*((key, pa.float64()) for key in Pose._fields), ("before", cells), ("after", cells)])
    scalars = [(key, counts if key.endswith("_states") else names) for key in _SCALARS]
    return pa.schema([*scalars, ("events", pa.list_(event)), ("runs", pa.list_(run))])


def _table(games: list[Game]) -> Any:
    import pyarrow as pa

    rows = [
        {key: getattr(game, key) for key in _SCALARS}
        | {"events": list(_event_rows(game)), "runs": [_run_row(run) for run in game.runs]}
        for game in games
    ]
    return pa.Table.from_pylist(rows, _schema())


def _event_rows(game: Game) -> Iterator[dict[str, Any]]:
    runs = iter(game.runs)
    for turn in game.turns:
        if isinstance(turn, Utterance):
            yield {"kind": turn.speaker, "text": turn.text}
            continue
        run = next(runs)
        for state, action in zip(run.states, run.actions, strict=True):
            yield {"kind": action.kind, "text": action.color, "state": state, "x": action.x, "y": action.y, "z": action.z}


def _run_row(run: ActionRun) -> dict[str, Any]:
    return run.pose._asdict() | {"before": as_cells(run.before), "after": as_cells(run.after)}


def _games(table: Any) -> list[Game]:
    """The games of a cache file. Structures are views of one array. Raises whatever a broken file leads to."""
    scalars = zip(*(table[key].to_pylist() for key in _SCALARS), strict=True)
    events, event_ends = _flat(table["events"])
    runs, run_ends = _flat(table["runs"])
    all_events = list(zip(*(events.field(i).to_pylist() for i in range(events.type.num_fields)), strict=True))
    poses = [Pose(*values) for values in zip(*(runs.field(key).to_pylist() for key in Pose._fields), strict=True)]
    all_runs = list(zip(poses, structures(runs.field("before")), structures(runs.field("after")), strict=True))
    games = []
    for k, (name, day, target, split, world_states, null_states) in enumerate(scalars):
        turns, game_runs = _turns(all_events[event_ends[k] : event_ends[k + 1]], all_runs[run_ends[k] : run_ends[k + 1]])
        games.append(Game(name, day, target, split, world_states, null_states, turns, game_runs))
    return games


def _flat(column: Any) -> tuple[Any, list[int]]:
    """A column of lists as one array, and where each row's values start there, with the end of the last."""
    lists = column.combine_chunks()
    return lists.values, lists.offsets.to_pylist()


def _turns(
    events: list[tuple[Any, ...]], runs: list[tuple[Pose, Structure | None, Structure | None]]
) -> tuple[tuple[Turn, ...], tuple[ActionRun, ...]]:
    turns: list[Turn] = []
    done: list[ActionRun] = []
    for acted, group in groupby(events, key=lambda event: event[0] in _ACTIONS):
        if not acted:
            turns.extend(Utterance(speaker, text) for speaker, text, *_ in group)
            continue
        changes = list(group)
        actions = tuple(Action(kind, color, x, y, z) for kind, color, _, x, y, z in changes)
        pose, before, after = runs[len(done)]
        done.append(ActionRun(len(turns), actions, tuple(change[2] for change in changes), pose, before, after))
        turns.append(Executed(actions, pose))
    return tuple(turns), tuple(done)


class MinecraftCorpus(Corpus):
    """The Minecraft Dialogue Corpus, or our sample of the same form."""

    find = staticmethod(minecraft.find)
    digest = staticmethod(minecraft.digest)

    def items(self, source: Path, splits: Sequence[str]) -> Iterator[MinecraftItem]:
        games = read_games(source)
        return chain.from_iterable(minecraft.items(game for game in games if game.split == split) for split in splits)

    def targets(self, source: Path, split: str) -> dict[str, Structure]:
        return targets(read_games(source), source, split)

    def stats(self, source: Path) -> dict[str, Any]:
        """The counts for each split, as BAP v2 has them in its Table 1; games without a split are left out."""
        games = {split: [game for game in read_games(source) if game.split == split] for split in self.task.splits}
        return {
            "splits": {
                split: {"games": len(of_split), "targets": len({game.target for game in of_split})}
                | building_counts(list(minecraft.items(of_split)))
                for split, of_split in games.items()
            }
        }
