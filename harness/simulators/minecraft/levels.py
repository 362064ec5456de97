"""Elementary builds in an empty region (level 1), and one block more or less (level 2).

The sets follow the definitions of Nebula's level-1 and level-2 sets (Chaturvedi et al. 2024); the items are our own. Level 1 has
the same counts: 6 colors, 4 locations, 3 orientations if a shape has any, and

    tower 504 (sizes 3-9, 3 orientations)     square 216 (3-5, 3)      diagonal 168 (3-9)    row 168 (3-9)
    diamond 144 (2 sizes, 3 orientations)     rectangle 144 (2, 3)     cube 24 (3)           together 1,368

We chose the widths of diamonds (3 and 5, because a diamond has a middle), the rectangles (4 x 3, 5 x 3), the meaning of a
horizontal tower (it lies on the ground), and all numbers of level 2: a place order and a remove order after each build of
level 1. The inventory of 20 blocks a color does not apply: a 5 x 5 square and a 3 x 3 x 3 cube need more.
"""

from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import product
from random import Random
from typing import Any, NamedTuple

from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.simulators.minecraft.game import item_id
from harness.simulators.minecraft.scene import Cell, Voice, facing
from harness.worlds.minecraft import COLORS, SIDE, Action, Structure, in_region, touching

LOCATIONS = ("center", "edge", "corner", None)
ORIENTATIONS = ("horizontal", "vertical", None)
WIDTH = 3
"""The shorter side of a rectangle."""
PLACES = ("on top of", "to the side of", "touching", "not touching")
REMOVALS = ("any", "last", "top", "bottom", "center", "corner", "end")

Cells = tuple[Cell, ...]


class Build(NamedTuple):
    """An order of level 1. `size` is the longest side in blocks; None leaves a dimension open."""

    shape: str
    color: str
    size: int
    location: str | None
    orientation: str | None

    @property
    def meta(self) -> dict[str, Any]:
        return self._asdict() | ({"width": WIDTH} if self.shape == "rectangle" else {})


_SIZES: dict[str, tuple[range | tuple[int, ...], tuple[str | None, ...]]] = {
    "tower": (range(3, 10), ORIENTATIONS),
    "square": (range(3, 6), ORIENTATIONS),
    "diagonal": (range(3, 10), (None,)),
    "row": (range(3, 10), (None,)),
    "diamond": ((3, 5), ORIENTATIONS),
    "rectangle": ((4, 5), ORIENTATIONS),
    "cube": ((3,), (None,)),
}
"""The sizes and orientations of each shape."""


def level_1(seed: int) -> Iterator[MinecraftItem]:
    """The 1,368 items of level 1 in an order that depends on the seed, with ids `minecraft-level-1/test/<n>/<i>`.

    `meta` is the build; the gold actions are one of many right answers.
    """
    for n, (rng, build) in enumerate(_drawn(seed)):
        yield _built(rng, build, f"minecraft-level-1/test/{n}")


def level_2(seed: int) -> Iterator[MinecraftItem]:
    """2,736 items: after each build of level 1, one game with a block to place and another with a block to remove.

    `meta` holds the "build", "order" (place or remove), "kind" (from `PLACES` or `REMOVALS`), "color" of the block, and "last",
    the cell of the block that was placed last. Only kinds that have an answer are drawn.
    """
    for n, (rng, build) in enumerate(_drawn(seed)):
        for part, order in enumerate(("place", "remove")):
            name = f"minecraft-level-2/test/{2 * n + part}"
            yield _one_more(rng, order, _built(rng, build, name), name)


def _drawn(seed: int) -> Iterator[tuple[Random, Build]]:
    """The 1,368 orders of level 1, each once."""
    orders = [
        Build(shape, color, size, location, orientation)
        for shape, (sizes, orientations) in _SIZES.items()
        for color, size, location, orientation in product(COLORS, sizes, LOCATIONS, orientations)
    ]
    Random(f"{seed}/levels").shuffle(orders)
    return ((Random(f"{seed}/levels/{n}"), build) for n, build in enumerate(orders))


