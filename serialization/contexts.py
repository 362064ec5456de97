"""Contexts: which part of an item a model sees, as plain pieces of text that the templates put together.

HEXAGONS has the paper's seven contexts (section 6.2, Table 7). Minecraft has the whole dialogue with the builder's actions
(Nebula), H3 (the best of Jayannavar et al. 2020) and a context-rich one (Llama-CRAFTS): world state, pose, inventory and
dialogue. If a dialogue begins with blocks already in place, as IGLU's instructions do, these blocks are listed first.
Both worlds have `conversation`: a drawing procedure or a game as one chat, in which earlier answers are the model's messages.
`conversation+programs` shows them as the programs that they were.

In every context, whatever differs between the items of one procedure or game comes last, so that their prompts share a
prefix. Each Minecraft context exists in two frames: the world's, and the builder's, in which everything is turned by quarter
turns about the vertical axis so that the builder looks along +z: `in_frame` turns an item, `from_frame` turns an answer back.
A third frame, `pose`, changes the text instead (serialization/pose.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import floor
from operator import attrgetter
from typing import NamedTuple

from harness.corpora.item import Executed, HexagonsItem, Item, MinecraftItem, Utterance, turn_minecraft
from harness.tasks.registry import TASKS
from harness.util.registry import Table
from harness.worlds import World
from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import Action, Pose, Structure, turn_action
from serialization.formats import Format, grouped
from serialization.program.ast import COMPASS
from serialization.words import h3_tokens

color_of = attrgetter("color")

MISSION = "mission has started"
"""The opening line of every Minecraft game; it carries no information and is left out unless a context keeps it."""

DIRECTIONS = ("+z, left +x", "-x, left +z", "-z, left -x", "+x, left -z")
"""The axis along which a builder looks and the axis to its left, by quarter turns of yaw from 0."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is shown. `turns`: how many earlier steps (None: all). `board`: None, "oracle" or "predicted".

    `chat`: earlier answers are separate messages: the model's own answers in HEXAGONS, the actions of the game in Minecraft.
    `programs`: an earlier answer that was a program is shown as it was written, and not as the cells that it changed.
    `mission`: the opening line of a game is kept.
    """

    name: str
    world: World
    turns: int | None = None
    board: str | None = None
    h3: bool = False
    rich: bool = False
    chat: bool = False
    mission: bool = False
    programs: bool = False

    @property
    def rolls_out(self) -> bool:
        """Whether a prompt shows the model's answers to earlier items."""
        return self.world == "hexagons" and (self.board == "predicted" or self.chat)


_ALL = (
    Context("no-history", "hexagons", turns=0),
    Context("one-previous", "hexagons", turns=1),
    Context("full-history", "hexagons"),
    Context("oracle-board", "hexagons", turns=0, board="oracle"),
    Context("predicted-board", "hexagons", turns=0, board="predicted"),
    Context("full-history+oracle-board", "hexagons", board="oracle"),
    Context("full-history+predicted-board", "hexagons", board="predicted"),
    Context("conversation", "hexagons", chat=True),
    Context("conversation+programs", "hexagons", chat=True, programs=True),
    Context("full-dialogue", "minecraft"),
    Context("full-dialogue+mission", "minecraft", mission=True),
    Context("h3", "minecraft", h3=True),
    Context("context-rich", "minecraft", rich=True),
    Context("conversation", "minecraft", chat=True),
)

CONTEXTS = Table(
    "task",
    {task: Table(f"context for {task}", {c.name: c for c in _ALL if c.world == its.world}) for task, its in TASKS.items()},
)
"""The contexts by task and name."""
FRAMES = ("world", "builder", "pose")


class TurnText(NamedTuple):
    """One turn as text: an utterance or, if `done`, the actions of a turn in the answer's format."""

    text: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """An item as pieces of text, oldest first. Pieces may be dropped from the front; the last `required` ones stay."""

    pieces: tuple[TurnText, ...]
    required: int
    fields: dict[str, str] = field(default_factory=dict)
    """Texts that follow the pieces, by the names that the templates of the task use."""
    first: int = 1
    """The number of the first step, if steps are numbered."""
    begun: str = ""
    """HEXAGONS: the tiles that were painted before the first step; empty if there were none or a later board is shown."""

    def cut(self, keep: int) -> "View":
        """The last `keep` pieces, or the required ones if they are more; an answer stays only with its question before it."""
        start = max(0, len(self.pieces) - max(keep, self.required))
        while start < len(self.pieces) - self.required and self.pieces[start].done:
            start += 1
        numbered = self.first + sum(not piece.done for piece in self.pieces[:start])
        return View(self.pieces[start:], self.required, self.fields, numbered, self.begun)


def view(item: Item, context: Context, fmt: Format, *, looks: bool = False) -> View:
    """The pieces of text of an item that has already been turned into its frame. `looks`: of the builder's pose, a conversation
    tells only the direction of the gaze."""
    if isinstance(item, HexagonsItem):
        return _hexagons_view(item, context, fmt)
    if not context.h3:
        return _minecraft_view(item, context, fmt, looks)
    # H3 selects its own history, of bounded length: at most 231 words in the corpus.
    return View((TurnText(" ".join(h3_tokens(item))),), 1)


