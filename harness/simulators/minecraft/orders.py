"""Words for any block, cell or shape of a structure: orders that several simulators share, and longer, unambiguous ones.

A row, a diagonal or a plane is ordered as a whole: its kind, its start and its direction. If the order leaves out a part, its
text does not depend on that part; the builder asks for it, and the answer gives it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from random import Random
from typing import Any, NamedTuple

from harness.simulators.minecraft.figures import PlacedFigure, StructurePiece, difference, moved
from harness.simulators.minecraft.game import SpokenOrder
from harness.simulators.minecraft.scene import NEAR, Cell, GameScene, Reference, Relation, Voice, relation, touching
from harness.worlds.minecraft import SIDE

CENTER = (0, 1, 0)
_REACH = 3
"""The largest distance of a reference block along one axis, in cells."""
_SIGHT = 6
"""The largest distance, in cells, of a cell that is described by its relation to the builder."""


def first_cell(rng: Random) -> Cell:
    """The first cell of a game: half of the time the center of the ground, otherwise a corner or the middle of an edge."""
    if rng.random() < 0.5:
        return CENTER
    x, z = rng.choice([(x, z) for x in (-SIDE, 0, SIDE) for z in (-SIDE, 0, SIDE) if x or z])
    return x, 1, z


def board_place(scene: GameScene, cell: Cell) -> str:
    """Words for one of the cells that `first_cell` returns, as the builder sees it."""
    voice, seen = scene.voice, relation(CENTER, cell, scene.pose.quarter)
    side = "left" if seen.left > 0 else "right"
    depth = "depth far" if seen.away > 0 else "depth near"
    if not seen.axes:
        return voice.draw("center")
    if seen.axes == 2:
        return voice.draw("corner", side=side, depth=voice.draw(depth))
    return voice.draw("edge", side=side) if seen.left else f"in the middle of the edge {voice.draw(depth)}"


def first_order(scene: GameScene, cell: Cell, color: str) -> SpokenOrder:
    voice, seen = scene.voice, relation(CENTER, cell, scene.pose.quarter)
    text = voice.draw("first", where=board_place(scene, cell), what=voice.blocks(1, color))
    return SpokenOrder(text, {"frame": "first", "location": list(seen)})


def place_order(scene: GameScene, cell: Cell, color: str, it: Reference, seen: Relation) -> SpokenOrder:
    """An order for a block by its relation to a reference. Occasionally the color is left out and asked for."""
    alone = left_out(scene, it)
    where = scene.voice.where(seen, "" if alone else it.text)
    return _placed(scene, cell, color, where, about("ellipsis" if alone else "place", it) | {"relation": list(seen)})


def several_order(scene: GameScene, it: Reference, cells: Sequence[Cell], color: str) -> SpokenOrder:
    """An order for blocks of one color in a line, the first of them next to the reference."""
    voice, seen = scene.voice, relation(it.cell, cells[0], scene.pose.quarter)
    alone = left_out(scene, it)
    way = "diagonal" if seen.axes == 2 else "up" if seen.up > 0 else "down" if seen.up else ""
    section = " ".join(filter(None, ("several", way, "ellipsis" if alone else "")))
    what = _count(scene, it, len(cells), color)
    text = voice.draw(section, what=what, it=it.text, where=voice.where(seen, it.text), go=voice.go(seen))
    floats = hangs(scene.blocks, cells)
    meta = about("several ellipsis" if alone else "several", it)
    meta |= {"relation": list(seen), "count": len(cells), "direction": list(seen), "floats": floats}
    return SpokenOrder(floating(scene, text, "floating several") if floats else text, meta)


def _count(scene: GameScene, it: Reference, count: int, color: str) -> str:
    """A number of blocks; with "more" if they have the reference's color, which may then be left out."""
    voice, n = scene.voice, scene.voice.number(count)
    if scene.blocks[it.cell] != color or scene.rng.random() < 0.2:
        return voice.blocks(count, color)
    if it.kind == "last" and scene.rng.random() < 0.4:
        return voice.draw("more of those", n=n)
    return voice.draw("more", n=n, color=color)


def builder_order(scene: GameScene, cell: Cell, color: str) -> SpokenOrder | None:
    """An order for a block on the ground straight ahead of the builder, or directly to the left or right, on the ground too.

    None for other cells: nobody counts cells from a builder in the air, or along two directions at once.
    """
    pose, voice = scene.pose, scene.voice
    feet = math.floor(pose.x), math.floor(pose.y), math.floor(pose.z)
    seen = relation(feet, cell, pose.quarter)
    n = max(map(abs, seen))
    if pose.y != 1.0 or seen.up or seen.axes != 1 or seen.away < 0 or n > _SIGHT:
        return None
    way = "ahead" if seen.away else "left" if seen.left > 0 else "right"
    where = voice.draw(f"you {way}" if n == 1 else f"you {way} far", n=voice.number(n))
    return _placed(
        scene, cell, color, where, {"frame": "place", "reference": list(feet), "by": "builder", "relation": list(seen)}
    )


