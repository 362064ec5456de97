"""IGLU's single-turn instructions as published: one request to a builder in a world that holds blocks, and what was built.

Mohanty et al. 2022, github.com/microsoft/iglu-datasets, datasets/singleturn: the folder, or a .tar.xz of it. A line of the CSV
file names the world that an instruction starts from; the builder's recorded world is stored under the instruction's own name.
"""

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import degrees
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.corpora import archive
from harness.corpora.archive import CachedStructure, CorpusRecord, read_json
from harness.corpora.corpus import Corpus, building_counts
from harness.corpora.item import MinecraftItem, Utterance
from harness.errors import DataError
from harness.worlds.minecraft import Action, Pose, Structure, feasible_order, in_region, net_actions

ARCHIVE = "singleturn.tar.xz"

BUILT, UNCLEAR = "built", "unclear"
"""Kinds of instructions: an item, and one that the builder asked about."""

FAULTS = {
    "repeated": "a game id that occurs earlier in the file",
    "no start world": "the file of the start world is missing",
    "no target world": "the file of what was built is missing",
    "damaged world": "a file of a world cannot be read",
    "unknown block": "a block whose color is not known",
    "outside": "a block outside the build region",
    "unchanged": "nothing was changed",
    "no pose": "where the builder stood is not recorded",
    "floating": "what was built floats: no order of placements builds it",
}
"""The reasons why an instruction is not an item, with the words in which they are reported."""

# Two palettes were in use. People called 47 yellow: 56 of the 61 times that a one-color request removes a block of it.
COLORS = {
    57: "blue",
    86: "blue",
    50: "yellow",
    87: "yellow",
    47: "yellow",
    59: "green",
    88: "green",
    56: "purple",
    90: "purple",
    60: "red",
    91: "red",
    89: "orange",
}
AIR, GROUND = 0, 62

_TABLE = "clarifying_questions_train.csv"
_NEEDED = re.compile(r"(?:^|[/ ])(clarifying_questions_train\.csv|(?:initial|target)_world_states/.+)$")
_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_STOOD = re.compile(rf"pos_change \({_NUMBER}, {_NUMBER}, {_NUMBER}\)")
_LOOKED = re.compile(rf"set_look \({_NUMBER}, {_NUMBER}\)")


@dataclass(frozen=True, slots=True)
class Instruction:
    """A line of the file, with its worlds. `kind` is BUILT, UNCLEAR or one of FAULTS."""

    game: str
    start: str
    """The game that the start world is taken from, which decides the split."""
    step: str
    text: str
    kind: str
    detail: str
    """UNCLEAR: the question that was asked. A fault: the file, or what is wrong."""
    pose: Pose | None = None
    before: CachedStructure | None = None
    after: CachedStructure | None = None


class _Row(CorpusRecord):
    """A line of the CSV file."""

    GameId: Annotated[str, Field(min_length=1)]
    ClarifyingQuestion: str
    InitializedWorldPath: Annotated[str, Field(pattern=r"^initial_world_states/builder-data/[^/]+/[^/]+$")]
    InputInstruction: str
    IsInstructionClear: Literal["Yes", "No"]


class _Ending(CorpusRecord):
    blocks: list[tuple[int, int, int, int]]


class _Avatar(CorpusRecord):
    pos: tuple[float, float, float]
    look: tuple[float, float]
    """Pitch and yaw, in radians."""


class _World(CorpusRecord):
    """A world file, as far as it is used."""

    worldEndingState: _Ending
    tape: str = ""
    avatarInfo: _Avatar | None = None


class _Fault(Exception):
    """Why an instruction is not an item: one of FAULTS, and what is wrong."""


def split_of(start: str) -> str:
    """The split of all instructions that start in worlds of one game; the authors published no splits for building."""
    return {0: "dev", 1: "test"}.get(int(hashlib.sha256(start.encode()).hexdigest(), 16) % 10, "train")


