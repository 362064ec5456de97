"""The Minecraft Dialogue Corpus exactly as published, from its logs to games and items: `mdc.tar.xz`, or what it unpacks to.

Narayan-Chen et al. 2019; splits and items of Builder Action Prediction after Jayannavar et al. 2020, section 3, by the rules of
the released extractor.

A log lists world states: the whole structure, the builder's pose and the chat so far. Differences between neighboring
states are the builder's actions; a maximal run of actions with nothing said in between is one BAP item.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from typing_extensions import TypedDict

from harness.corpora import archive
from harness.corpora.archive import CachedStructure, CorpusRecord, read_json
from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.errors import DataError
from harness.worlds.minecraft import COLORS, Action, Block, Pose, Structure, in_region

_LOG = re.compile(r"(?:^|[/ ])logs/(?P<day>data-[^/]+)/logs/(?P<game>[^/]+)/postprocessed-observations\.json$")
_GAME = re.compile(r"B\d+-A\d+-(?P<target>C\d+)-\d{7,}")
_LINE = re.compile(r"<(?P<speaker>Architect|Builder)>(?P<text>.*)", re.DOTALL)
Blocks = frozenset[Block]


# Dictionaries are faster to make than models, and the corpus has 635,280 blocks.
class Coordinates(TypedDict):
    X: int
    Y: int
    Z: int


class GridBlock(TypedDict):
    AbsoluteCoordinates: Coordinates
    Type: str


class Position(CorpusRecord):
    X: float
    Y: float
    Z: float
    Yaw: float
    Pitch: float


class WorldState(CorpusRecord):
    ChatHistory: list[str]
    BlocksInGrid: list[GridBlock]
    BuilderPosition: Position | None


class Observations(CorpusRecord):
    """A file `postprocessed-observations.json`, as far as it is used."""

    WorldStates: list[WorldState]


class ActionRun(NamedTuple):
    """A run of builder actions: one BAP item, or dropped if a block of its structures lies outside the region."""

    turn: int
    """The index of the run's `Executed` in the game's turns."""
    actions: tuple[Action, ...]
    states: tuple[int, ...]
    """For each action, the index of the world state that first shows it, at least 1, among the states with a pose; ascending."""
    pose: Pose
    """Where the builder stood in the state before the first action's."""
    before: CachedStructure | None
    """The structure before the first action; None if the run is dropped."""
    after: CachedStructure | None
    """The structure in the last action's state; None if the run is dropped."""


@dataclass(frozen=True, slots=True)
class Game:
    """A dialogue. Runs are in the order of time; their turns alternate with what was said."""

    name: str
    day: str
    target: str
    split: str | None
    """None if the target belongs to no split (the warm-up targets)."""
    world_states: int
    null_states: int
    """How many of the world states have no pose; they show no blocks either and are skipped."""
    turns: tuple[Turn, ...]
    runs: tuple[ActionRun, ...]


class _Change(NamedTuple):
    """A block that a world state shows placed or removed, compared with the state before."""

    state: int
    action: Action


def read_game(data: bytes, name: str, day: str, target: str, where: str) -> Game:
    """The game of a log, in no split yet. Raises DataError with `where` for a log that is not as published."""
    states = read_json(Observations, data, where).WorldStates
    usable = [state for state in states if state.BuilderPosition is not None]
    blocks = [[_block(entry, where) for entry in state.BlocksInGrid] for state in usable]
    structures = [frozenset(listed) for listed in blocks]
    turns: list[Turn] = []
    runs: list[ActionRun] = []
    for _, group in groupby(_events(usable, blocks, structures, where), key=type):
        events = list(group)
        if changes := [event for event in events if isinstance(event, _Change)]:
            runs.append(_run(len(turns), changes, usable, structures))
            turns.append(Executed(runs[-1].actions, runs[-1].pose))
        turns += [event for event in events if isinstance(event, Utterance)]
    return Game(name, day, target, None, len(states), len(states) - len(usable), tuple(turns), tuple(runs))


