"""Where things are built, and what they may have been meant to be instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from harness.simulators.everyday.minecraft.building import Building
from harness.simulators.everyday.talk import Meant, Order
from harness.worlds.minecraft import SIDE

Plan = Callable[[int, int], str]
"""The program of a thing by its leftmost x and its nearest z."""


class Other(NamedTuple):
    """What might have been meant instead: how that is said, and its plan; what begins with "=" is done beside what is there."""

    section: str
    plan: Plan
    kind: str = "size"
    slots: Mapping[str, str] = {}


def span(first: int, last: int) -> str:
    """Coordinates from the smaller to the larger one."""
    first, last = min(first, last), max(first, last)
    return str(first) if first == last else f"{first}..{last}" if first < 0 or last < 0 else f"{first}-{last}"


def box(x: int, y: int, z: int, width: int, height: int, depth: int) -> str:
    """From a left lower near cell: to the right, up and away."""
    return f"{span(x, x - width + 1)},{span(y, y + height - 1)},{span(z, z + depth - 1)}"


def build(
    b: Building, kind: str, noun: str, what: str, plan: Plan, width: int, depth: int = 1, others: tuple[Other, ...] = ()
) -> Order:
    """A thing somewhere on free ground."""
    site = b.site(width, depth)
    meant = [Meant(one.section, one.plan(site.x, site.z), one.slots, one.kind) for one in others]
    found = []
    for way, dx, dz in (("left", 1, 0), ("right", -1, 0), ("far", 0, 1), ("near", 0, -1)):
        k = b.some(1, 2, 2, 3)
        x, z = site.x + k * dx, site.z + k * dz
        if -SIDE + width - 1 <= x <= SIDE and -SIDE <= z <= SIDE + 1 - depth:
            found.append(Meant(f"more {way}", plan(x, z), {"n": b.number(k), "s": "s" if k > 1 else ""}))
    meant += [b.rng.choice(found)] if found else []
    text = b.ask("build", what, b.place(site.name))
    return Order(kind, text, plan(site.x, site.z), noun=noun, meant=tuple(meant), fresh=True)
