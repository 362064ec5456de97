"""The requests of the benchmark `everyday`, from their YAML files to items. docs/everyday.md describes the files."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from harness.corpora.corpus import Corpus
from harness.corpora.item import Executed, HexagonsItem, Item, MinecraftItem, Turn, Utterance
from harness.errors import DataError
from harness.worlds import World
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import FACING, Structure
from serialization.formats.answer import NOTHING
from serialization.formats.program import run, state_of
from serialization.program import ast
from serialization.program.errors import ProgramError
from serialization.program.parse import parse

REQUESTS = Path(__file__).parent / "requests"
"""A file for each world and split."""
NO_CHANGE = "nothing"
"""The program of an answer that changes nothing."""

KINDS = (
    *("whole", "border", "corner", "line", "figure", "count", "relation", "repeat"),
    *("mirror", "undo", "recolor", "remove", "correction", "size", "cannot"),
)
Freedom = Literal["shift", "turn", "mirror", "color"]


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _told(value: Any) -> Any:
    return {"program": value} if isinstance(value, str) else value


class Right(BaseModel):
    """One of the right answers to a turn, or many of them at once. `harness.everyday.judge` says what the fields mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    program: str | None = None
    example: str | None = Field(None, description="A right answer if `program` is not given.")
    up_to: Annotated[tuple[Freedom, ...], BeforeValidator(_listed)] = ()
    holds: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()

    @model_validator(mode="after")
    def _agrees(self) -> "Right":
        if self.up_to and self.program is None:
            raise ValueError("up_to needs a program")
        if self.program is None and (not self.holds or self.example is None):
            raise ValueError("give a program, or conditions that hold and an example")
        for text in (self.program, self.example):
            if text is not None:
                read_program(text)
        for text in self.holds:
            read_condition(text)
        return self

    @property
    def gold(self) -> str:
        """The program of one right answer."""
        return self.program if self.program is not None else self.example or NO_CHANGE


class _Turn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    say: Annotated[str, Field(min_length=1)]
    right: Annotated[list[Annotated[Right, BeforeValidator(_told)]], BeforeValidator(_listed), Field(min_length=1)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Annotated[str, Field(pattern=f"^({'|'.join(KINDS)})$")]
    start: str = NO_CHANGE
    turns: Annotated[list[_Turn], Field(min_length=1, max_length=4)]


_FILE = TypeAdapter(dict[str, _Request])


@lru_cache(maxsize=4096)
def read_program(text: str) -> ast.Program:
    """The program of an answer; `nothing` is the empty one. Raises ValueError for an invalid program."""
    try:
        return parse("" if text == NO_CHANGE else text)
    except ProgramError as error:
        raise ValueError(f"{text!r}: {error}") from None


def read_condition(text: str) -> ast.Program:
    """A program that sets the name `yes` to 1 if the condition holds, otherwise to 0."""
    return read_program(f"if {text} {{yes=1}} else {{yes=0}}")


class Everyday(Corpus):
    """A YAML file for each split."""

    def items(self, source: Path, splits: Sequence[str]) -> Iterator[Item]:
        """The turns of the requests, in the files' order, each after right answers to the turns before it.

        Raises DataError, with the file and the request's name, for an invalid request, and for a program that fails or, unless it
        is `nothing`, changes nothing.
        """
        for split in splits:
            file = self._file(source, split)
            for name, request in _read(file).items():
                try:
                    yield from _turns(f"{self.task.name}/{split}/{name}", self.task.world, split, request)
                except ValueError as error:
                    raise DataError(f"{file}: {name}: {error}") from None

    def _file(self, folder: Path, split: str) -> Path:
        return folder / f"{self.task.world}-{split}.yaml"


def _read(file: Path) -> Mapping[str, _Request]:
    import yaml

    try:
        return _FILE.validate_python(yaml.load(file.read_bytes(), yaml.CSafeLoader))
    except yaml.YAMLError as error:
        raise DataError(f"{file}: not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise DataError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _turns(name: str, world: World, split: str, request: _Request) -> Iterator[Item]:
    drawing = world == "hexagons"
    common = {"split": split, "group": name, "cluster": name}
    state: Any = Board() if drawing else Structure()
    history: tuple[Turn, ...] = ()

    def item(number: int, say: str, **more: Any) -> Item:
        fields = {"id": f"{name}/{number}", "before": state, "actions": (), "after": state, **common, **more}
        if drawing:
            return HexagonsItem(instruction=say, history=history, **fields)
        return MinecraftItem(history=(*history, Utterance("Architect", say)), pose=FACING, **fields)

    state = state.apply(_actions(item(0, ""), request.start, "start"))[0]
    for number, turn in enumerate(request.turns, start=1):
        first = turn.right[0]
        gold = _actions(item(number, turn.say), first.gold, f"turn {number}")
        if not gold and first.gold != NO_CHANGE:
            raise ValueError(f"turn {number}: the first right answer changes nothing; if nothing is to change, say {NO_CHANGE!r}")
        meta: dict[str, Any] = {
            "kind": request.kind,
            "changes": bool(gold),
            "right": [one.model_dump(exclude_defaults=True) for one in turn.right],
        }
        if split == "train":
            # Programs of dev and test items would teach what they test.
            meta["program"] = NOTHING if first.gold == NO_CHANGE else first.gold
        done = item(number, turn.say, actions=gold, after=state.apply(gold)[0], meta=meta)
        yield done
        state = done.after
        said = Utterance("Instructor" if drawing else "Architect", turn.say)
        history = (*history, said, Executed(gold, None if drawing else FACING))


def _actions(item: Item, program: str, where: str) -> tuple[Any, ...]:
    outcome = run(read_program(program), state_of(item))
    if outcome.error:
        raise ValueError(f"{where}: {program!r}: {outcome.error}")
    return outcome.actions