def _hexagons_view(item: HexagonsItem, context: Context, fmt: Format) -> View:
    """The numbered instructions, ending with the item's own."""
    history = [
        TurnText(turn.text) if isinstance(turn, Utterance) else TurnText(_written(turn, context, fmt), done=True)
        for turn in item.history
    ]
    if not context.chat:
        history = [piece for piece in history if not piece.done]
        dropped = 0 if context.turns is None else max(0, len(history) - context.turns)
        history = history[dropped:]
    else:
        dropped = 0
    fields = {"board": write_board(item.before, fmt)} if context.board else {}
    stood = Board() if context.board else begun_with(item)
    begun = write_board(stood, fmt) if stood != Board() else ""
    return View((*history, TurnText(item.instruction)), 1, fields, dropped + 1, begun)


def _written(run: Executed, context: Context, fmt: Format) -> str:
    """An earlier answer: the program that it was if the context shows programs, otherwise its actions."""
    return run.text if context.programs and fmt.is_program and run.text else fmt.write(run.actions)


def begun_with(item: HexagonsItem) -> Board:
    """The board without the tiles that the history painted: blank if the drawing began on a blank board."""
    painted = {a.tile for turn in item.history if isinstance(turn, Executed) for a in turn.actions if isinstance(a, Paint)}
    return Board().apply(paint for paint in item.before.painted() if paint.tile not in painted).board


def write_board(board: Board, fmt: Format) -> str:
    """The painted tiles in the format `grouped`, or as a program if answers are programs; "blank" if there are none."""
    painted = tuple(board.painted())
    if not painted:
        return "blank"
    return fmt.write(painted).replace("\n", "; ") if fmt.is_program else grouped.write(painted)


def _minecraft_view(item: MinecraftItem, context: Context, fmt: Format, looks: bool) -> View:
    opening = [turn for turn in item.history if isinstance(turn, Utterance) and MISSION in turn.text.lower()]
    turns = [turn for turn in item.history if context.mission or turn not in opening]
    fresh = 0
    while fresh < len(turns) and isinstance(turns[-1 - fresh], Utterance):
        fresh += 1
    stood = None if context.rich else started_with(item)
    pieces = [TurnText(f"Blocks: {_write_blocks(stood, fmt)}")] if stood else []
    fresh += bool(pieces) and fresh == len(turns)
    for turn in turns:
        if isinstance(turn, Utterance):
            pieces.append(TurnText(f"<{turn.speaker}> {turn.text}"))
            continue
        done = [action for action in turn.actions if isinstance(action, Action)]
        if context.chat and turn.pose is not None:
            pieces.append(_write_builder(turn.pose, looks))
        pieces.append(TurnText(fmt.write(done), done=True))
    fields: dict[str, str] = {}
    if context.rich:
        fields["blocks"] = write_structure(item.before)
        fields["builder"] = write_pose(item.pose)
        fields["inventory"] = ", ".join(f"{color} {n}" for color, n in item.before.inventory().items())
    if context.chat:
        pieces.append(_write_builder(item.pose, looks))
        fresh += 1
    return View(tuple(pieces), max(1, fresh), fields)


def _write_builder(pose: Pose, looks: bool) -> TurnText:
    """The builder's pose before a turn's actions in a conversation, or only the direction of its gaze."""
    return TurnText(f"The builder looks {COMPASS[pose.quarter]}." if looks else f"Builder: {write_pose(pose)}")


def started_with(item: MinecraftItem) -> Structure:
    """The structure before the first action of the history; empty if the game began on empty ground."""
    blocks = {block[:3]: block.color for block in item.before.blocks()}
    for turn in reversed(item.history):
        for action in reversed(turn.actions if isinstance(turn, Executed) else ()):
            if not isinstance(action, Action):
                continue
            if action.kind == "place":
                blocks.pop(action.cell, None)
            elif action.color:
                blocks[action.cell] = action.color
    return Structure.of((*cell, color) for cell, color in blocks.items())


def _write_blocks(structure: Structure, fmt: Format) -> str:
    """The blocks as `write_structure` writes them, or in fewer characters as a program, if answers are programs."""
    if not fmt.is_program:
        return write_structure(structure)
    placed = [Action("place", block.color, *block[:3]) for block in sorted(structure.blocks(), key=color_of)]
    return fmt.write(placed).replace("\n", "; ")


def write_structure(structure: Structure) -> str:
    """`red 0 1 0, 0 2 0; blue 1 1 0`: by color, each cell as x y z, or "none"."""
    blocks = sorted(structure.blocks(), key=color_of)
    by_color = (f"{color} " + ", ".join(f"{b.x} {b.y} {b.z}" for b in group) for color, group in groupby(blocks, color_of))
    return "; ".join(by_color) or "none"


def write_pose(pose: Pose) -> str:
    """`at 3 2 -1, yaw 26, pitch 55, ahead +z, left +x`: the cell the builder stands in, and the gaze in whole degrees.

    Yaw is in -180..179; the axes are those of the nearest quarter turn.
    """
    yaw = (round(pose.yaw) + 180) % 360 - 180
    cell = f"{floor(pose.x)} {floor(pose.y)} {floor(pose.z)}"
    return f"at {cell}, yaw {yaw}, pitch {round(pose.pitch)}, ahead {DIRECTIONS[pose.quarter]}"


def in_frame(item: Item, frame: str) -> Item:
    """The item in the chosen frame."""
    return turn_minecraft(item, -item.pose.quarter) if isinstance(item, MinecraftItem) and frame == "builder" else item


def from_frame(actions: Sequence[Paint] | Sequence[Action], item: Item, frame: str) -> tuple[Paint | Action, ...]:
    """Actions given in the chosen frame as actions of the world: the inverse of `in_frame`, exact at every yaw."""
    if frame != "builder" or not isinstance(item, MinecraftItem):
        return tuple(actions)
    return tuple(turn_action(a, item.pose.quarter) for a in actions if isinstance(a, Action))
