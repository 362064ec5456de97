"""What the primer's Architect can ask for, and the actions that carry it out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from harness.corpora.item import Utterance
from harness.corpora.primer.minecraft_site import ACROSS, Cell, Order, Site
from harness.corpora.primer.minecraft_words import RELATIONS, ROWS, WAYS
from harness.worlds.minecraft import Action, Structure, in_region


def _block(s: Site) -> Order:
    (cell, where), color = s.anchor(), s.color()
    if s.rng.random() < 0.1:
        asks, answer = Utterance("Builder", s.voice.say("where")), Utterance("Architect", where)
        return s.order("block", [cell], color, s.voice.say("block", block=s.voice.blocks(1, color), where=""), asks, answer)
    return s.order("block", [cell], color, s.voice.say("block", block=s.voice.blocks(1, color), where=where))


def _relate(s: Site) -> Order | None:
    """One or some blocks next to one that is there, in one of the builder's six directions."""
    found, way, count = s.reference(), s.direction(), s.rng.choices((1, 2, 3, 4), (66, 18, 12, 4))[0]
    if not found:
        return None
    color, figure = s.color(), [s.beside(found[0], way, i + 1) for i in range(count)]
    frame = "relate" if count == 1 else "stack" if way == "top" else "line"
    where = s.voice.draw(RELATIONS[way], it=found[1])
    if s.rng.random() < 0.08:
        asks, answer = Utterance("Builder", s.voice.say("which")), Utterance("Architect", s.voice.say("color", color=color))
        return s.order(frame, figure, color, s.voice.say(frame, block=s.voice.blocks(count, None), where=where), asks, answer)
    return s.order(frame, figure, color, s.voice.say(frame, block=s.voice.blocks(count, color), where=where))


def _another(s: Site) -> Order | None:
    """One more of the color placed last, beside the block placed last."""
    way, color = s.direction(), s.structure.color_at(*s.figure[-1]) if s.figure else None
    steps = {(b[0] - a[0], b[1] - a[1], b[2] - a[2]) for a, b in pairwise(s.figure)}
    if color is None or len(steps) > 1:  # only after a block, a row or a tower is the last block a matter of course
        return None
    return s.order("another", [s.beside(s.figure[-1], way)], color, s.voice.say("another", way=s.voice.draw(WAYS[way])))


def _tower(s: Site) -> Order:
    (cell, where), color, n = s.anchor(), s.color(), s.rng.randint(2, 5)
    text = s.voice.say("tower", block=s.voice.blocks(n, color), color=color, n=s.voice.number(n), where=where)
    return s.order("tower", [s.at(cell, up=i) for i in range(n)], color, text)