def read_instructions(source: Path) -> list[Instruction]:
    """Every line of the file, in order. Takes some seconds; see `IgluCorpus.instructions`.

    Raises DataError for a damaged archive and for a CSV file that is not as published.
    """
    files = {match[1]: data for name, data in _files(source) if (match := _NEEDED.search(name))}
    if _TABLE not in files:
        raise DataError(f"{source} holds no {_TABLE}: expected datasets/singleturn of IGLU as published")
    where = f"{source}: {_TABLE}"
    try:
        rows = list(csv.DictReader(io.StringIO(files[_TABLE].decode("utf-8-sig"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{where}: not a CSV file as published: {error}") from None
    seen: dict[str, str] = {}
    numbered = enumerate(rows, start=1)
    return [_instruction(read_json(_Row, row, f"{where}: row {number}"), files.get, seen) for number, row in numbered]


def _files(source: Path) -> Iterator[tuple[str, bytes]]:
    """The needed files of an archive, or of a folder in order."""
    worlds = ("initial_world_states/builder-data/*/*", "target_world_states/builder-data/actionHit/*/*")
    return archive.files(source, source, (_TABLE, *worlds))


def _instruction(row: _Row, world: Callable[[str], bytes | None], seen: dict[str, str]) -> Instruction:
    """The instruction of a row. `world` gives the content of a file by its path, `seen` the earlier texts by game; this row's is
    added."""
    game, text, path = row.GameId.removeprefix("CQ-"), row.InputInstruction.strip(), row.InitializedWorldPath
    start, step = path.split("/")[2:]
    read = Instruction(game, start, step, text, BUILT, "")
    try:
        if game in seen:
            raise _Fault("repeated", "the same text" if seen[game] == text else f"another text: {text}")
        seen[game] = text
        begun, before = _world(world(path), path, "no start world")
        path = f"target_world_states/builder-data/actionHit/{game}/{game}-step-action"
        if row.IsInstructionClear == "No":
            pose = _pose(_parsed(data, path)) if (data := world(path)) else None
            if pose is None and begun.avatarInfo:
                # Where the builder stood when the world was recorded.
                pose = _ours(begun.avatarInfo.pos, begun.avatarInfo.look)
            return replace(read, kind=UNCLEAR, detail=row.ClarifyingQuestion.strip(), pose=pose, before=before)
        ended, after = _world(world(path), path, "no target world")
        if after == before:
            raise _Fault("unchanged", "")
        if (pose := _pose(ended)) is None:
            raise _Fault("no pose", path)
        if gold_order(before, after) is None:
            raise _Fault("floating", path)
    except _Fault as fault:
        kind, detail = fault.args
        return replace(read, kind=kind, detail=detail)
    return replace(read, pose=pose, before=before, after=after)


def _world(data: bytes | None, path: str, missing: str) -> tuple[_World, Structure]:
    """A world file and its blocks. Raises _Fault."""
    if data is None:
        raise _Fault(missing, path)
    world = _parsed(data, path)
    cells: dict[tuple[int, int, int], str] = {}
    for x, y, z, code in world.worldEndingState.blocks:
        cell = x, y - GROUND, z
        if code == AIR:
            continue
        if code not in COLORS:
            raise _Fault("unknown block", f"{path}: {code} at {x} {y} {z}")
        if not in_region(*cell):
            raise _Fault("outside", f"{path}: {x} {y} {z}")
        if cells.setdefault(cell, COLORS[code]) != COLORS[code]:
            raise _Fault("damaged world", f"{path}: two blocks at {x} {y} {z}")
    return world, Structure.of((*cell, color) for cell, color in cells.items())


def _parsed(data: bytes, path: str) -> _World:
    try:
        return read_json(_World, data, path)
    except DataError as error:
        raise _Fault("damaged world", str(error)) from None


def _pose(world: _World) -> Pose | None:
    """Where the builder stood and looked when the tape begins; None if the tape does not say."""
    stood, looked = _STOOD.search(world.tape), _LOOKED.search(world.tape)
    return _ours([*map(float, stood.groups())], [*map(float, looked.groups())]) if stood and looked else None


def _ours(stood: Sequence[float], looked: Sequence[float]) -> Pose:
    """The pose in our units. IGLU's `looked` is (pitch, yaw) in radians: yaw 0 is north, -z, and grows to the left; a positive
    pitch looks up."""
    x, y, z = stood
    pitch, yaw = looked
    return Pose(x, y - GROUND, z, 180 - degrees(yaw), -degrees(pitch))


def gold_order(before: Structure, after: Structure) -> tuple[Action, ...] | None:
    """The net actions in a feasible order: removals from the top down, then placements, always the lowest that has support.

    None if there is no such order.
    """
    net = sorted(net_actions(before, after), key=lambda action: (action.y, action.x, action.z))
    removed = [action for action in reversed(net) if action.kind == "remove"]
    todo = [action for action in net if action.kind == "place"]
    placed = feasible_order(before.apply(removed).structure, todo)
    return (*removed, *placed) if len(placed) == len(todo) else None


def items(instructions: Iterable[Instruction], split: str, kind: str = BUILT) -> Iterator[MinecraftItem]:
    """The items of a split, in order. With UNCLEAR, its unclear instructions: nothing was built, and `meta` has the question."""
    for one in instructions:
        if one.kind != kind or split_of(one.start) != split or one.before is None or one.pose is None:
            continue
        question = {"question": one.detail} if kind == UNCLEAR else {}
        after = one.before if one.after is None else one.after
        yield MinecraftItem(
            id=f"iglu/{split}/{one.game}",
            split=split,
            history=(Utterance("Architect", one.text),),
            before=one.before,
            pose=one.pose,
            actions=gold_order(one.before, after) or (),
            after=after,
            group=one.start.rpartition("-")[2],
            cluster=f"iglu/{split}/{one.start}",
            meta={"game": one.game, "start": one.start, "step": one.step, **question},
        )


LOADER = 1
"""The loader's version, to be raised whenever the parsed instructions change."""


class IgluCorpus(Corpus):
    """The release, or our sample of the same form. Parsed instructions are cached."""

    def find(self, folder: Path) -> Path | None:
        """The archive, or the folder with the CSV file in a clone or a part of it; None if there is neither."""
        if (folder / ARCHIVE).is_file():
            return folder / ARCHIVE
        places = (folder, folder / "singleturn", folder / "datasets" / "singleturn")
        return next((place for place in places if (place / _TABLE).is_file()), None)

    def digest(self, source: Path) -> str:
        return archive.digest(source, lambda: ((name.removeprefix(f"{source}/"), data) for name, data in _files(source)))

    def instructions(self, source: Path) -> list[Instruction]:
        """What `read_instructions` returns, from the cache if it holds this source. Raises the same DataErrors."""
        name = f"iglu-{LOADER}-{self.digest(source)}"
        return archive.through_cache(name, list[Instruction], lambda: read_instructions(source))

    def items(self, source: Path, splits: Sequence[str]) -> Iterator[MinecraftItem]:
        instructions = self.instructions(source)
        return chain.from_iterable(items(instructions, split) for split in splits)

    def unclear(self, source: Path, split: str) -> Iterator[MinecraftItem]:
        return items(self.instructions(source), split, UNCLEAR)

    def stats(self, source: Path) -> dict[str, Any]:
        """The counts for each split, and for the lines of the file.

        `left_out` has, for each of FAULTS, the number of lines, the reason, and for each line its game and what is wrong.
        """
        lines = self.instructions(source)
        built = [one for one in lines if one.kind == BUILT]
        faults = {kind: [[one.game, one.detail] for one in lines if one.kind == kind] for kind in FAULTS}
        return {
            "splits": {split: _counts(list(items(built, split))) for split in self.task.splits},
            "instructions": {
                "lines": len(lines),
                "items": len(built),
                "unclear": sum(one.kind == UNCLEAR for one in lines),
                "texts": len({one.text for one in built}),
            },
            "left_out": {kind: {"lines": len(which), "why": FAULTS[kind], "which": which} for kind, which in faults.items()},
        }


def _counts(of_split: Sequence[MinecraftItem]) -> dict[str, int]:
    """The numbers of games and of structures that the starting worlds of a split come from, and counts of what is built."""
    removing = sum(any(action.kind == "remove" for action in item.actions) for item in of_split)
    starts = {"games": len({item.cluster for item in of_split}), "structures": len({item.group for item in of_split})}
    return starts | building_counts(of_split) | {"removing_items": removing}
