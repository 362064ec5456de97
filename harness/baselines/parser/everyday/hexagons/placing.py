"""Where a new figure goes: where the words say, otherwise in the middle, and clear of what stands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.baselines.parser.everyday.hexagons.meaning import Link, Phrase
from harness.baselines.parser.everyday.hexagons.scene import ALL, DrawingScene, Tiles, extent, flat, near
from harness.baselines.parser.everyday.hexagons.selecting import BESIDE, nameless, related, room, select
from harness.baselines.parser.everyday.hexagons.shapes import ANCHOR, SHAPES, Shape
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, on_board
from serialization.program import hexagons_geometry as g

GRID = ("box", "row", "column", "house", "tree", "heart", "face", "arrow", "rainbow", "boat", "fish", "ladder")
"""Figures that are laid out, and moved, by the numbers of rows and columns."""
LINES = ("line", "row", "column", "diagonal", "stem")
MIDDLE = (ROWS / 2 - 0.5, COLUMNS / 2 - 0.5)
SIDE_MIDDLES = {"left": (4.5, 4.0), "right": (4.5, 13.0), "top": (2.0, 8.5), "bottom": (7.0, 8.5)}
OUTSIDE, OVERLAP, TOUCH = 1000.0, 100.0, 20.0
"""The costs of each tile outside of the place named, of each tile on something, and of touching something."""


class Place:
    """What the words say about the place: where every tile must lie, and what the figure should be near."""

    def __init__(self, phrase: Phrase, scene: DrawingScene, avoided: Tiles = ()) -> None:
        self.within: set[Tile] | None = None
        self.middle: tuple[float, float] = MIDDLE
        self.touching: Tiles = ()
        self.sides: list[str] = list(phrase.sides)
        self.relation = ""
        self.said = False
        self.avoided = set(avoided)
        for link in phrase.links:
            self._add(phrase, link, scene)

    def _add(self, phrase: Phrase, link: Link, scene: DrawingScene) -> None:
        if link.target is None and link.relation == "inside":
            link = Link("inside", Phrase(head="it"))
        target = link.target
        if target is None or link.relation in ("with", "of", "to"):
            return
        if link.relation in (*BESIDE, "beside"):
            tiles = select(target, scene)
            if tiles:
                self.touching, self.relation, self.said = tiles, link.relation, True
                self.middle = _center(tiles)
            return
        if nameless(target, scene):
            return
        if target.head == "middle" and not target.links and target.det != "its":
            self.middle, self.said = g.middle(ALL), True
            return
        at_edge = target.head in ("edge", "corner") and link.relation in ("in", "beside")
        if target.head == "side" or (target.head == "" and target.sides) or at_edge:
            edge = select(target, scene) or []
            self.sides += target.sides
            if phrase.head == "thing" and len(target.sides) == 1:
                self.middle = SIDE_MIDDLES.get(target.sides[0], MIDDLE)
            if target.head not in ("side", "") or len(target.sides) > 1:
                self.touching, self.relation = edge, "at"
            self.said = True
            return
        tiles = room(link, scene) if link.relation == "in" else related(link, scene, every=True)
        if not tiles:
            return
        self.said = True
        if target.head == "middle" or len(tiles) == 1:
            self.middle = g.middle(tiles)
        elif target.head != "board":
            self.within = set(tiles) if self.within is None else self.within & set(tiles)
            self.middle = _center(tiles)


def _center(tiles: Tiles) -> tuple[float, float]:
    top, bottom, left, right = extent(tiles)
    return (top + bottom) / 2, (left + right) / 2


def moved(shape: tuple[Tile, ...], row: int, column: int, grid: bool) -> tuple[Tile, ...]:
    """The shape with its anchor on another tile."""
    if grid:
        return tuple(Tile(t.row + row - ANCHOR.row, t.column + column - ANCHOR.column) for t in shape)
    move = g.board_shift([("down", row - ANCHOR.row), ("right", column - ANCHOR.column)], False)
    to, _ = move.mapping(ANCHOR)
    return tuple(Tile(*to(tile)) for tile in shape)


def placed(phrase: Phrase, scene: DrawingScene, taken: Tiles = (), avoided: Tiles = ()) -> list[Tile] | None:
    """The tiles of a new figure at its best place; None if it fits nowhere on the board."""
    if phrase.head not in SHAPES:
        return None
    return best(SHAPES[phrase.head](phrase), phrase, Place(phrase, scene, avoided), scene, taken)


class Choice(NamedTuple):
    """A figure at one place of the board."""

    tiles: tuple[Tile, ...]
    span: tuple[int, int, int, int]


@lru_cache(maxsize=256)
def choices(shape: tuple[Tile, ...], grid: bool) -> tuple[Choice, ...]:
    """The places of the board at which a shape fits."""
    found = (moved(shape, at.row, at.column, grid) for at in ALL)
    return tuple(Choice(tiles, extent(tiles)) for tiles in found if all(on_board(*tile) for tile in tiles))


def best(shapes: Sequence[Shape], phrase: Phrase, place: Place, scene: DrawingScene, taken: Tiles = ()) -> list[Tile] | None:
    standing = {*scene.painted, *taken}
    beside, close = set(near(tuple(standing))), set(near(place.touching))
    least, found = math.inf, None
    for number, shape in enumerate(shapes):
        grid = phrase.head in GRID or phrase.head.startswith("letter") or len({tile.row for tile in shape}) == 1
        for choice in choices(tuple(shape), grid):
            cost = 3 * number + _cost(choice, place, standing, beside, close)
            if cost < least:
                least, found = cost, list(choice.tiles)
    return found


def _cost(choice: Choice, place: Place, standing: set[Tile], beside: set[Tile], close: set[Tile]) -> float:
    tiles, (top, bottom, left, right) = choice
    cost = abs((top + bottom) / 2 - place.middle[0]) * 1.2 + abs((left + right) / 2 - place.middle[1])
    if standing and not standing.isdisjoint(tiles):
        cost += OVERLAP * len(standing.intersection(tiles))
    if place.avoided:
        cost += OUTSIDE * len(place.avoided.intersection(tiles))
    if place.within is not None:
        cost += OUTSIDE * (len(tiles) - len(place.within.intersection(tiles)))
    if place.relation == "at":
        cost += 50 * (not set(place.touching).intersection(tiles))
    elif place.relation:
        cost += _beside_cost(tiles, place, close)
    if place.relation in ("", "at"):
        cost += TOUCH * (not beside.isdisjoint(tiles))
    return cost + 30 * _from_sides(choice.span, place.sides)


def _beside_cost(tiles: tuple[Tile, ...], place: Place, close: set[Tile]) -> float:
    """How far a figure is from being on a side of something, and touching it."""
    top, bottom, left, right = extent(tiles)
    first, last, start, end = extent(place.touching)
    wrong = {
        "above": max(0, bottom - first + 1),
        "below": max(0, last - top + 1),
        "left": max(0, right - start + 1),
        "right": max(0, end - left + 1),
    }.get(place.relation, 0)
    return 60.0 * wrong + (0 if close.intersection(tiles) else 40) + OVERLAP * len(set(place.touching).intersection(tiles))


def _from_sides(spans: tuple[int, int, int, int], sides: Sequence[str]) -> float:
    top, bottom, left, right = spans
    away = {"top": top, "bottom": ROWS - 1 - bottom, "left": left, "right": COLUMNS - 1 - right}
    return sum(away.get(side, 0) for side in sides)


def lined_up(phrase: Phrase, scene: DrawingScene, count: int, avoided: Tiles) -> list[list[Tile]]:
    """Several new figures in one row or column with a gap between them; empty if they do not fit."""
    shape = SHAPES[phrase.head](phrase)[0]
    top, bottom, left, right = extent(shape)
    upright = "upright" in phrase.marks
    # Tiles of every other column lie half a tile lower, so the way between two figures in a row is even.
    step = bottom - top + 2 if upright else (right - left + 3) // 2 * 2
    copies = [
        [Tile(t.row + k * step, t.column) if upright else Tile(t.row, t.column + k * step) for t in shape] for k in range(count)
    ]
    found = best([flat(copies)], phrase, Place(phrase, scene, avoided), scene)
    return [found[k * len(shape) : (k + 1) * len(shape)] for k in range(count)] if found else []


def scattered(phrase: Phrase, scene: DrawingScene, count: int, avoided: Tiles = ()) -> list[list[Tile]]:
    """Several new figures that do not touch each other."""
    if phrase.marks & {"level", "upright", "together"} and phrase.head not in LINES:
        line = lined_up(phrase, scene, count, avoided)
        if line:
            return line
    found: list[list[Tile]] = []
    taken: list[Tile] = []
    for _ in range(min(count, 60)):
        tiles = placed(phrase, scene, taken, avoided=avoided)
        if tiles is None or set(tiles) & set(taken):
            break
        found.append(tiles)
        taken += tiles
    return found
