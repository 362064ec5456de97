"""Mirror images and half turns (level 3)."""

from __future__ import annotations

from harness.simulators.hexagons import program as op
from harness.simulators.hexagons.program import Painting
from harness.simulators.hexagons.repeats import to_repeat
from harness.simulators.hexagons.sketch import Figure, Sketch, Stroke, inside
from harness.simulators.possible import impossible_if, needed
from harness.worlds.hexagons import COLUMNS
from serialization.program import ast


def mirror(d: Sketch) -> Stroke:
    """The mirror image of a figure, or of everything, over a column on its left or right."""
    impossible_if(not d.figures)
    if d.rng.random() < 0.45:
        return _mirror(d, op.PAINTED, None, "")
    figure, it = to_repeat(d)
    return _mirror(d, d.drawn_by(figure), figure, it)


def _mirror(d: Sketch, source: ast.Expr, figure: Figure | None, it: str) -> Stroke:
    columns = {tile.column for tile in op.tiles_of(source, d)}
    low, high = min(columns), max(columns)
    near = (high, high + 1, high + 2, low, low - 1, low - 2, COLUMNS // 2 - 1, COLUMNS // 2)
    axis = d.rng.choice([axis for axis in near if 0 <= axis < COLUMNS and not low < axis < high])
    program, section, color, old = op.reflect(source, axis), "mirror" if figure else "mirror everything", "", ""
    if figure and len(figure.colors) == 1 and d.rng.random() < 0.25:
        section, old = "mirror colored", figure.colors[0]
        color = d.color(old)
        program = op.recolored(program, (old,), (color,))
    new = _added(d, program)
    impossible_if(len(new) > 90)
    slots = {"where": d.voice.column(axis), "side": "left" if axis <= low else "right", "it": it, "color": color, "a": old}
    return Stroke(section, 3, d.voice.say(section, **slots), program, new, figure.noun if figure else "")


def _added(d: Sketch, program: ast.Program) -> Painting:
    """What a program adds to the drawing. Raises Impossible if it leaves the board, paints over something, or adds nothing."""
    painting: Painting = op.run(program, d)
    new = {tile: color for tile, color in painting.items() if d.board.get(tile) != color}
    impossible_if(not (new and inside(painting) and d.free(new)))
    return new


def flip(d: Sketch) -> Stroke:
    """A V becomes an X, by its mirror image over a horizontal line."""
    figure = needed(next((f for f in reversed(d.figures) if f.noun == "V" and f.center), None))
    it, center = needed(d.refer(figure)), needed(figure.center)
    program = op.flip(d.drawn_by(figure), center)
    new = _added(d, program)
    below = all(tile.row >= center.row for tile in new)
    slots = {"point": d.voice.at(center), "result": "you get an X", "side": "below" if below else "above"}
    return Stroke("flip", 3, d.voice.say("flip", it=it, **slots), program, new)


def turn(d: Sketch) -> Stroke:
    """The whole drawing again after half a turn of the board."""
    program = op.half_turn(op.PAINTED)
    new = _added(d, program)
    impossible_if(not 1 < len(new) <= 60)
    return Stroke("turn", 3, d.voice.say("turn"), program, new)