def _run(s: Site, cell: Cell, n: int) -> tuple[str, list[Cell]]:
    """A row through the center of the region, or from another cell into the region."""
    way = s.rng.choices(ACROSS, (5, 2, 1, 2))[0]
    start = s.beside(cell, way, -(n // 2)) if cell == (0, 1, 0) else cell
    return way, [s.beside(start, way, i) for i in range(n)]


def _row(s: Site) -> Order:
    (cell, where), color, n = s.anchor(), s.color(), s.rng.randint(2, 6)
    way, figure = _run(s, cell, n)
    slots = {"block": s.voice.blocks(n, color), "n": s.voice.number(n), "way": s.voice.draw(ROWS[way])}
    return s.order("row", figure, color, s.voice.say("row", color=color, where=where, **slots))


def _colors(s: Site) -> Order:
    """A row or a tower of several colors."""
    (cell, where), n, upright = s.anchor(), s.rng.randint(2, 4), s.rng.random() < 0.4
    colors = [s.color() for _ in range(n)]
    way, figure = _run(s, cell, n) if not upright else ("top", [s.at(cell, up=i) for i in range(n)])
    frame = "colors-tower" if upright else "colors"
    slots = {"way": "" if upright else s.voice.draw(ROWS[way]), "n": s.voice.number(n), "first": colors[0]}
    text = s.voice.say(frame, where=where, colors=s.voice.listing(colors), **slots)
    actions = tuple(Action("place", color, *c) for color, c in zip(colors, figure, strict=True))
    return Order(frame, (Utterance("Architect", text),), actions, tuple(figure))


def _square(s: Site) -> Order:
    """A flat square, filled or not, about the center or from another cell to the right and away."""
    hollow = s.rng.random() < 0.35
    (cell, where), color, n = s.anchor(), s.color(), s.rng.randint(3, 4) if hollow else s.rng.randint(2, 3)
    right, _, away = s.seen(cell)
    # From a cell beyond the center the square grows back toward it, so that it stays in the region.
    across, along = (-1 if right > 0 else 1), (-1 if away > 0 else 1)
    corner = s.at(cell, -(n // 2), 0, -(n // 2)) if cell == (0, 1, 0) else cell
    figure = [s.at(corner, i * across, 0, j * along) for j in range(n) for i in range(n) if not hollow or {i, j} & {0, n - 1}]
    frame = "hollow" if hollow else "square"
    return s.order(frame, figure, color, s.voice.say(frame, n=str(n), color=color, where=where))


def _ell(s: Site) -> Order:
    (cell, where), color, n, k = s.anchor(), s.color(), s.rng.randint(2, 4), s.rng.randint(1, 3)
    way, upright = s.rng.choice(("right", "left")), s.rng.random() < 0.5
    other = "top" if upright else s.rng.choice(("front", "behind"))
    figure = [s.beside(cell, way, i) for i in range(n)]
    figure += [s.beside(figure[-1], other, i + 1) for i in range(k)]
    slots = {"way": s.voice.draw(ROWS[way]), "other": "" if upright else s.voice.draw(WAYS[other]), "end": way}
    frame = "ell-up" if upright else "ell"
    text = s.voice.say(frame, n=s.voice.number(n), k=s.voice.number(k), color=color, where=where, **slots)
    return s.order(frame, figure, color, text)


def _plus(s: Site) -> Order:
    (cell, where), color = s.anchor(), s.color()
    figure = [cell, *(s.beside(cell, way) for way in ACROSS)]
    return s.order("plus", figure, color, s.voice.say("plus", color=color, where=where))


def _supported(frame: str, supports: list[Cell], cell: Cell, color: str, text: str) -> Order:
    """Place supports and the block, then take the supports away from the top down."""
    places = [Action("place", color, *c) for c in [*supports, cell]]
    removals = [Action("remove", color, *c) for c in reversed(supports)]
    return Order(frame, (Utterance("Architect", text),), (*places, *removals), (cell,))


def _floating(s: Site) -> Order:
    (cell, where), color, n = s.anchor(ground=""), s.color(), s.rng.randint(1, 3)
    supports = [s.at(cell, up=i) for i in range(n)]
    slots = {"n": s.voice.number(n), "height": s.voice.number(n + 1), "where": where}
    text = s.voice.say("floating", block=s.voice.blocks(1, color), **slots)
    return _supported("floating", supports, s.at(cell, up=n), color, text)


def _diagonal(s: Site) -> Order | None:
    found, color, up = s.reference(), s.color(), s.rng.choice(("top", "below"))
    if not found:
        return None
    side = s.rng.choice(ACROSS)
    support = s.beside(found[0], side)
    vertical = "up" if up == "top" else "down"
    words = {"right": "to the right", "left": "to the left", "front": "towards you", "behind": "away from you"}
    text = s.voice.say("diagonal", block=s.voice.blocks(1, color), it=found[1], way=f"{vertical} and {words[side]}")
    return _supported("diagonal", [support], s.beside(support, up), color, text)


def _each(s: Site) -> Order | None:
    present = sorted({block.color for block in s.structure.blocks()})
    if not present:
        return None
    x, color = s.rng.choice(present), s.color()
    cells = s.of_color(x)
    if not 1 < len(cells) <= 9:
        return None
    return s.order("each", [s.at(c, up=1) for c in cells], color, s.voice.say("each", x=x, block=s.voice.blocks(1, color)))


def _ends(s: Site) -> Order | None:
    """A block at both ends of a row that runs from left to right."""
    seen = sorted(s.seen(cell) for cell in s.figure)
    x = s.structure.color_at(*s.figure[0]) if s.figure else None
    if x is None or len(seen) < 2 or len({cell[1:] for cell in seen}) > 1 or seen[-1][0] - seen[0][0] + 1 != len(seen):
        return None
    if any(s.structure.color_at(*cell) != x for cell in s.figure) or len(s.of_color(x)) != len(seen):
        return None
    ends = sorted(s.figure, key=s.seen)
    color = s.color()
    figure = [s.beside(ends[0], "left"), s.beside(ends[-1], "right")]
    return s.order("ends", figure, color, s.voice.say("ends", x=x, block=s.voice.blocks(1, color)))


def _removal(s: Site, cells: list[Cell]) -> tuple[Action, ...]:
    return tuple(Action("remove", s.structure.color_at(*c), *c) for c in cells)


def _remove(s: Site) -> Order | None:
    """The last figure, all blocks of a color, or one block."""
    kind, present = s.rng.random(), sorted({block.color for block in s.structure.blocks()})
    if not present:
        return None
    if kind < 0.2 and len(s.figure) > 1:
        cells, it = (
            list(reversed(s.figure)),
            s.voice.draw("[what|everything] you [just|last] [built|placed]", "[all of|] those [blocks|] again"),
        )
    elif kind < 0.4:
        color = s.rng.choice(present)
        cells = sorted(s.of_color(color), key=lambda c: -c[1])
        it = f"all [of|] the {color} [{s.voice.block}s|ones]" if len(cells) > 1 else f"the {color} [{s.voice.block}|one]"
        it = s.voice.draw(it)
    else:
        found = s.reference()
        if not found:
            return None
        cells, it = [found[0]], found[1]
    return Order("remove", (Utterance("Architect", s.voice.say("remove", it=it)),), _removal(s, cells))


def _replace(s: Site) -> Order | None:
    found = s.reference()
    if not found:
        return None
    color = s.color(s.structure.color_at(*found[0]) or "")
    text = s.voice.say("replace", it=found[1], color=color, block=s.voice.blocks(1, color))
    actions = (*_removal(s, [found[0]]), Action("place", color, *found[0]))
    return Order("replace", (Utterance("Architect", text),), actions, (found[0],))


def _move(s: Site) -> Order | None:
    found, way = s.reference(), s.rng.choice(ACROSS)
    color = s.structure.color_at(*found[0]) if found else None
    if not found or not color:
        return None
    cell = s.beside(found[0], way)
    text = s.voice.say("move", it=found[1], way=s.voice.draw(WAYS[way]))
    return Order("move", (Utterance("Architect", text),), (*_removal(s, [found[0]]), Action("place", color, *cell)), (cell,))


def _again(s: Site) -> Order | None:
    """The last figure once more, some spaces to a side; `k` counts from block to block."""
    colors = [s.structure.color_at(*cell) for cell in s.figure]
    way, k = s.rng.choice(ACROSS), s.rng.randint(2, 4)
    if not s.figure or None in colors:
        return None
    new = s.color(*(c for c in colors if c)) if len(set(colors)) == 1 and s.rng.random() < 0.5 else None
    figure = tuple(s.beside(cell, way, k) for cell in s.figure)
    frame = "again-color" if new else "again"
    text = s.voice.say(frame, k=s.voice.number(k), way=s.voice.draw(WAYS[way]), color=new or "")
    actions = tuple(Action("place", new or color, *cell) for cell, color in zip(figure, colors, strict=True))
    return Order(frame, (Utterance("Architect", text),), actions, figure)


_Maker = Callable[[Site], Order | None]
_STARTS: tuple[tuple[_Maker, float], ...] = (
    (_block, 26), (_tower, 16), (_row, 20), (_colors, 10), (_square, 14), (_ell, 8), (_plus, 3), (_floating, 5),
)  # fmt: skip
_LATER: tuple[tuple[_Maker, float], ...] = (
    (_relate, 40), (_another, 7), (_diagonal, 6), (_each, 5), (_ends, 10), (_remove, 6), (_replace, 3), (_move, 4), (_again, 5),
    (_block, 2), (_tower, 5), (_row, 4), (_square, 2), (_ell, 2), (_colors, 2), (_floating, 3),
)  # fmt: skip


def next_order(s: Site) -> tuple[Order, Structure]:
    """The next order that can be carried out and changes the structure, and the structure after it."""
    makers = _LATER if len(s.structure) else _STARTS
    while True:
        order = s.rng.choices([m for m, _ in makers], [w for _, w in makers])[0](s)
        if order is None or not all(in_region(*action.cell) for action in order.actions):
            continue
        after, ignored = s.structure.apply(order.actions, limited=True)
        if not ignored and after != s.structure:
            return order, after
