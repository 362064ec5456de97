"""The words of orders: what an order names, the block to which it refers, and what it leaves out.

If an order leaves out a part, its text does not depend on that part; the builder asks for it, and the answer gives it.
"""

from collections.abc import Collection, Sequence
from typing import Any

from harness.simulators.minecraft.figures import PlacedFigure, StructurePiece, difference, distance, moved
from harness.simulators.minecraft.game import SpokenOrder
from harness.simulators.minecraft.scene import NEAR, SMALL, Cell, GameScene, Reference, Relation, Voice, relation
from harness.worlds.minecraft import held, touching

CENTER = (0, 1, 0)


def first_order(scene: GameScene, color: str, where: str = "on the ground") -> SpokenOrder:
    """The first order of a game, a simple directive: it names no place on the ground, and leaves nothing out."""
    what = scene.voice.blocks(1, color)
    return SpokenOrder(scene.voice.draw("first", what=what, where=where), {"frame": "first"})


def closest(scene: GameScene, cell: Cell) -> Reference | None:
    """The reference block of section 11.1: the existing block closest to a cell; of equally close ones that of the last action,
    even if it was removed, otherwise any.

    A block that words cannot identify gives way to the next closest, which the paper leaves open. None if there is no other.
    """
    others, last = [other for other in scene.blocks if other != cell], scene.last[-1] if scene.last else None
    if last and last not in scene.blocks and others and distance(last, cell) == min(distance(other, cell) for other in others):
        others.append(last)

    def priority(other: Cell) -> tuple[float, ...]:
        return distance(other, cell), other != last, scene.rng.random()

    return next(filter(None, map(scene.reference, sorted(others, key=priority))), None)


def place_order(scene: GameScene, it: Reference, cells: Sequence[Cell], color: str) -> SpokenOrder:
    """An order for blocks of one color: the first is placed by its relation to a reference, each other one by the same relation
    to the one before."""
    floats = hangs(scene.blocks, cells)
    what = [scene.voice.blocks(len(cells), name, floats) for name in (color, "")]
    order = _asked("place", scene, it, cells[0], color, what)
    return order._replace(meta=order.meta | {"count": len(cells), "floats": floats})


def remove_order(scene: GameScene, cell: Cell) -> SpokenOrder | None:
    """An order to remove a block; None if words can identify no other block to which it could refer."""
    if scene.last and scene.last[-1] == cell:
        return SpokenOrder(scene.voice.draw("remove last"), {"frame": "remove last"})
    color, it = scene.blocks[cell], closest(scene, cell)
    return it and _asked("remove", scene, it, cell, color, [f"the {color} {scene.voice.block}", f"the {scene.voice.block}"])


def _asked(frame: str, scene: GameScene, it: Reference, cell: Cell, color: str, what: Sequence[str]) -> SpokenOrder:
    """An order that perhaps leaves out the color or the place. `what` are words with and without the color."""
    voice = scene.voice
    where, meta = place(scene, it, cell)
    meta = {"frame": frame} | meta
    omitted = scene.rng.choice(("color", "place")) if scene.rng.random() < SMALL else None
    sections = {"color": ("what color", "answer color"), "place": ("ask where", "answer where")}.get(omitted or "", ())
    said = [voice.draw(section, color=color, where=where) for section in sections]
    text = voice.draw(frame, what=what[omitted == "color"], where="" if omitted == "place" else where)
    return SpokenOrder(text, meta | ({"omitted": omitted} if omitted else {}), *said)


def place(scene: GameScene, it: Reference, cell: Cell) -> tuple[str, dict[str, Any]]:
    """The place of a cell by its relation to a block, which an ellipsis may leave out if it was placed last; with its `meta`."""
    seen = relation(it.cell, cell, scene.pose.quarter)
    ellipsis = it.kind == "last" and scene.rng.random() < SMALL
    meta = {"reference": list(it.cell), "by": "ellipsis" if ellipsis else it.kind, "relation": list(seen)}
    return scene.voice.where(seen, "" if ellipsis else it.text), meta


def hangs(blocks: Collection[Cell], cells: Sequence[Cell]) -> bool:
    """Whether new blocks need supports because some of them are not connected, by faces, to the ground or an existing block."""
    todo = [cell for cell in cells if held(cell, blocks)]
    left = set(cells) - set(todo)
    while todo and left:
        joined = [cell for cell in touching(todo.pop()) if cell in left]
        left.difference_update(joined)
        todo += joined
    return bool(left)


def picked_out(scene: GameScene, cell: Cell) -> Reference:
    """An unambiguous reference to a block: its own, or by its place relative to another block or to the grid's middle."""
    if it := scene.reference(cell):
        return it
    other = closest(scene, cell)
    where = scene.voice.where(relation(other.cell, cell, scene.pose.quarter), other.text) if other else from_middle(scene, cell)
    return Reference(cell, "place", scene.voice.draw("the block at", color=scene.blocks[cell], where=where))