def _built(rng: Random, build: Build, game: str) -> MinecraftItem:
    voice = _voice(rng)
    cells = rng.choice(answers(build))
    turned = {"horizontal": "flat", "vertical": "upright"}.get(build.orientation or "")
    sizes = {"n": voice.number(build.size), "width": voice.number(WIDTH), "digits": str(build.size), "width_digits": str(WIDTH)}
    what = voice.draw(build.shape, turned=voice.draw(turned) if turned else "", color=build.color, **sizes)
    text = voice.sentence(voice.draw("build", what=what, where=voice.draw(build.location or "none")))
    history = (Utterance("Builder", voice.draw("started")), Utterance("Architect", text))
    actions = tuple(Action("place", build.color, *cell) for cell in cells)
    return _item(rng, game, history, Structure(), actions, build.meta)


@lru_cache(maxsize=256)
def answers(build: Build) -> tuple[Cells, ...]:
    """The right answers, each as cells in a feasible order: the build at every fitting place on the ground.

    If some answers have a block exactly in the corner or the center that the order names, only these count.
    """
    placed: list[Cells] = []
    for cells in _figures(build):
        xs, zs = {cell[0] for cell in cells}, {cell[2] for cell in cells}
        for dx, dz in product(range(-SIDE, SIDE + 1 - max(xs)), range(-SIDE, SIDE + 1 - max(zs))):
            if build.location in (None, location((dx, dx + max(xs)), (dz, dz + max(zs)))):
                placed.append(tuple((x + dx, y, z + dz) for x, y, z in cells))
    spot = {"corner": SIDE, "center": 0}.get(build.location or "")
    exact = [cells for cells in placed if any(abs(x) == abs(z) == spot for x, _, z in cells)]
    return tuple(exact or placed)


def location(x: tuple[int, int], z: tuple[int, int]) -> str | None:
    """The location of a build that reaches from x[0] to x[1] and from z[0] to z[1]: "corner" or "edge" if it touches two or one
    of the region's sides, "center" if its middle is there, otherwise None."""
    sides = sum(-SIDE in ends or SIDE in ends for ends in (x, z))
    if sides:
        return "corner" if sides == 2 else "edge"
    return "center" if abs(sum(x)) <= 1 and abs(sum(z)) <= 1 else None


