"""Items as JSON, as `harness data items` prints them and `harness simulate` writes them; such files read and written."""

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from harness.corpora.archive import CorpusRecord, read_json
from harness.corpora.item import Executed, HexagonsItem, Item, MinecraftItem, Turn, Utterance
from harness.errors import DataError, HarnessError, UsageError
from harness.tasks.registry import TASKS, task_of, world_of
from harness.util.files import json_lines
from harness.worlds.hexagons import TILES, Board, Paint
from harness.worlds.minecraft import HEIGHT, SIDE, Action, Pose, Structure

_HINT = 'docs/data.md ("An item") describes such lines'


def to_record(item: Item) -> dict[str, Any]:
    """The item as values for `json.dumps`. Boards are 180 digits, structures sorted lists of `[x, y, z, color]`."""
    if isinstance(item, MinecraftItem):
        return {
            "id": item.id,
            "history": [turn_record(turn) for turn in item.history],
            "before": item.before.blocks(),
            "pose": item.pose._asdict(),
            "actions": item.actions,
            "after": item.after.blocks(),
        }
    return {
        "id": item.id,
        "history": [turn.text for turn in item.history if isinstance(turn, Utterance)],
        "instruction": item.instruction,
        "before": item.before.digits(),
        "actions": item.actions,
        "after": item.after.digits(),
    }


def turn_record(turn: Turn) -> dict[str, Any]:
    """A turn of a building game as `Said` and `Did` read it; if the pose of a run is unknown, the key is left out."""
    if isinstance(turn, Utterance):
        return turn._asdict()
    return {"actions": turn.actions, **({"pose": turn.pose._asdict()} if turn.pose else {})}


def to_full_record(item: Item) -> dict[str, Any]:
    """`to_record`, and what else `from_record` needs to restore the item; HEXAGONS: `executed`, the history's actions."""
    done = [turn.actions for turn in item.history if isinstance(turn, Executed)] if isinstance(item, HexagonsItem) else None
    extra = {} if done is None else {"executed": done}
    return to_record(item) | extra | {"group": item.group, "cluster": item.cluster, "meta": dict(item.meta)}


Text = Annotated[str, Field(max_length=20_000)]
_Cell = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]
_Number = Annotated[float, Field(ge=-1_000_000, le=1_000_000, allow_inf_nan=False)]
_Side = Annotated[int, Field(ge=-SIDE, le=SIDE)]
_Color = Literal["red", "orange", "yellow", "green", "blue", "purple"]
BlockRecord = tuple[_Side, Annotated[int, Field(ge=1, le=HEIGHT)], _Side, _Color]
# Builders of the real games also act outside the region.
_Action = tuple[Literal["place", "remove"], _Color | None, _Cell, _Cell, _Cell]


def _colored(action: _Action) -> _Action:
    if action[0] == "place" and action[1] is None:
        raise ValueError("a block that is placed has a color")
    return action


ActionRecord = Annotated[_Action, AfterValidator(_colored)]
"""A Minecraft action: ["place", color, x, y, z] or ["remove", color or null, x, y, z]."""
PaintRecord = tuple[
    Annotated[int, Field(ge=0, le=9)],
    Annotated[int, Field(ge=0, le=17)],
    Literal["white", "black", "yellow", "green", "red", "blue", "purple", "orange"],
]
Digits = Annotated[str, Field(pattern=rf"^[0-7]{{{TILES}}}$")]


class _Named(CorpusRecord):
    id: Annotated[str, Field(pattern=rf"^({'|'.join(TASKS)})[a-z0-9-]*/[^/]+/.*[^/]$")]


class _Line(_Named):
    model_config = ConfigDict(extra="forbid")

    group: str | None = None
    cluster: str | None = None
    meta: dict[str, Any] = {}

    @property
    def common(self) -> dict[str, Any]:
        """The fields that both kinds of items have. If a group or a cluster is missing, it is the game or procedure."""
        whole = self.id.rpartition("/")[0]
        names = {"group": self.group or whole, "cluster": self.cluster or whole}
        return {"id": self.id, "split": self.id.split("/")[1], "meta": self.meta, **names}


class Said(CorpusRecord):
    """Something said in a building game."""

    speaker: Literal["Architect", "Builder"]
    text: Text


class PoseRecord(CorpusRecord):
    """Where the builder stands (cells) and looks (degrees), as `Pose`."""

    x: _Number
    y: _Number
    z: _Number
    yaw: _Number
    pitch: _Number

    @property
    def value(self) -> Pose:
        return Pose(self.x, self.y, self.z, self.yaw, self.pitch)


class Did(CorpusRecord):
    """A run of actions in a building game, and where the builder stood when it began."""

    actions: list[ActionRecord] = Field(max_length=5_000, fail_fast=True)
    pose: PoseRecord | None = None


def _turn_type(turn: Any) -> str:
    return "(done)" if isinstance(turn, dict) and "actions" in turn else "(said)"


class _MinecraftLine(_Line):
    history: list[Annotated[Annotated[Said, Tag("(said)")] | Annotated[Did, Tag("(done)")], Discriminator(_turn_type)]]
    before: list[BlockRecord]
    pose: PoseRecord
    actions: list[ActionRecord]
    after: list[BlockRecord]

    def item(self) -> MinecraftItem:
        return MinecraftItem(
            history=turns(self.history),
            before=Structure.of(self.before),
            pose=self.pose.value,
            actions=_actions(self.actions),
            after=Structure.of(self.after),
            **self.common,
        )