def _placed(scene: GameScene, cell: Cell, color: str, where: str, meta: dict[str, Any]) -> SpokenOrder:
    rng, voice = scene.rng, scene.voice
    asks = rng.random() < 0.06
    what = f"a {voice.block}" if asks else block_there(scene, color, where)
    text = voice.draw("place ellipsis" if meta["frame"] == "ellipsis" else "place", what=what, where=where)
    if floats := hangs(scene.blocks, [cell]):
        text = floating(scene, text)
    meta |= {"floats": floats}
    if not asks:
        return SpokenOrder(text, meta)
    return SpokenOrder(text, meta | {"omitted": "color"}, voice.draw("what color"), voice.draw("answer color", color=color))


def block_there(scene: GameScene, color: str, where: str) -> str:
    """A block of a color in words that fit before the place: not "a red one" before "one to the left"."""
    what = scene.voice.blocks(1, color)
    return f"{what[:-3]}{scene.voice.block}" if what.endswith(" one") and where.startswith("one ") else what


def left_out(scene: GameScene, it: Reference) -> bool:
    """Whether to leave out the reference: half of the time if it is the only block of the last order."""
    return it.kind == "last" and len(scene.last) == 1 and scene.rng.random() < 0.5


def near_reference(scene: GameScene, cell: Cell) -> tuple[Reference, Relation] | None:
    """A block near the new cell that words can identify, preferably the last one, and the cell's relation to it."""
    rng, quarter = scene.rng, scene.pose.quarter
    around = [(other, seen) for other in scene.blocks if is_near(seen := relation(other, cell, quarter))]
    rng.shuffle(around)
    around.sort(key=lambda pair: pair[0] not in scene.last[-1:] or rng.random() < 0.25)
    for other, seen in around:
        if it := scene.picked(other):
            return it, seen
    return None


def near_order(scene: GameScene, cell: Cell, color: str) -> SpokenOrder | None:
    """An order for a block by its relation to a block near it; None if words can identify none of these."""
    near = near_reference(scene, cell)
    return near and place_order(scene, cell, color, *near)


def is_near(seen: Relation) -> bool:
    """Whether a cell is a neighbor along one to three axes, or at most _REACH cells away along one."""
    return max(map(abs, seen)) <= (_REACH if seen.axes == 1 else 1)


def hangs(blocks: Collection[Cell], cells: Sequence[Cell]) -> bool:
    """Whether new blocks need supports because some of them are not connected, by faces, to the ground or an existing block."""
    todo = [cell for cell in cells if cell[1] == 1 or any(other in blocks for other in touching(cell))]
    left = set(cells) - set(todo)
    while todo and left:
        joined = [cell for cell in touching(todo.pop()) if cell in left]
        left.difference_update(joined)
        todo += joined
    return bool(left)


def hanging(scene: GameScene, figure: PlacedFigure) -> str:
    """The section of frames for a shape that needs supports; "" if it needs none."""
    if not hangs(scene.blocks, figure.cells):
        return ""
    return "no supports" if any(not hangs(scene.blocks, [cell]) for cell in figure.cells) else "floating shape"


def directions(scene: GameScene, figure: PlacedFigure) -> tuple[Relation, ...]:
    return tuple(relation((0, 0, 0), step, scene.pose.quarter) for step in figure.directions)


def floating(scene: GameScene, text: str, section: str = "floating") -> str:
    """A message with the remark that something floats, before its question mark if it has one."""
    if text.endswith("?"):
        return f"{text[:-1]}{scene.voice.draw(f'{section} asked')}?"
    return f"{text}{scene.voice.draw(section)}"


def about(frame: str, it: Reference) -> dict[str, Any]:
    return {"frame": frame, "reference": list(it.cell), "by": it.kind}


_BY_BUILDER = 0.3
"""The share of cells that are described by their relation to the builder, if that is possible."""


def picked_out(scene: GameScene, cell: Cell) -> Reference:
    """An unambiguous reference to a block: its own, or by its place relative to another block or to the grid's middle."""
    if it := scene.picked(cell):
        return it
    anchor = _anchor(scene, cell)
    where = from_middle(scene, cell) if anchor is None else _from(scene, anchor, cell)
    return Reference(cell, "place", scene.voice.draw("the block at", color=scene.blocks[cell], where=where))


