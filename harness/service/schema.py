"""Requests and answers of `POST /v1/harness/execute` as pydantic models, the source of the JSON Schema and the OpenAPI page."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from harness.corpora.item import Executed, HexagonsItem, MinecraftItem, Turn, Utterance
from harness.corpora.records import BlockRecord, Did, Digits, PaintRecord, PoseRecord, Said, Text, turns
from harness.tasks.registry import BuildingTask, DrawingTask, TaskName
from harness.worlds.hexagons import TILES, Board, Paint
from harness.worlds.minecraft import FACING, Pose, Structure

MOST_TURNS = 200
"""The most turns of a history that are read; the longest dialogue of the corpora has 160."""
MOST_SENT = 2_000
"""The most turns of a history in a request."""
Blocks = Annotated[list[BlockRecord], Field(max_length=1089, fail_fast=True)]
BUILDER = PoseRecord(**FACING._asdict())
"""The builder's pose if a request does not give one."""


class Body(BaseModel):
    """What a client sends: only the declared fields, only values of their types, and only finite numbers.

    Nothing makes an error of each of a client's many faults, which would take seconds: a list fails with its first one.
    """

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, json_schema_extra={"additionalProperties": False})

    @model_validator(mode="after")
    def _knows_all(self) -> Self:
        if self.model_extra:
            raise ValueError(f"Extra inputs are not permitted: {min(self.model_extra)[:80]!r}")
        return self


def faults(error: ValidationError) -> str:
    """The first faults of a body in a line: `messages.0.role: Field required`, without pydantic's names of a union's types."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[:5]
    places = (".".join(str(part) for part in fault["loc"] if isinstance(part, int) or part.isidentifier()) for fault in first)
    return "; ".join(
        f"{place or 'body'}: {fault['msg'].removeprefix('Value error, ')}" for place, fault in zip(places, first, strict=True)
    )[:1000]


class _Asked(Body):
    model: str | None = Field(
        None, max_length=200, description="Who answers, from GET /v1/harness/players; by default the first that knows the task."
    )
    instruction: Text = Field(description="What to do now.")
    history: Sequence[Any]

    @property
    def left_out(self) -> int:
        """How many turns at the beginning of the history are not read."""
        return max(0, len(self.history) - MOST_TURNS)


class Step(Body):
    """An earlier step of a drawing."""

    instruction: Text
    actions: list[PaintRecord] = Field(max_length=TILES, fail_fast=True)
    text: Text | None = Field(None, description="What a language model answered; one that knows its programs is shown it again.")


class DrawRequest(_Asked):
    """A step of a drawing on the board of HEXAGONS."""

    task: DrawingTask
    board: Digits | Annotated[list[PaintRecord], Field(max_length=TILES, fail_fast=True)] | None = Field(
        None, description="180 digits, the color codes row by row, or the painted tiles [row, column, color]; blank if left out."
    )
    history: list[Step] = Field(
        [], max_length=MOST_SENT, fail_fast=True, description=f"The earlier steps, in order; the last {MOST_TURNS} are read."
    )

    @property
    def item(self) -> HexagonsItem:
        """The step as an item without gold actions."""
        board = Board.from_digits(self.board) if isinstance(self.board, str) else Board().apply(_paints(self.board or ())).board
        history: list[Turn] = []
        for step in self.history[-MOST_TURNS:]:
            history += [Utterance("Instructor", step.instruction), Executed(_paints(step.actions), text=step.text or "")]
        names: dict[str, Any] = {"id": f"{self.task}/request/0/1", "split": "request", "group": "", "cluster": ""}
        return HexagonsItem(instruction=self.instruction, history=tuple(history), before=board, actions=(), after=board, **names)


class BuildRequest(_Asked):
    """A turn of a building game in Minecraft, or of another task in its world."""

    task: BuildingTask
    blocks: Blocks = Field([], description="The blocks that stand there, each as [x, y, z, color].")
    pose: PoseRecord = Field(BUILDER, description="Where the builder stands, in cells, and looks, in degrees.")
    history: list[Said | Did] = Field(
        [],
        max_length=MOST_SENT,
        fail_fast=True,
        description=f"The dialogue and the actions so far; the last {MOST_TURNS} turns are read.",
    )

    @property
    def item(self) -> MinecraftItem:
        """The turn as an item without gold actions. Raises ValueError for two blocks in one cell."""
        if len({block[:3] for block in self.blocks}) < len(self.blocks):
            raise ValueError("blocks: two of them are in one cell")
        before = Structure.of(self.blocks)
        names: dict[str, Any] = {"id": f"{self.task}/request/0/1", "split": "request", "group": "", "cluster": ""}
        pose: Pose = self.pose.value
        history = (*turns(self.history[-MOST_TURNS:]), Utterance("Architect", self.instruction))
        return MinecraftItem(history=history, before=before, pose=pose, actions=(), after=before, **names)


def _paints(rows: Any) -> tuple[Paint, ...]:
    return tuple(Paint(*row) for row in rows)


REQUEST: TypeAdapter[DrawRequest | BuildRequest] = TypeAdapter(Annotated[DrawRequest | BuildRequest, Field(discriminator="task")])


class Piece(BaseModel):
    """A piece of the answer's text that did not become an action."""

    text: str
    reason: str


DoneRecord = tuple[int, int, str] | tuple[Literal["place", "remove"], str | None, int, int, int]
"""An action of a model, as [row, column, color] or as in a request; it may lie off the board or outside the region."""


class ExecuteResponse(BaseModel):
    """What was done, and how the model came to do it."""

    task: TaskName
    model: str
    actions: list[DoneRecord] = Field(description="As asked for, in order.")
    ignored: list[DoneRecord] = Field(description="The actions that cannot be carried out; they change nothing.")
    board: str | None = Field(None, description="HEXAGONS: 180 digits after the actions.")
    blocks: list[BlockRecord] | None = Field(None, description="Minecraft: the blocks that stand there after the actions.")
    text: str | None = Field(None, description="What a language model answered.")
    program: str | None = Field(None, description="What the parser understood, as a program.")
    confidence: float | None = Field(None, ge=0, le=1, description="How sure the model is, if it says so.")
    left_out: int = Field(0, ge=0, description="How many turns at the beginning of the history were not read.")
    discarded: list[Piece] = Field([], description="The pieces of the text that were not understood.")
    why: str | None = Field(None, description="Why nothing, or not everything, was done, in words; null if everything was.")


class Player(BaseModel):
    """A player that can answer."""

    name: str
    tasks: list[str]
    kind: Literal["parser", "baseline", "language model"]
