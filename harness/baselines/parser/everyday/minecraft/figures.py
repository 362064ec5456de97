"""The shapes of things: the cells of their blocks, from (0, 0, 0) on, in the order in which colors are assigned to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.meaning import Thing
from harness.baselines.parser.everyday.minecraft.scene import WAYS, Cell, Cells, box, extent, moved
from harness.worlds.minecraft import COLORS

Shape = dict[Cell, str]
"""Cells with their colors."""
BIGGEST = 40


def cells_of(thing: Thing) -> Cells:
    """The cells of a thing by itself: `Thing("tower", sizes={"high": 3})` is three cells, one over the other."""
    make = _FIGURES.get(thing.noun, _named)
    return _at_origin(make(thing))


def colored(cells: Sequence[Cell], thing: Thing, default: str) -> Shape:
    """The cells in the colors of the thing; without any, in the usual colors of its parts or in `default`."""
    if thing.noun in {"house", "tree"} and (thing.parts or not thing.colors) and "varied" not in thing.flags:
        return _by_part(cells, thing)
    colors = palette(thing, default)
    if thing.noun in _OWN_COLORS and thing.parts:
        return _by_part(cells, replace(thing, colors=colors[:1]))
    if len(colors) == 1:
        return dict.fromkeys(cells, colors[0])
    return {cell: colors[number % len(colors)] for cell, number in zip(cells, _turns(cells, thing), strict=True)}


def palette(thing: Thing, default: str) -> list[str]:
    if thing.colors:
        return thing.colors
    return list(COLORS) if "varied" in thing.flags else [default]


def _turns(cells: Sequence[Cell], thing: Thing) -> list[int]:
    """The number of each cell's color: along a row one after the other, otherwise by layer, by row or like a checkerboard."""
    low, high = extent(cells)
    long = [axis for axis in range(3) if high[axis] > low[axis]]
    if len(long) < 2 or thing.noun in {"diagonal", "snake", "block"}:
        return list(range(len(cells)))
    if thing.noun in {"pyramid", "stairs", "cube", "house"} or "by_layer" in thing.flags:
        return [cell[1] - low[1] for cell in cells]
    if "by_row" in thing.flags:
        return [cell[2] - low[2] for cell in cells]
    return [sum(cell) - sum(low) for cell in cells]


def _at_origin(cells: Sequence[Cell]) -> Cells:
    low, _ = extent(cells)
    return tuple(dict.fromkeys(moved(cell, low, -1) for cell in cells))


def size(thing: Thing, *names: str, default: int, small: int | None = None, big: int | None = None) -> int:
    """The first of these sizes that is named, otherwise a usual one."""
    for name in names:
        if thing.sizes.get(name):
            return thing.sizes[name]
    if "varied" in thing.flags:
        return len(COLORS)
    if thing.vague == "small":
        return small or max(2, default - 1)
    return (big or default + 2) if thing.vague == "big" else default


def _by(thing: Thing, place: int, default: int) -> int:
    """The number at an index of `3 by 4 by 2`, or the default if there are fewer numbers."""
    return thing.by[place] if len(thing.by) > place else default


def _sides(thing: Thing, default: int) -> tuple[int, int]:
    """Width and depth (for upright things, height): from `3 by 4`, `4 wide and 2 long`, `5 long`."""
    if len(thing.by) > 1:
        return thing.by[0], thing.by[1]
    sizes = thing.sizes
    named = [sizes[name] for name in ("wide", "long", "deep") if name in sizes]
    if len(named) > 1:
        return named[0], named[1]
    one = named[0] if named else size(thing, default=default)
    return one, one


# --- straight ---


def _block(thing: Thing) -> Cells:
    high = thing.sizes.get("high", 1)
    wide, long = thing.sizes.get("wide", 1), max(thing.sizes.get("long", 1), thing.sizes.get("deep", 1))
    if len(thing.by) > 1:
        wide, long, high = thing.by[0], thing.by[1], _by(thing, 2, high)
    return _solid(wide, high, long)


def _named(thing: Thing) -> Cells:
    """A thing whose name has no shape: its sizes determine the shape."""
    sizes = thing.sizes
    if len(sizes) == 1 and sizes.keys() & {"count", "long"} and not thing.by:
        return _row(thing)
    if thing.noun == "named" and not (sizes or thing.by) and "flat" in thing.flags:
        return _square(thing)
    return _block(thing)


def _tower(thing: Thing) -> Cells:
    wide, deep = thing.by[:2] if len(thing.by) > 1 else (thing.sizes.get("wide", 1),) * 2
    high = _by(thing, 2, size(thing, "high", "long", "count", "deep", default=3, small=2, big=5))
    if "hollow" in thing.flags:
        return _walls(wide, deep, high)
    return _solid(wide, high, deep)