def _events(
    states: list[WorldState], blocks: list[list[Block]], structures: list[Blocks], where: str
) -> Iterator[_Change | Utterance]:
    """Everything that happens after the first state, which has no state before it to be compared with."""
    # The released extractor takes the second state for the start: blocks that are already there are placed again before each line
    # of its chat.
    for line in states[1].ChatHistory if len(states) > 1 else ():
        yield from (_Change(1, _action("place", block)) for block in blocks[1])
        yield _utterance(line, where)
    for i in range(2, len(states)):
        heard, chat = len(states[i - 1].ChatHistory), states[i].ChatHistory
        if len(chat) < heard:
            raise DataError(f"{where}: the chat of world state {i} is shorter than the one before; chats only grow")
        yield from (_Change(i, _action("place", block)) for block in sorted(structures[i] - structures[i - 1]))
        yield from (_Change(i, _action("remove", block)) for block in sorted(structures[i - 1] - structures[i]))
        yield from (_utterance(line, where) for line in chat[heard:])


def _run(turn: int, changes: list[_Change], states: list[WorldState], structures: list[Blocks]) -> ActionRun:
    first, last = changes[0].state, changes[-1].state
    shown = [structures[i] for change in changes for i in (change.state - 1, change.state)] if first > 1 else [structures[1]]
    kept = all(in_region(*block[:3]) for structure in {*shown} for block in structure)
    position = states[first - 1].BuilderPosition
    assert position is not None  # States without a pose were skipped.
    return ActionRun(
        turn=turn,
        actions=tuple(change.action for change in changes),
        states=tuple(change.state for change in changes),
        pose=Pose(position.X, position.Y, position.Z, position.Yaw, position.Pitch),
        before=Structure.of(structures[first - 1] if first > 1 else ()) if kept else None,
        after=Structure.of(structures[last]) if kept else None,
    )


def _action(kind: str, block: Block) -> Action:
    return Action(kind, block.color, *block[:3])


def _block(entry: GridBlock, where: str) -> Block:
    at = entry["AbsoluteCoordinates"]
    if (color := color_in(entry["Type"])) is None:
        raise DataError(f"{where}: a block of type {entry['Type']!r} has none of the six colors, such as cwc_minecraft_red_rn")
    return Block(at["X"], at["Y"], at["Z"], color)


@lru_cache(maxsize=64)
def color_in(kind: str) -> str | None:
    """Both `cwc_minecraft_red_rn` and `cwcmod:cwc_red_rn` are red."""
    return next((color for color in COLORS if color in kind), None)


def _utterance(line: str, where: str) -> Utterance:
    if match := _LINE.fullmatch(line):
        return Utterance(match["speaker"], match["text"].strip())
    raise DataError(f"{where}: the chat line {line[:40]!r} starts with neither <Architect> nor <Builder>")


class SplitTargets(CorpusRecord):
    """`splits.json`: the target structures of each split. A game is in the split of its target."""

    train: list[str]
    val: list[str]
    test: list[str]


def find_logs(folder: Path) -> Path | None:
    """The folder with `splits.json` and the collection days in an unpacked corpus; None if there is none."""
    places = (folder / "data" / "logs", folder / "logs")
    return next((place for place in places if (place / "splits.json").is_file()), None)


def read_games(source: Path) -> list[Game]:
    """Every game of the corpus, in the canonical order: by (day folder, game folder), bytewise.

    Takes some seconds for the published corpus; see `harness.corpora.minecraft`. Raises DataError, which names the archive's
    member or the file, if one is damaged or is not as published, or if a split names a target without a game.
    """
    split_of: dict[str, str] = {}
    games: dict[tuple[bytes, bytes], Game] = {}
    for name, data in files(source):
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
    if not split_of:
        raise DataError(f"{source} holds no data/logs/splits.json: expected the corpus as published")
    unbuilt = sorted(split_of.keys() - {game.target for game in games.values()})
    if unbuilt:
        raise DataError(f"{source}: splits.json names {unbuilt[0]}, a target without any game in the logs")
    return [replace(games[key], split=split_of.get(games[key].target)) for key in sorted(games)]


def _split_of(targets: SplitTargets, where: str) -> dict[str, str]:
    """The split of each target. Raises DataError for a target in two splits."""
    split_of: dict[str, str] = {}
    for split, of_split in targets:
        for target in of_split:
            if target in split_of:
                raise DataError(f"{where}: target {target} is both in {split_of[target]} and in {split}")
            split_of[target] = split
    return split_of


def files(source: Path) -> Iterator[tuple[str, bytes]]:
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
        cluster = f"minecraft/{game.split}/{game.name}"
        for run in game.runs:
            if run.before is None or run.after is None:
                continue
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