def from_middle(scene: GameScene, cell: Cell) -> str:
    """The place of a cell relative to the middle of the grid, and its level."""
    voice, seen = scene.voice, relation(CENTER, (cell[0], CENTER[1], cell[2]), scene.pose.quarter)
    flat = voice.where(seen, voice.draw("middle")) if seen.axes else f"in {voice.draw('middle')}"
    return f"{flat}, {voice.draw('level', n=voice.number(cell[1]))}" if cell[1] > 1 else f"{flat}, on the ground"


def said_at_once(scene: GameScene, piece: StructurePiece) -> StructurePiece:
    """The part of a piece that one order describes: a whole figure, a run that continues from a block, or one block."""
    if piece.figure and set(piece.figure.cells) == {cell for cell, _ in piece.blocks}:
        return piece
    return StructurePiece(piece.blocks[: _going_on(scene, piece.blocks)])


def _going_on(scene: GameScene, blocks: Sequence[tuple[Cell, str]]) -> int:
    """How many of the first blocks, in one color, continue a straight line from a block that words can identify."""
    if len(blocks) < 2 or (step := difference(blocks[0][0], blocks[1][0])) not in NEAR:
        return 1
    base = moved(blocks[0][0], step, -1)
    if base not in scene.blocks or not scene.reference(base):
        return 1
    alike = (n for n, (cell, color) in enumerate(blocks) if (cell, color) != (moved(blocks[0][0], step, n), blocks[0][1]))
    return next(alike, len(blocks))


def piece_order(scene: GameScene, piece: StructurePiece) -> SpokenOrder:
    """An order for a piece that `said_at_once` returns."""
    cells, color = [cell for cell, _ in piece.blocks], piece.blocks[0][1]
    if piece.figure:
        return figure_order(scene, piece.figure, color, closest(scene, cells[0]))
    if len(cells) > 1:
        return place_order(scene, picked_out(scene, moved(cells[0], difference(cells[0], cells[1]), -1)), cells, color)
    if it := closest(scene, cells[0]):
        return place_order(scene, it, cells, color)
    if not scene.blocks and cells[0][1] == 1:
        return first_order(scene, color)
    return first_order(scene, color, from_middle(scene, cells[0]))


PARTS = ("color", "place", "direction", "size")
"""The parts that an order for a shape may leave out."""


def figure_order(scene: GameScene, figure: PlacedFigure, color: str, it: Reference | None) -> SpokenOrder:
    """An order for a shape from its first block on, which it places by its relation to a block, or on the ground.

    It determines the cells and their color, except for a part that it perhaps leaves out.
    """
    voice, start = scene.voice, figure.cells[0]
    ways = [relation((0, 0, 0), step, scene.pose.quarter) for step in figure.directions]
    if it:
        where, meta = place(scene, it, start)
    else:
        where, meta = from_middle(scene, start) if scene.blocks or start[1] > 1 else "", {}
    upright = any(way.up for way in ways)
    name = {"row": "tower", "diagonal": "stairs", "plane": "wall"}[figure.kind] if upright else figure.kind
    # A tower goes up, and a first shape is anywhere on the ground.
    absent = {"direction": name == "tower", "place": not where}
    omitted = scene.rng.choice([part for part in PARTS if not absent.get(part)]) if scene.rng.random() < SMALL else None
    meta |= {"frame": "shape", "shape": figure.kind, "sizes": list(figure.sizes), "directions": [list(way) for way in ways]}
    meta |= {"start": list(start)} | ({"omitted": omitted} if omitted else {})
    # Each size twice: as the Architect says it, and in digits. A diagonal is as long as it is wide.
    first, second = figure.sizes[0], figure.sizes[-1]
    sizes = {"a": voice.number(first), "b": voice.number(second), "x": str(first), "y": str(second)}
    what = voice.draw(f"{name} sizeless" if omitted == "size" else name, color="" if omitted == "color" else color, **sizes)
    rest = [] if omitted == "place" else [voice.draw("start", where=where) if where else "on the ground"]
    if omitted != "direction" and name != "tower":
        rest.append(f"going {_way(voice, ways, () if omitted == 'size' else figure.sizes)}")
        scene.rng.shuffle(rest)
    text = voice.draw("shape", what=f"{what} {', '.join(rest)}")
    if omitted is None:
        return SpokenOrder(text, meta)
    question = voice.draw({"color": "what color", "place": "ask where"}.get(omitted, f"ask {omitted}"))
    way = _way(voice, ways, figure.sizes) if omitted == "direction" else ""
    section = {"size": f"{name} size", "place": "answer start"}.get(omitted, f"answer {omitted}")
    return SpokenOrder(text, meta, question, voice.draw(section, color=color, where=where, way=way, **sizes))


def _way(voice: Voice, ways: Sequence[Relation], sizes: Sequence[int]) -> str:
    """The directions of a shape, with its sizes if they are given and differ."""
    words = [voice.go(way) for way in ways]
    if len(set(sizes)) > 1:
        words = [f"{voice.number(size)} {way}" for size, way in zip(sizes, words, strict=True)]
    return " and ".join(words)
