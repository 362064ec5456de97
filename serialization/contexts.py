"""Contexts: which part of an item a model sees, as plain pieces of text that the templates put together.

HEXAGONS has the paper's seven (section 6.2, Table 7). Minecraft has the whole dialogue with the builder's actions (Nebula),
H3 (the best of Jayannavar et al. 2020) and a context-rich one (Llama-CRAFTS): world state, pose, inventory and dialogue.
Each Minecraft context exists in two frames: the world's, and the builder's, in which everything is turned by quarter
turns about the vertical axis so that the builder looks along +z; answers are turned back by `from_frame`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import floor

from harness.corpora.item import HexagonsItem, Item, MinecraftItem, Turn, Utterance
from harness.registry import choose
from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import Action, Structure, turn_action
from serialization.formats import Format
from serialization.hexagons_text import write_grouped
from serialization.words import h3_tokens

MISSION = "mission has started"
"""How the opening line of every Minecraft game goes on; it says nothing and is left out."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is shown. `turns`: how many earlier steps (None: all). `board`: None, "oracle" or "predicted"."""

    name: str
    task: str
    turns: int | None = None
    board: str | None = None
    h3: bool = False
    rich: bool = False


_ALL = (
    Context("no-history", "hexagons", turns=0),
    Context("one-previous", "hexagons", turns=1),
    Context("full-history", "hexagons"),
    Context("oracle-board", "hexagons", turns=0, board="oracle"),
    Context("predicted-board", "hexagons", turns=0, board="predicted"),
    Context("full-history+oracle-board", "hexagons", board="oracle"),
    Context("full-history+predicted-board", "hexagons", board="predicted"),
    Context("full-dialogue", "minecraft"),
    Context("h3", "minecraft", h3=True),
    Context("context-rich", "minecraft", rich=True),
)

CONTEXTS: dict[str, dict[str, Context]] = {
    task: {c.name: c for c in _ALL if c.task == task} for task in ("hexagons", "minecraft")
}
FRAMES = ("world", "builder")


def get_context(task: str, name: str) -> Context:
    """Raises UsageError for a task or a name that does not exist."""
    contexts = CONTEXTS[choose("task", task, CONTEXTS)]
    return contexts[choose(f"context for {task}", name, contexts)]


@dataclass(frozen=True, slots=True)
class View:
    """An item as pieces of text. `turns` may be shortened from its front, down to the last `required` ones."""

    turns: tuple[str, ...] = ()
    required: int = 0
    fields: dict[str, str] = field(default_factory=dict)


def view(item: Item, context: Context, fmt: Format, frame: str) -> View:
    """The pieces of text of an item: `fields` are named in the templates of its task."""
    if isinstance(item, HexagonsItem):
        return _hexagons_view(item, context, fmt)
    if context.h3:
        return _h3_view(item)
    return _minecraft_view(item, context, fmt, frame)


def _hexagons_view(item: HexagonsItem, context: Context, fmt: Format) -> View:
    said = [turn.text for turn in item.history if isinstance(turn, Utterance)]
    kept = said if context.turns is None else said[len(said) - min(context.turns, len(said)) :]
    fields = {"instruction": item.instruction, "first": str(len(said) - len(kept) + 1)}
    if context.board:
        fields["board"] = write_board(item.before, fmt)
    return View(turns=tuple(kept), fields=fields)


def write_board(board: Board, fmt: Format) -> str:
    """The painted tiles in the format `grouped`, or as a program next to programs, which count from 1; or "blank"."""
    painted = tuple(board.painted())
    if not painted:
        return "blank"
    return fmt.write(painted).replace("\n", "; ") if fmt.first else write_grouped(painted)


def _h3_view(item: MinecraftItem) -> View:
    """One piece: H3 is a selection of its own, of bounded length (facts: at most 231 tokens)."""
    return View(turns=(" ".join(h3_tokens(item)),), required=1)


def _minecraft_view(item: MinecraftItem, context: Context, fmt: Format, frame: str) -> View:
    quarters = -item.pose.quarter if frame == "builder" else 0
    turns = [turn for turn in item.history if not (isinstance(turn, Utterance) and MISSION in turn.text.lower())]
    fresh = 0
    while fresh < len(turns) and isinstance(turns[-1 - fresh], Utterance):
        fresh += 1
    fields: dict[str, str] = {}
    if context.rich:
        fields["blocks"] = write_structure(item.before.turned(quarters))
        fields["builder"] = _write_pose(item, quarters)
        fields["inventory"] = ", ".join(f"{color} {n}" for color, n in item.before.inventory().items())
    return View(tuple(_write_turn(turn, fmt, quarters) for turn in turns), max(1, fresh), fields)


def _write_turn(turn: Turn, fmt: Format, quarters: int) -> str:
    if isinstance(turn, Utterance):
        return f"<{turn.speaker}> {turn.text}"
    return fmt.write([turn_action(a, quarters) if isinstance(a, Action) else a for a in turn.actions])


def write_structure(structure: Structure) -> str:
    """`red 0 1 0, 0 2 0; blue 1 1 0`: by color, each cell as x y z, or "none"."""
    blocks = sorted(structure.blocks(), key=lambda b: b.color)
    by_color = (
        f"{color} " + ", ".join(f"{b.x} {b.y} {b.z}" for b in group) for color, group in groupby(blocks, lambda b: b.color)
    )
    return "; ".join(by_color) or "none"


def _write_pose(item: MinecraftItem, quarters: int) -> str:
    """The cell the builder stands in, and the direction of the gaze in whole degrees, yaw in -180..179."""
    pose = item.pose.turned(quarters)
    yaw = (round(pose.yaw) + 180) % 360 - 180
    return f"at {floor(pose.x)} {floor(pose.y)} {floor(pose.z)}, yaw {yaw}, pitch {round(pose.pitch)}"


def to_frame(actions: Sequence[Paint] | Sequence[Action], item: Item, frame: str) -> tuple[Paint | Action, ...]:
    """Actions of the world as the chosen frame says them."""
    return _turn_all(actions, item, frame, -1)


def from_frame(actions: Sequence[Paint] | Sequence[Action], item: Item, frame: str) -> tuple[Paint | Action, ...]:
    """Actions said in the chosen frame as actions of the world: the inverse of `to_frame`, exact at every yaw."""
    return _turn_all(actions, item, frame, 1)


def _turn_all(actions: Sequence[Paint] | Sequence[Action], item: Item, frame: str, sign: int) -> tuple[Paint | Action, ...]:
    if frame == "world" or not isinstance(item, MinecraftItem):
        return tuple(actions)
    return tuple(turn_action(a, sign * item.pose.quarter) for a in actions if isinstance(a, Action))
