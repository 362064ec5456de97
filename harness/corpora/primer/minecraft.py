"""Synthetic building games for pretraining on Minecraft: short talk and the actions that carry it out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.corpora.primer.minecraft_orders import next_order
from harness.corpora.primer.minecraft_site import Cell, Order, Site
from harness.corpora.primer.minecraft_words import Voice
from harness.worlds.minecraft import Action, Pose, Structure

_EYES = 1.62
# Orders that change what is there come alone: nobody takes back what is not built yet.
_ALONE = ("remove", "replace", "move")
# A first word that takes no other before it.
_LEADS = ("now", "then", "next", "ok", "and", "first", "sorry", "oops", "another", "can", "could", "we", "i ")


def _pose(rng: Random, focus: Cell, structure: Structure, yaw: float) -> Pose:
    """Some blocks away from a cell, looking at it, outside every block."""
    x, y, z = focus[0] + 0.5, focus[1] + 0.5, focus[2] + 0.5
    feet = 1.0 if rng.random() < 0.5 else round(1.0 + rng.random() * 4.0, 3)
    distance = rng.uniform(2.0, 5.0)
    while True:
        turned = math.radians(yaw)
        px, pz = x + math.sin(turned) * distance, z - math.cos(turned) * distance
        cell = math.floor(px), math.floor(feet), math.floor(pz)
        if not structure.color_at(*cell) and not structure.color_at(cell[0], cell[1] + 1, cell[2]):
            break
        distance += 1.0
    pitch = math.degrees(math.atan2(feet + _EYES - y, distance)) + rng.uniform(-6.0, 6.0)
    return Pose(round(px, 3), feet, round(pz, 3), round(yaw, 2), round(pitch, 2))


def _yaw(rng: Random) -> float:
    yaw = 90.0 * rng.choices((0, 1, 2, 3), (46, 16, 18, 20))[0] + rng.uniform(-35.0, 35.0)
    return yaw - 360.0 if yaw > 0 and rng.random() < 0.3 else yaw


def _talk(s: Site, order: Order, first: bool) -> list[Utterance]:
    """The order's lines with the small talk, checks and praise around them."""
    rng, say, lines = s.rng, s.voice.say, list[Utterance]()
    if first:
        lines.append(Utterance("Builder", "Mission has started."))
        if rng.random() < 0.4:
            lines.append(Utterance("Architect", say("greeting")))
            if rng.random() < 0.6:
                lines.append(Utterance("Builder", say("hello")))
        if rng.random() < 0.15:
            lines.append(Utterance("Architect", say("announce")))
    else:
        if rng.random() < 0.3:
            lines.append(Utterance("Builder", say("check")))
        if rng.random() < 0.4:
            lines.append(Utterance("Architect", say("praise")))
    head = order.lines[0]
    if not first and rng.random() < 0.35 and not head.text.lower().startswith(_LEADS):
        head = Utterance(head.speaker, f"{say('lead').rstrip('.')} {head.text[:1].lower()}{head.text[1:]}")
    return [*lines, head, *order.lines[1:]]


def _turn(s: Site, first: bool) -> tuple[list[Utterance], tuple[Action, ...], str]:
    """What is said, the actions and the frames of one builder's turn: one order or two. Moves the site on."""
    order, s.structure = next_order(s)
    lines, actions, frames, s.figure = _talk(s, order, first), order.actions, order.frame, order.figure
    if len(s.structure) and s.rng.random() < 0.3:
        second, after = next_order(s)
        if second.frame not in _ALONE and order.frame not in _ALONE:
            lines += second.lines
            actions, frames = actions + second.actions, f"{frames}+{second.frame}"
            s.structure, s.figure = after, second.figure
    return lines, actions, frames


def games(rng: Random) -> Iterator[MinecraftItem]:
    """The builder's turns of endless synthetic games of one to five turns, in order."""
    game = 0
    while True:
        site = Site(rng, Voice(rng), _pose(rng, (0, 1, 0), Structure(), yaw := _yaw(rng)))
        name, history = f"minecraft-random/{game}", list[Turn]()
        for number in range(1, 1 + rng.randint(1, 5)):
            before = site.structure
            if before:
                yaw = _yaw(rng) if rng.random() < 0.2 else math.fmod(yaw + rng.uniform(-8.0, 8.0), 360.0)
                focus = site.figure[-1] if site.figure else before.blocks()[0][:3]
                site.pose = _pose(rng, focus, before, yaw)
            lines, actions, frame = _turn(site, first=number == 1)
            history += lines
            yield MinecraftItem(
                id=f"{name}/{number}",
                split="train",
                history=tuple(history),
                before=before,
                pose=site.pose,
                actions=actions,
                after=site.structure,
                group=name,
                cluster=name,
                meta={"frame": frame},
            )
            history.append(Executed(actions, site.pose))
            if not len(site.structure):
                break
        game += 1
