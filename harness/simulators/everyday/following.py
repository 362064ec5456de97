"""Requests that fit both worlds at any time: undoing, other colors, removing, corrections, and requests without actions."""

from __future__ import annotations

from harness.simulators import impossible_if, needed
from harness.simulators.everyday.talk import Maker, NamedObject, Request, Talk

_SHADES = ("pink", "brown", "gray", "grey", "gold", "silver", "turquoise", "beige", "transparent")


def undo(t: Talk) -> Request:
    impossible_if(not t.steps or not t.steps[-1])
    section = "redo" if t.orders[-1].back else "undo"
    return Request("undo", t.say(section), _undoing(t), back=1, bare=True)


def undo_two(t: Talk) -> Request:
    impossible_if(len(t.steps) < 2 or not t.steps[-1] or not t.steps[-2] or t.orders[-1].back or t.orders[-2].back)
    return Request("undo", t.say("undo two"), t.restoring(t.past[-2][0]), back=2, bare=True)


def _undoing(t: Talk) -> str:
    return "remove step(-1)" if _was_empty(t) else t.restoring(t.past[-1][0])


def _was_empty(t: Talk) -> bool:
    """Whether the last turn changed empty cells only."""
    return all(t.cell_of(action) not in t.filled_before for action in t.steps[-1])


def other_color(t: Talk) -> Request:
    thing = _just_made(t)
    impossible_if(len(thing.colors) != 1 or not _was_empty(t))
    color, other = t.color(), thing.colors[0]
    text = t.say("meant color", color=color, other=other, it=t.some("it", f"the {thing.noun}"))
    return Request("correction", text, t.recolored("step(-1)", color), subject=thing, bare=True)


def variant(t: Talk) -> Request:
    thing = _just_made(t)
    impossible_if(not t.orders[-1].variants)
    what = t.rng.choice(t.orders[-1].variants)
    slots = {"it": t.some("it", f"the {thing.noun}"), "noun": thing.noun} | dict(what.slots)
    if what.section.startswith("="):
        return Request(what.kind, t.say(what.section[1:], **slots), what.program, subject=thing, bare=True)
    return Request(what.kind, t.say(what.section, **slots), f"{_undoing(t)}; {what.program}", subject=thing, bare=True)


def _just_made(t: Talk) -> NamedObject:
    """The thing that the last turn made, if it is still complete. Raises Impossible otherwise."""
    thing = needed(t.last)
    impossible_if(not t.orders or not (t.orders[-1].noun or t.orders[-1].variants) or t.orders[-1].back)
    impossible_if(thing.cells != {t.cell_of(action) for action in t.steps[-1]})
    return thing


def recolor(t: Talk) -> Request:
    thing = t.pick_plain()
    color = t.color()
    return Request("recolor", t.say("recolor", it=t.ref(thing), color=color), t.recolored(t.where(thing), color), subject=thing)


def recolor_part(t: Talk) -> Request:
    thing = t.pick()
    impossible_if(len(thing.colors) != 2)
    color, other = t.color(), t.rng.choice(thing.colors)
    text = t.say("recolor part", it=f"the {thing.noun}", color=color, other=other)
    return Request("recolor", text, t.recolored(f"is({other})", color), subject=thing)


def recolor_all(t: Talk) -> Request:
    impossible_if(not t.colors)
    other = t.rng.choice(sorted(set(t.colors.values())))
    color = t.color(other)
    return Request("recolor", t.say("recolor all", color=color, other=other), t.recolored(f"is({other})", color))


def swap_colors(t: Talk) -> Request:
    shades = sorted(set(t.colors.values()))
    impossible_if(len(shades) < 2)
    color, other = t.rng.sample(shades, 2)
    text = t.say("swap colors", color=color, other=other)
    return Request("recolor", text, f"a=is({color}); b=is({other}); {t.recolored('a', other)}; {t.recolored('b', color)}")


def remove(t: Talk) -> Request:
    thing = t.pick()
    return Request("remove", t.say("remove", it=t.ref(thing)), f"remove {t.where(thing)}", subject=thing)


def remove_color(t: Talk) -> Request:
    impossible_if(not t.colors)
    other = t.rng.choice(sorted(set(t.colors.values())))
    return Request("remove", t.say("remove color", other=other), f"remove is({other})")


def remove_but(t: Talk) -> Request:
    thing = t.pick()
    impossible_if(len(thing.cells) == len(t.colors))
    return Request("remove", t.say("remove but", it=t.named(thing)), f"remove {t.standing} - is({','.join(thing.colors)})")


def clear(t: Talk) -> Request:
    impossible_if(not t.colors)
    return Request("whole", t.say("clear"), "remove all")


# --- no actions ---


def thanks(t: Talk) -> Request:
    impossible_if(not (t.steps and t.orders[-1].program))
    return Request("cannot", t.say("thanks"), bare=True)


def hello(t: Talk) -> Request:
    impossible_if(t.orders)
    return Request("cannot", t.say("hello"), bare=True)


def question(t: Talk) -> Request:
    thing = t.pick()
    slots = {"it": t.ref(thing), "other": thing.colors[0], "color": t.some(thing.colors[0], t.color())}
    return Request("cannot", t.say("question", **slots), bare=True)


def wait(t: Talk) -> Request:
    impossible_if(not (t.orders or t.rng.random() < 0.2))
    return Request("cannot", t.say("wait"), bare=True)


def no_such_color(t: Talk) -> Request:
    thing, shade = t.find(), t.rng.choice((*_SHADES, *t.lacking))
    if thing is None:
        noun = t.some(*t.common)
        return Request("cannot", t.say("no such color new", shade=shade, noun=noun))
    return Request("cannot", t.say("no such color", it=t.ref(thing), shade=shade))


def cannot_make(t: Talk) -> Request:
    return Request("cannot", t.say("cannot make", color=t.color()))


def already(t: Talk) -> Request:
    thing = t.pick_plain()
    return Request("cannot", t.say("already", it=t.ref(thing), color=thing.colors[0]))


def no_such_thing(t: Talk) -> Request:
    color = t.color()
    impossible_if(not t.colors or color in t.colors.values())
    noun = t.some(*(thing.noun for thing in t.things), *t.common)
    return Request("cannot", t.say("no such thing", color=color, other=t.color(color), noun=noun))


ANYTIME: dict[Maker, int] = {
    undo: 14, undo_two: 4, other_color: 14, variant: 70, recolor: 12, recolor_part: 8, recolor_all: 5, swap_colors: 4, remove: 10,
    remove_color: 4, remove_but: 5, clear: 4, thanks: 7, question: 4, wait: 2, no_such_color: 3, already: 3, no_such_thing: 3,
}  # fmt: skip
AT_FIRST: dict[Maker, int] = {hello: 3, no_such_color: 1, wait: 1}
