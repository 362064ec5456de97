"""Simulated HEXAGONS drawing procedures: programs over figures, run on the board and put into words.

A procedure has a voice, a palette and a style. Each step is one order, sometimes two, at a level of abstraction from 0 (every
tile named) to 3 (repetition, reflection, conditions). Its gold actions are the changes that its program makes to the board.
The numbers of steps, colors and actions follow the train split of the release.
"""

from __future__ import annotations

from random import Random

from harness.corpora.item import Executed, HexagonsItem, Turn, Utterance
from harness.simulators import attempt, weighted
from harness.simulators.hexagons import program as op
from harness.simulators.hexagons.program import Painting
from harness.simulators.hexagons.shapes import carry
from harness.simulators.hexagons.sketch import Sketch, Stroke
from harness.simulators.hexagons.styles import STYLES, Style, picture, planned
from harness.simulators.hexagons.voice import SpeakerVoice, tail
from harness.worlds.hexagons import COLUMNS, Board
from serialization.program.written import write

# How many of the 496 train procedures have each number of steps and of colors; rare numbers of steps are merged.
_STEPS = {
    1: 7, 2: 40, 3: 62, 4: 72, 5: 63, 6: 53, 7: 51, 8: 43, 9: 21, 10: 19, 11: 13, 12: 14, 13: 5, 14: 8, 16: 8, 18: 8, 20: 4,
    22: 2, 25: 2, 34: 1, 37: 2,
}  # fmt: skip
_COLORS = {1: 85, 2: 145, 3: 98, 4: 94, 5: 17, 6: 47, 7: 10}
_REMARKS = 0.025
_CHOICES = 0.3
"""The share of remarks that choose a color, which the next step then does not name."""
_PICTURES = 0.12
_JOINED = 0.17
_SHORT = 16
"""A second order may follow in the same step if the first has at most this many words."""


def procedures(rng: Random, number: int, split: str) -> list[HexagonsItem]:
    """The steps of one drawing procedure, in order; the same state of `rng` gives the same items in every process.

    Ids are `hexagons-synthetic/<split>/<number>/<step>`; group and cluster are the procedure. `meta` has "step" and "steps",
    "level" (0..3, the higher level of two orders), "kind" (the kinds of two orders are joined by "+") and "program", from
    which `harness program` reproduces exactly the item's actions.
    """
    steps = weighted(rng, _STEPS)
    style = rng.choices(STYLES, [style.share * (style.longest >= steps) for style in STYLES])[0]
    d = Sketch(rng, SpeakerVoice(rng))
    for _ in range(weighted(rng, _COLORS)):
        d.add_color()
    plan = picture(d, min(steps, COLUMNS - 1)) if rng.random() < _PICTURES else []
    boards, made = [Board()], list[tuple[str, list[Stroke]]]()
    for step in range(1, steps + 1):
        d.begin(step)
        silent = d.chosen is None and rng.random() < _REMARKS
        if silent and d.step < steps and rng.random() < _CHOICES:
            d.chosen = d.color()
        strokes = [] if silent else _orders(d, style, plan)
        if not strokes and not silent:
            break  # the board is full
        made.append((instruction(d, strokes, last=d.step == steps), strokes))
        boards.append(d.shown_board())
    name, history, items = f"hexagons-synthetic/{split}/{number}", tuple[Turn, ...](), list[HexagonsItem]()
    for k, (text, strokes) in enumerate(made):
        actions = boards[k].diff(boards[k + 1])
        meta = {
            "step": k + 1,
            "steps": len(made),
            "level": max((stroke.level for stroke in strokes), default=0),
            "kind": "+".join(stroke.kind for stroke in strokes) or "remark",
            "program": write(op.together(*(stroke.program for stroke in strokes))),
        }
        items.append(HexagonsItem(f"{name}/{k + 1}", split, text, history, boards[k], actions, boards[k + 1], name, name, meta))
        history = (*history, Utterance("Instructor", text), Executed(actions))
    return items


def _orders(d: Sketch, style: Style, plan: list[Painting]) -> list[Stroke]:
    """Paints the one or two strokes of a step and returns them; none if nothing more can be drawn."""
    if d.chosen:
        first = next((stroke for _ in range(50) if (stroke := attempt(carry, d))), None)
    else:
        first = attempt(planned(plan), d) or style.order(d)
    d.chosen = None
    if first is None:
        return []
    d.paint(first)
    if d.rng.random() >= _JOINED or first.repaints or len(first.text.split()) > _SHORT:
        return [first]
    second = style.order(d)
    if second is None or second.repaints:
        return [first]
    d.paint(second)
    return [first, second]


# --- the text of a step ---

_LEADS = ("then", "now", "also", "next")
"""First words that already mark an order as a continuation."""


def instruction(d: Sketch, strokes: list[Stroke], last: bool) -> str:
    """The text of a step; a remark if there is nothing to paint."""
    say, rng = d.voice.say, d.rng
    if not strokes and d.chosen:
        return d.voice.finish(say("choose color", color=d.chosen))
    if not strokes:
        where = d.voice.column(rng.randrange(COLUMNS))
        return d.voice.finish(say("last remark" if last and d.step > 1 else "remark", where=where))
    text, *second = (_with_tail(d, stroke, alone=len(strokes) == 1) for stroke in strokes)
    text = _joined(d, text, *second) if second else text
    if rng.random() < 0.12 * d.voice.wordy + 0.02 and text.split()[0] not in _LEADS:
        section = "first lead" if d.step == 1 else "last lead" if last else "lead"
        text = f"{say(section)} {text}"
    return d.voice.finish(text)


def _joined(d: Sketch, a: str, b: str) -> str:
    """Two orders as one text. If either has several sentences, the second begins a new sentence."""
    for _ in range(20):
        text = d.voice.say("join", a=a, b=b)
        between = text[len(a) : len(text) - len(b)]
        if between == ". " or (b.split()[0] not in _LEADS and (between.startswith(".") or ". " not in a + b)):
            return text
    return f"{a}. {b}"


def _with_tail(d: Sketch, stroke: Stroke, alone: bool) -> str:
    """The text of an order, sometimes with its number of tiles or a remark such as that nothing else changes."""
    voice, rng, n = d.voice, d.rng, len(stroke.painting)
    if rng.random() >= 0.3 * voice.wordy:
        return stroke.text
    kind = rng.random()
    if kind < 0.6 and stroke.color and set(stroke.painting.values()) == {stroke.color} and n > 2:
        return stroke.text + tail(voice.say("count tail", n=voice.number(n) if n < 19 else str(n), color=stroke.color))
    if kind >= 0.6 and alone:
        return stroke.text + tail(voice.say("rest tail" if kind < 0.72 else "chat tail"))
    return stroke.text