class _HexagonsLine(_Line):
    history: list[str]
    executed: list[list[PaintRecord]] = []
    instruction: str
    before: Digits
    actions: list[PaintRecord]
    after: Digits

    @model_validator(mode="after")
    def _each_step_was_executed(self) -> Self:
        if len(self.history) != len(self.executed):
            raise ValueError(f"executed: actions of {len(self.executed)} steps, but history has {len(self.history)}")
        return self

    def item(self) -> HexagonsItem:
        history: list[Turn] = []
        for instruction, done in zip(self.history, self.executed, strict=True):
            history += [Utterance("Instructor", instruction), Executed(tuple(Paint(*paint) for paint in done))]
        return HexagonsItem(
            instruction=self.instruction,
            history=tuple(history),
            before=Board.from_digits(self.before),
            actions=tuple(Paint(*paint) for paint in self.actions),
            after=Board.from_digits(self.after),
            **self.common,
        )


def from_record(line: bytes | str, where: str) -> Item:
    """The item of a line of JSON. Raises DataError with `where` and what is wrong with it."""
    world = world_of(task_of(read_json(_Named, line, where, _HINT).id, "hexagons"))
    kind: type[_MinecraftLine | _HexagonsLine] = _MinecraftLine if world == "minecraft" else _HexagonsLine
    return read_json(kind, line, where, _HINT).item()


def turns(said_and_done: Iterable[Said | Did]) -> tuple[Turn, ...]:
    """The turns of a building game."""
    return tuple(
        Utterance(turn.speaker, turn.text)
        if isinstance(turn, Said)
        else Executed(_actions(turn.actions), turn.pose.value if turn.pose else None)
        for turn in said_and_done
    )


def _actions(rows: Iterable[tuple[str, str | None, int, int, int]]) -> tuple[Action, ...]:
    return tuple(Action(*row) for row in rows)


def read_items(path: Path) -> Iterator[Item]:
    """The items of a file of JSON Lines (also .gz), in order. Raises DataError, with file and line, for what is none."""
    for number, line in json_lines(path):
        yield from_record(line, f"{path}:{number}")


def load_items(path: Path, task: str | None = None) -> list[Item]:
    """All items of a file that `read_items` reads. They must be of one world, and each must have its own id.

    Raises UsageError for items of another world than the given task's, and DataError as `read_items` does.
    """
    items: dict[str, Item] = {}
    for item in read_items(path):
        if item.id in items:
            raise DataError(f"{path}: the item {item.id} occurs twice; keep one of them")
        task = task or item.task
        if item.world != world_of(task):
            raise UsageError(f"{path}: {item.id} is an item of {item.task}, but --task is {task}")
        items[item.id] = item
    if not items:
        raise DataError(f"{path}: it holds no items")
    return list(items.values())


def load_more(files: Iterable[Path], task: str, there: Iterable[Item]) -> dict[str, list[Item]]:
    """The items of the files of `--data`, by the files' names.

    Raises UsageError for an item that is `there` already or in two of the files, and otherwise as `load_items` does.
    """
    added: dict[str, list[Item]] = {}
    seen = {item.id for item in there}
    for file in files:
        items = load_items(file, task)
        if twice := seen & {item.id for item in items}:
            raise UsageError(f"--data {file}: {min(twice)} is among the train or dev items already; give every item once")
        seen.update(item.id for item in items)
        added.setdefault(file.name, []).extend(items)
    return added


def check_output(out: Path, overwrite: bool) -> None:
    """Raises UsageError for a name of another form, and if there is something at `out` that may not be replaced."""
    if not out.name.endswith((".jsonl", ".jsonl.gz")):
        raise UsageError(f"--out {out}: give a name that ends in .jsonl or .jsonl.gz")
    if out.is_dir():
        raise UsageError(f"--out {out} is a folder: give the name of a file in it")
    if out.exists() and not overwrite:
        raise UsageError(f"{out} exists: choose another --out, or --overwrite it")


def write_items(items: Iterable[Item], out: Path, report: Callable[[int], None] = lambda number: None) -> tuple[int, int]:
    """Writes a file beside its place and moves it there when it is whole: the same items are the same bytes, in .gz too.

    `report` hears, game by game, how many items there are so far. Returns the numbers of items and of their games or procedures.
    Raises HarnessError if writing fails, which leaves nothing.
    """
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    number, games, cluster = 0, 0, ""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as plain:
            stream: Any = gzip.GzipFile("", "wb", 6, plain, 0) if out.suffix == ".gz" else nullcontext(plain)
            with stream as file:
                for number, item in enumerate(items, start=1):
                    file.write(f"{json.dumps(to_full_record(item), ensure_ascii=False)}\n".encode())
                    if item.cluster != cluster:
                        cluster, games = item.cluster, games + 1
                        report(number)
        os.replace(beside, out)
    except OSError as error:
        raise HarnessError(f"{out}: cannot be written: {error.strerror or error}") from error
    finally:
        if beside.is_file():
            beside.unlink()
    return number, games
