"""A conversation with a drawing board."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from random import Random
from typing import Any

from harness.corpora.item import HexagonsItem, Turn
from harness.simulators.everyday.talk import Request, Talk
from harness.worlds.hexagons import COLUMNS, ROWS, Board, Paint
from serialization.program import ast, hexagons
from serialization.program.literal import drawing_program
from serialization.program.machine import ProgramResult
from serialization.program.written import write

_PLACES = {
    "middle": (9, 5), "top left": (4, 3), "top right": (15, 3), "bottom left": (4, 8), "bottom right": (15, 8), "left": (4, 5),
    "right": (15, 5), "top": (9, 3), "bottom": (9, 8),
}  # fmt: skip
"""Columns and rows, counted from 1, for places that are given only roughly."""


class DrawingTalk(Talk):
    name = "hexagons"
    palette = {"red": 22, "blue": 20, "green": 18, "yellow": 16, "purple": 11, "orange": 11, "black": 10}
    lacking = ()
    common = ("flower", "ring", "row", "triangle", "dot", "line", "star")
    standing = "painted"
    speaker = "Instructor"
    cell_of = attrgetter("tile")

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.state = Board()
        piece = rng.choices(("tile", "hexagon", "cell", "hex", "spot", "field"), (64, 10, 8, 6, 6, 6))[0]
        self.words = {"piece": piece, "pieces": "hexes" if piece == "hex" else f"{piece}s"}
        self.synonyms = {"dot": ("dot", piece)}

    def item(self, name: str, text: str, history: tuple[Turn, ...], **fields: Any) -> HexagonsItem:
        return HexagonsItem(name, instruction=text, history=history, **fields)

    def run(self, program: ast.Program) -> ProgramResult:
        return hexagons.run(program, hexagons.DrawingState(self.state, self.steps))

    def carry_out(self, actions: Sequence[Paint]) -> None:
        self.state = self.state.apply(actions).board
        colors = dict(self.colors)
        colors.update((action.tile, action.color) for action in actions)
        self.colors = {cell: color for cell, color in colors.items() if color != "white"}

    def restoring(self, state: Board) -> str:
        actions = self.state.diff(state)
        blank = [action for action in actions if action.color == "white"]
        painted = write(drawing_program(action for action in actions if action.color != "white"))
        erased = write(drawing_program(blank)).replace("white", "remove", 1)
        return "; ".join(filter(None, (erased, *painted.splitlines())))

    def recolored(self, cells: str, color: str) -> str:
        return f"{color} {cells}"

    def figure(self, what: str, where: str, program: str, noun: str, kind: str = "figure", **fields: Any) -> Request:
        """A request to draw something on blank tiles; `fields` are further fields of `Request`."""
        return Request(kind, self.ask("draw", what, where), program, noun=noun, fresh=True, **fields)

    # --- places ---

    def place(self, reach: int) -> tuple[str, int, int]:
        """Words for a figure's place ("" for anywhere), and the column and row of its center, `reach` tiles from the edges."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.4:
            return "", *self.spot(reach)
        if kind < 0.75:
            name = rng.choice(("middle", *_PLACES))
            column, row = _PLACES[name]
            column = min(max(column, 1 + reach), COLUMNS - reach)
            return self.say(f"place {name}"), column, min(max(row, 1 + reach), ROWS - reach)
        column, row = self.spot(reach)
        words = self.say("place at", column=self.number(column), row=self.number(row), nth=self.nth(column), mth=self.nth(row))
        return words, column, row

    def spot(self, reach: int) -> tuple[int, int]:
        """A column and a row at least `reach` (at most 4) tiles from the edges, counted from 1."""
        reach = min(reach, 4)
        return self.rng.randint(1 + reach, COLUMNS - reach), self.rng.randint(1 + reach, ROWS - reach)