def _figures(build: Build) -> list[Cells]:
    """The shape in each orientation that the order allows, from (0, 1, 0) on; lowest blocks first, then nearest to the middle."""
    n, shape = build.size, build.shape
    line = [(i, 0) for i in range(n)]
    flat = {
        "row": [line],
        "tower": [line],
        "diagonal": [[(i, i) for i in range(n)], [(i, n - 1 - i) for i in range(n)]],
        "rectangle": [list(product(range(n), range(WIDTH))), list(product(range(WIDTH), range(n)))],
        "diamond": [[(a, b) for a, b in product(range(n), repeat=2) if abs(a - n // 2) + abs(b - n // 2) <= n // 2]],
    }.get(shape, [list(product(range(n), repeat=2))])
    lying = [[(a, 1, b) for a, b in cells] for cells in flat]
    if shape in ("row", "tower"):
        lying.append([(0, 1, i) for i in range(n)])
    upright = [[(a, 1 + b, 0) for a, b in cells] for cells in flat] + [[(0, 1 + b, a) for a, b in cells] for cells in flat]
    if shape == "tower":
        upright = [[(0, 1 + i, 0) for i in range(n)]]
    if shape == "cube":
        figures = [[(a, y, b) for y in range(1, n + 1) for a, b in flat[0]]]
    elif shape in ("row", "diagonal"):
        figures = lying
    elif build.orientation is None:
        figures = upright if shape == "tower" else lying + upright
    else:
        figures = lying if build.orientation == "horizontal" else upright
    return [tuple(sorted(cells, key=lambda cell: (cell[1], _off_middle(cell, cells)))) for cells in figures]


def _off_middle(cell: Cell, cells: list[Cell]) -> int:
    """Twice the distance along the axes from the middle of the cells, as seen from above."""
    return sum(abs(2 * cell[axis] - max(other[axis] for other in cells)) for axis in (0, 2))


def _one_more(rng: Random, order: str, built: MinecraftItem, game: str) -> MinecraftItem:
    voice = _voice(rng)
    there = [action.cell for action in built.actions]
    kinds = PLACES if order == "place" else REMOVALS
    right = {kind: cells for kind in kinds if (cells := _to_place(there, kind) if order == "place" else _to_remove(built, kind))}
    kind = rng.choice(list(right))
    cell, color = rng.choice(right[kind]), rng.choice(COLORS)
    if order == "place":
        action = Action("place", color, *cell)
        text = voice.draw("place", color=color, where=voice.draw(kind))
    else:
        action = Action("remove", built.meta["color"], *cell)
        one = "the" if len(right[kind]) == 1 else "a"
        text = voice.draw("remove", it=voice.draw({"center": "middle", "corner": "corner block"}.get(kind, kind), one=one))
    history = (*built.history, Executed(built.actions, built.pose), Utterance("Architect", voice.sentence(text)))
    meta = {"build": dict(built.meta), "order": order, "kind": kind, "color": action.color, "last": list(there[-1])}
    return _item(rng, game, history, built.after, (action,), meta)


def _to_place(there: Collection[Cell], kind: str) -> list[Cell]:
    """The free cells in relation `kind` to the blocks; "not touching" cells are on the ground and do not even share a corner."""
    if kind == "not touching":
        ground = ((x, 1, z) for x, z in product(range(-SIDE, SIDE + 1), repeat=2))
        return [cell for cell in ground if all(max(abs(a - b) for a, b in zip(cell, c, strict=True)) > 1 for c in there)]
    free = dict.fromkeys(cell for block in there for cell in touching(block) if cell not in there and in_region(*cell))
    if kind == "touching":
        return list(free)
    if kind == "on top of":
        return [(x, y, z) for x, y, z in free if (x, y - 1, z) in there]
    return [cell for cell in free if any(other in there and other[1] == cell[1] for other in touching(cell))]


def _to_remove(built: MinecraftItem, kind: str) -> list[Cell]:
    """The blocks of a build that the kind of expression may mean; none if it does not fit the shape."""
    cells = [action.cell for action in built.actions]
    ends = [(min(values), max(values)) for values in zip(*cells, strict=True)]
    if kind in ("any", "last"):
        return cells if kind == "any" else cells[-1:]
    if kind in ("top", "bottom"):
        low, high = ends[1]
        return [cell for cell in cells if cell[1] == (high if kind == "top" else low)] if low < high else []
    if kind == "center":
        return [cell for cell in cells if all(2 * a == low + high for a, (low, high) in zip(cell, ends, strict=True))]
    fits = ("square", "rectangle", "cube") if kind == "corner" else ("row", "tower", "diagonal")
    outer = [cell for cell in cells if all(a in sides for a, sides in zip(cell, ends, strict=True))]
    return outer if built.meta["shape"] in fits else []


def _voice(rng: Random) -> Voice:
    voice = Voice(rng, "levels")
    voice.block = "block"  # A cube is a shape here.
    return voice


def _item(
    rng: Random, game: str, history: tuple[Turn, ...], before: Structure, actions: tuple[Action, ...], meta: dict[str, Any]
) -> MinecraftItem:
    cells = [action.cell for action in actions]
    pose = facing(rng, cells, {*cells, *(block[:3] for block in before.blocks())}, rng.randrange(4))
    after = before.apply(actions).structure
    return MinecraftItem(item_id(game, history), "test", history, before, pose, actions, after, game, game, meta)