def _anchor(scene: GameScene, cell: Cell) -> Reference | None:
    """The nearest other block that words can identify."""
    others = (other for other in scene.blocks if other != cell)
    nearest = sorted(others, key=lambda other: (sum(map(abs, difference(other, cell))), other))
    return next(filter(None, (scene.picked(other) for other in nearest)), None)


def _from(scene: GameScene, it: Reference, cell: Cell) -> str:
    return scene.voice.where(relation(it.cell, cell, scene.pose.quarter), it.text, diagonal=False)


def from_middle(scene: GameScene, cell: Cell) -> str:
    """The place of a cell relative to the middle of the grid, and its level."""
    voice, seen = scene.voice, relation(CENTER, (cell[0], CENTER[1], cell[2]), scene.pose.quarter)
    flat = voice.where(seen, voice.draw("middle"), diagonal=False) if seen.axes else f"in {voice.draw('middle')}"
    return f"{flat}, {voice.draw('level', n=voice.number(cell[1]))}" if cell[1] > 1 else f"{flat}, on the ground"


def block_order(scene: GameScene, cell: Cell, color: str) -> SpokenOrder:
    if not scene.blocks:
        if cell[1] == 1 and {abs(cell[0]), abs(cell[2])} <= {0, SIDE}:
            return first_order(scene, cell, color)
        text = scene.voice.draw("first", where=from_middle(scene, cell), what=scene.voice.blocks(1, color))
        return SpokenOrder(text, {"frame": "first"})
    if scene.rng.random() < _BY_BUILDER and (order := builder_order(scene, cell, color)):
        return order
    if order := near_order(scene, cell, color):
        return order
    if anchor := _anchor(scene, cell):
        return place_order(scene, cell, color, anchor, relation(anchor.cell, cell, scene.pose.quarter))
    text = scene.voice.draw("place", where=from_middle(scene, cell), what=scene.voice.blocks(1, color))
    return SpokenOrder(floating(scene, text) if hangs(scene.blocks, [cell]) else text, {"frame": "middle"})


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
    if base not in scene.blocks or not any(scene.references(base)):
        return 1
    alike = (n for n, (cell, color) in enumerate(blocks) if (cell, color) != (moved(blocks[0][0], step, n), blocks[0][1]))
    return next(alike, len(blocks))


def piece_order(scene: GameScene, piece: StructurePiece) -> SpokenOrder:
    """An order for a piece that `said_at_once` returns."""
    cells, color = [cell for cell, _ in piece.blocks], piece.blocks[0][1]
    if len(cells) == 1:
        return block_order(scene, cells[0], color)
    if piece.figure is None:
        base = moved(cells[0], difference(cells[0], cells[1]), -1)
        return several_order(scene, picked_out(scene, base), cells, color)
    return figure_order(scene, piece.figure, color)


def figure_order(scene: GameScene, figure: PlacedFigure, color: str) -> SpokenOrder:
    start, anchor = figure.cells[0], _anchor(scene, figure.cells[0])
    if anchor:
        where, meta = _from(scene, anchor, start), about("shape", anchor)
    elif {abs(start[0]), abs(start[2])} <= {0, SIDE} and start[1] == 1:
        where, meta = board_place(scene, start), {"frame": "shape"}
    else:
        where, meta = from_middle(scene, start), {"frame": "shape"}
    text = shape_order(scene.voice, Shape(figure.kind, figure.sizes, directions(scene, figure), color, where), None).text
    if section := hanging(scene, figure):
        text = floating(scene, text, section)
    return SpokenOrder(text, meta)


# --- shapes as a whole ---

PARTS = ("color", "size", "direction", "start")
"""The parts that an order for a shape may leave out."""
_BEHIND = {"left": "right", "right": "left", "up": "bottom", "down": "top", "front": "far", "behind": "near"}
"""The side of a plane from which it extends in a direction."""


class Shape(NamedTuple):
    """A shape as the builder sees it: its directions (`ways`) in the order of `sizes`, and the words for its start (`where`)."""

    kind: str
    sizes: tuple[int, ...]
    ways: tuple[Relation, ...]
    color: str
    where: str


def shape_order(voice: Voice, shape: Shape, omitted: str | None) -> SpokenOrder:
    """An order that determines the cells and their color, except for the omitted part, if any (from `PARTS`)."""
    name = noun(shape.kind, () if omitted == "direction" else shape.ways)
    by_corner = name in ("flat", "wall") and omitted != "start" and voice.rng.random() < 0.4
    parts = {"what": _what(voice, name, shape, omitted, by_corner)}
    if omitted != "start":
        parts["start"] = _start(voice, name, shape, by_corner)
    # A tower implicitly goes up, and a plane given by its corner can extend only one way.
    if omitted != "direction" and name != "tower" and not by_corner:
        parts["way"] = _way(voice, shape, sized=omitted != "size")
    bare = "shape bare" if len(parts) == 1 else "shape way" if "start" not in parts else "shape start"
    text = voice.draw("shape" if len(parts) == 3 else bare, **parts)
    return SpokenOrder(text, {}, *(_question_and_answer(voice, name, shape, omitted) if omitted else ()))