def _row(thing: Thing) -> Cells:
    sizes = thing.sizes
    length = _by(thing, 0, size(thing, "long", "count", default=0, small=0, big=0))
    broad = sizes.get("wide", 1) if length else 1
    length = length or size(thing, "wide", default=5 if thing.vague == "big" else 3, small=2)
    broad = _by(thing, 1, broad)
    high = sizes.get("high", 1)
    if "upright" in thing.flags or thing.way in {"up", "down"}:
        return _solid(broad, length, 1)
    if thing.way in {"behind", "away", "front", "toward"}:
        cells = [(x, y, z) for y in range(high) for x in range(broad) for z in range(length)]
        return tuple(cells if thing.way in {"behind", "away"} else [(x, y, -z) for x, y, z in cells])
    across = _solid(length, high, broad)
    return across if thing.way != "left" else tuple((-x, y, z) for x, y, z in across)


def _diagonal(thing: Thing) -> Cells:
    count = size(thing, "long", "count", "wide", "high", default=4)
    rises = "upright" in thing.flags or thing.way == "up"
    return tuple((n, n, 0) if rises else (n, 0, n) for n in range(count))


# --- flat and solid ---


def _wall(thing: Thing) -> Cells:
    if "hollow" in thing.flags or (thing.word.endswith("s") and thing.by):
        return _walls(*_sides(thing, 4), _by(thing, 2, size(thing, "high", default=2)))
    wide, high = _sides(thing, 4)
    if len(thing.by) < 2:
        high = size(thing, "high", default=3)
    if "count" in thing.sizes and not thing.by:
        high = thing.sizes.get("high") or _of_count(thing.sizes["count"])[1]
        wide = max(1, thing.sizes["count"] // high)
    thick = _by(thing, 2, thing.sizes.get("deep", 1))
    return _turned(_solid(wide, high, thick), thing.way)


def _solid(wide: int, high: int, deep: int) -> Cells:
    return box((0, 0, 0), (wide - 1, high - 1, deep - 1))


def _walls(wide: int, deep: int, high: int) -> Cells:
    return tuple(cell for cell in _solid(wide, high, deep) if cell[0] in {0, wide - 1} or cell[2] in {0, deep - 1})


def _square(thing: Thing) -> Cells:
    if "hollow" in thing.flags:
        return _frame(thing)
    wide, other = _sides(thing, 3)
    if is_upright(thing):
        other = thing.sizes.get("high", other)
        return _turned(_solid(wide, other, 1), thing.way)
    if thing.sizes.get("count"):
        wide, other = _of_count(thing.sizes["count"])
    high = _by(thing, 2, thing.sizes.get("high", 1))
    return _solid(wide, high, other)


def _of_count(count: int) -> tuple[int, int]:
    """The sides of the squarest rectangle with this many cells: 3 and 2 for 6."""
    side = next(side for side in range(int(count**0.5) or 1, 0, -1) if count % side == 0)
    return count // side, side


def is_upright(thing: Thing) -> bool:
    sizes = thing.sizes
    if "flat" in thing.flags:
        return False
    stands = {"high", "wide"} <= sizes.keys() and not {"long", "deep"} & sizes.keys()
    return stands or "upright" in thing.flags or thing.word == "picture frame"


def _cube(thing: Thing) -> Cells:
    if len(thing.by) > 2:
        wide, high, deep = thing.by[:3]
    else:
        wide, deep = _sides(thing, 3)
        if not thing.by and not set(thing.sizes) & {"wide", "long", "deep"} and thing.sizes:
            wide = deep = size(thing, "high", "count", default=3)
            if "count" in thing.sizes and "high" not in thing.sizes:
                count = thing.sizes["count"]
                wide = deep = round(count ** (1 / 3)) if count in {1, 8, 27, 64} else count
        high = thing.sizes.get("high", wide)
    cells = _solid(wide, high, deep)
    if "hollow" in thing.flags:
        inner = set(box((1, 1, 1), (wide - 2, high - 2, deep - 2)))
        return tuple(cell for cell in cells if cell not in inner)
    return cells


def _frame(thing: Thing) -> Cells:
    wide, other = _sides(thing, 4)
    if thing.sizes.get("count"):
        wide = other = max(2, thing.sizes["count"] // 4 + 1)
    if is_upright(thing):
        other = thing.sizes.get("high", other)
        ring = [(x, y, 0) for x, y, _ in _solid(wide, other, 1) if x in {0, wide - 1} or y in {0, other - 1}]
        return _turned(tuple(ring), thing.way)
    return _walls(wide, other, thing.sizes.get("high", 1))


def _checkerboard(thing: Thing) -> Cells:
    wide, deep = _sides(thing, 4)
    return _solid(wide, 1, deep)


def _turned(cells: Cells, way: str) -> Cells:
    """The cells as they are, across the builder's view, or turned so that they lead away."""
    return tuple((z, y, x) for x, y, z in cells) if way in {"behind", "away", "front", "toward"} else cells


# --- letters ---


def _plane(thing: Thing, cells: Sequence[tuple[int, int]]) -> Cells:
    """The cells of a flat figure that stands or lies, from pairs (across, up or away)."""
    return tuple((x, y, 0) if "upright" in thing.flags else (x, 0, y) for x, y in cells)


def _plus(thing: Thing) -> Cells:
    count = thing.sizes.get("count")
    whole = _by(thing, 0, size(thing, "wide", "long", "high", default=3, small=3, big=5))
    arm = max(1, (count - 1) // 4 if count else (whole - 1) // 2)
    out = [sign * n for n in range(1, arm + 1) for sign in (1, -1)]
    return _plane(thing, [(0, 0), *((n, 0) for n in out), *((0, n) for n in out)])


def _xshape(thing: Thing) -> Cells:
    arm = max(1, (_by(thing, 0, size(thing, "wide", "long", "high", default=3, big=5)) - 1) // 2)
    return _plane(thing, [(0, 0), *((s * k, t * k) for k in range(1, arm + 1) for s in (1, -1) for t in (1, -1))])


def _arms(thing: Thing, default: tuple[int, int]) -> tuple[int, int]:
    if len(thing.by) > 1:
        return thing.by[0], thing.by[1]
    sizes = thing.sizes
    count = sizes.get("count")
    first = sizes.get("high") or sizes.get("long") or ((count + 2) // 2 if count else default[0])
    other = sizes.get("wide") or sizes.get("short") or ((count + 1 - first) if count else default[1])
    return first, max(2, other)


def _lshape(thing: Thing) -> Cells:
    long, short = _arms(thing, (3, 2))
    return _plane(thing, [*((0, long - 1 - n) for n in range(long)), *((n, 0) for n in range(1, short))])


def _tshape(thing: Thing) -> Cells:
    stem, bar = _arms(thing, (3, 3))
    return _plane(thing, [*((n, stem - 1) for n in range(bar)), *((bar // 2, n) for n in range(stem - 2, -1, -1))])


def _ushape(thing: Thing) -> Cells:
    arm, base = _arms(thing, (3, 3))
    return _plane(
        thing, [*((0, n) for n in range(arm - 1, 0, -1)), *((n, 0) for n in range(base)), *((base - 1, n) for n in range(1, arm))]
    )


# --- buildings ---


def _stairs(thing: Thing) -> Cells:
    steps = size(thing, "count", "high", "long", default=3)
    wide = thing.sizes.get("wide", 1) if thing.sizes.keys() & {"count", "high", "long"} else 1
    x, _, z = WAYS.get(thing.way, (1, 0, 0))
    side = (abs(z), 0, abs(x))
    return tuple(moved((x * n, y, z * n), side, k) for n in range(steps) for y in range(n + 1) for k in range(wide))


def _pyramid(thing: Thing) -> Cells:
    levels = size(thing, "high", "count", default=3, small=2, big=4)
    base = _by(thing, 0, thing.sizes.get("wide") or thing.sizes.get("long") or 2 * levels - 1)
    return tuple(cell for y in range((min(base, BIGGEST) + 1) // 2) for cell in box((y, y, y), (base - 1 - y, y, base - 1 - y)))


def _arch(thing: Thing) -> Cells:
    """Two posts with a beam on them; a bridge is a low and long one."""
    low = thing.noun == "bridge"
    wide = _by(thing, 0, size(thing, "wide", "long", "count", default=5 if low else 3, big=5))
    wide = size(_told_part(thing, "deck", "top"), "long", "wide", "count", default=wide)
    high = _by(thing, 1, size(thing, "high", default=2 if low else 4, small=3, big=5))
    high = size(_told_part(thing, "post"), "high", "long", "count", default=high - 1) + 1
    posts = [(x, y, 0) for x in (0, wide - 1) for y in range(high - 1)]
    return _turned((*posts, *((x, high - 1, 0) for x in range(wide))), thing.way)


def _table(thing: Thing) -> Cells:
    top = _told_part(thing, "top")
    wide, deep = _sides(top if top.by or top.sizes else thing, 3)
    legs = size(_told_part(thing, "leg"), "high", "long", "count", default=max(1, thing.sizes.get("high", 2) - 1))
    posts = [(x, y, z) for x in (0, wide - 1) for z in (0, deep - 1) for y in range(legs)]
    return (*posts, *box((0, legs, 0), (wide - 1, legs, deep - 1)))


def _chair(thing: Thing) -> Cells:
    back = size(_told_part(thing, "back"), "high", "long", "count", default=2)
    return (0, 0, 0), *((0, y, 1) for y in range(back))


def _house(thing: Thing) -> Cells:
    wide, deep = _sides(thing, 4)
    high = _by(thing, 2, size(thing, "high", default=3, small=2))
    walls = _walls(wide, deep, high)
    if "hollow" in thing.flags:
        return walls
    door = {(wide // 2, y, 0) for y in range(min(2, high - 1))}
    return (*(cell for cell in walls if cell not in door), *box((0, high, 0), (wide - 1, high, deep - 1)))


def _tree(thing: Thing) -> Cells:
    high = size(thing, "high", default=4, small=3, big=6)
    crown = [(x, y, z) for y in (high - 2, high - 1) for x, _, z in box((0, 0, 0), (2, 0, 2))]
    return tuple(dict.fromkeys([*((1, y, 1) for y in range(high - 2)), *crown, (1, high, 1)]))


def _snake(thing: Thing) -> Cells:
    count = size(thing, "count", "long", default=6)
    bend = (count + 1) // 2
    return tuple((n, 0, 0) if n < bend else (bend - 1, 0, n - bend + 1) for n in range(count))


_FIGURES: dict[str, Callable[[Thing], Cells]] = {
    "tower": _tower,
    "row": _row,
    "wall": _wall,
    "floor": _square,
    "square": _square,
    "cube": _cube,
    "frame": _frame,
    "plus": _plus,
    "lshape": _lshape,
    "tshape": _tshape,
    "ushape": _ushape,
    "xshape": _xshape,
    "stairs": _stairs,
    "pyramid": _pyramid,
    "arch": _arch,
    "table": _table,
    "chair": _chair,
    "house": _house,
    "tree": _tree,
    "snake": _snake,
    "bridge": _arch,
    "diagonal": _diagonal,
    "checkerboard": _checkerboard,
    "layer": _square,
    "top": _square,
}
_OWN_COLORS: dict[str, dict[str, str]] = {
    "house": {"wall": "yellow", "roof": "red"},
    "tree": {"trunk": "orange", "leaves": "green"},
    "table": {"leg": "", "top": ""},
    "chair": {"seat": "", "back": ""},
    "bridge": {"post": "", "deck": ""},
    "arch": {"post": "", "top": ""},
    "snake": {"body": "", "head": ""},
    "pyramid": {"body": "", "top": ""},
}
"""The parts of things, lowest first, with their colors if none are named; empty for the thing's own color."""
_SAME_PARTS = {
    "crown": "leaves",
    "leave": "leaves",
    "lid": "roof",
    "tip": "top",
    "pillar": "post",
    "beam": "top",
    "backrest": "back",
    "tabletop": "top",
}
PARTS = {noun: {*parts, *(word for word, part in _SAME_PARTS.items() if part in parts)} for noun, parts in _OWN_COLORS.items()}


SIZED = frozenset({"arch", "table", "chair", "bridge"})
"""Things that take their sizes from their parts."""


def _told_part(thing: Thing, *names: str) -> Thing:
    return next((part for word, part in thing.parts.items() if _SAME_PARTS.get(word, word) in names), Thing())


def _by_part(cells: Sequence[Cell], thing: Thing) -> Shape:
    """A figure of parts, each in its color."""
    said = {_SAME_PARTS.get(word, word): part.colors[0] for word, part in thing.parts.items() if part.colors}
    main = thing.colors[0] if thing.colors else ""
    usual = {part: color or main or "red" for part, color in _OWN_COLORS[thing.noun].items()}
    if main:
        usual |= dict.fromkeys(usual, main)
    colors = usual | said
    names = list(_OWN_COLORS[thing.noun])
    return {cell: colors[names[_part(cell, number, cells, thing)]] for number, cell in enumerate(cells)}


def _part(cell: Cell, number: int, cells: Sequence[Cell], thing: Thing) -> int:
    """The number of the part of a figure that a cell belongs to."""
    top = extent(cells)[1][1]
    if thing.noun == "tree":
        return int(cell[1] >= top - 2)
    if thing.noun == "snake":
        return int(number == len(cells) - 1)
    if thing.noun == "chair":
        return int(cell[2] > 0)
    return int(cell[1] == top)


SINGLE = frozenset({*_FIGURES} - {"house", "tree", "layer", "top"})
"""Things of one piece, which `another one` may repeat."""


def usual_size(thing: Thing) -> int:
    """The height or length of a thing if no size is named."""
    return max(extent(cells_of(thing))[1]) + 1


COMPOSED = frozenset({"arch", "table", "chair", "house", "tree", "snake", "bridge", "pyramid", "stairs"})
"""Things that may also be described part by part."""