def noun(kind: str, ways: tuple[Relation, ...]) -> str:
    """The section of frames for a shape; without `ways`, the name reveals nothing about the directions."""
    if kind == "row" and ways and ways[0].up:
        return "tower" if ways[0].up > 0 else "column"
    if kind == "plane" and ways:
        return "wall" if any(way.up for way in ways) else "flat"
    return kind


def form(sizes: tuple[int, ...]) -> str:
    return "square" if len(set(sizes)) == 1 else "rectangle"


def corner(voice: Voice, ways: tuple[Relation, ...], *, after: bool) -> str:
    """The corner of a plane from which it extends in its two directions: "bottom left corner", "near right corner".

    `after`: no words that modify the corner follow, so that it may also be a "left corner nearest to you".
    """
    ends = {_BEHIND[way.parts()[0][0]] for way in ways}
    side = next((end for end in ("left", "right") if end in ends), "")
    height = next((voice.draw(f"at {end}") for end in ("top", "bottom") if end in ends), "")
    depth = next((end for end in ("near", "far") if end in ends), "")
    if depth and after and voice.rng.random() < 0.5:
        return voice.draw(f"corner {depth}", side=height or side)
    return " ".join(word for word in (depth, height, side, "corner") if word)


def _what(voice: Voice, name: str, shape: Shape, omitted: str | None, by_corner: bool) -> str:
    slots = {"color": "" if omitted == "color" else shape.color}
    if omitted == "size":
        return voice.draw(f"{name} sizeless", **slots)
    if shape.kind != "plane":
        return voice.draw(name, n=voice.number(shape.sizes[0]), **slots)
    slots["form"] = form(shape.sizes)
    if by_corner:
        return voice.draw(f"{name} spans", spans=voice.draw("spans", **_spans(voice, shape)), **slots)
    x, y = shape.sizes
    dims = voice.draw("dims", x=str(x), y=str(y), a=voice.number(x), b=voice.number(y))
    return voice.draw(name, dims=dims, **slots)


def _spans(voice: Voice, shape: Shape) -> dict[str, str]:
    """The sizes of a plane, and the word for each dimension: width, depth or height."""
    one, two = (voice.draw(f"span {way.parts()[0][0]}") for way in shape.ways)
    return {"a": voice.number(shape.sizes[0]), "b": voice.number(shape.sizes[1]), "one": one, "two": two}


def _start(voice: Voice, name: str, shape: Shape, by_corner: bool) -> str:
    if by_corner:
        return voice.draw("start corner", corner=corner(voice, shape.ways, after=True), where=shape.where)
    return voice.draw(f"start {_asked(name, shape)}", where=shape.where)


def _way(voice: Voice, shape: Shape, sized: bool) -> str:
    if shape.kind != "plane":
        return voice.draw("way diagonal" if shape.kind == "diagonal" else "way row", go=voice.go(shape.ways[0]))
    one, two = (voice.go(way) for way in shape.ways)
    if not sized or len(set(shape.sizes)) == 1:
        return voice.draw("way square", one=one, two=two)
    return voice.draw("way plane", a=voice.number(shape.sizes[0]), b=voice.number(shape.sizes[1]), one=one, two=two)


def _asked(name: str, shape: Shape) -> str:
    """The section of frames for a question about a shape; only rows known to be vertical have a separate one."""
    return name if name in ("tower", "column") else "row" if shape.kind != "plane" else "plane"


def _question_and_answer(voice: Voice, name: str, shape: Shape, omitted: str) -> tuple[str, str]:
    """The question for the omitted part, and the answer."""
    kind = _asked(name, shape)
    if omitted == "color":
        return voice.draw("what color"), voice.draw("answer color", color=shape.color)
    if omitted == "size":
        slots = _spans(voice, shape) if kind == "plane" else {"n": voice.number(shape.sizes[0])}
        return voice.draw(f"ask size {kind}"), voice.draw(f"answer size {kind}", **slots)
    if omitted == "direction":
        if kind == "plane":
            return voice.draw("ask direction"), voice.draw("answer direction plane", way=_way(voice, shape, sized=True))
        return voice.draw("ask direction"), voice.draw("answer direction row", go=voice.go(shape.ways[0]))
    return voice.draw("ask start"), voice.draw(f"answer start {kind}", where=shape.where)
