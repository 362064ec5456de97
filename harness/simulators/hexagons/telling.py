"""A whole instruction from the orders of a step: what comes before, between and after them."""

from __future__ import annotations

from harness.simulators.hexagons.sketch import Sketch, Stroke
from harness.simulators.hexagons.voice import tail
from harness.worlds.hexagons import COLUMNS

_LEADS = ("then", "now", "also", "next")
"""Words that say by themselves that an order follows another one."""


def instruction(d: Sketch, strokes: list[Stroke], last: bool) -> str:
    """The text of a step; a remark if there is nothing to paint."""
    say, rng = d.voice.say, d.rng
    if not strokes and d.chosen:
        return d.voice.finish(say("choose color", color=d.chosen))
    if not strokes:
        where = d.voice.column(rng.randrange(COLUMNS))
        return d.voice.finish(say("last remark" if last and d.step > 1 else "remark", where=where))
    texts = [_with_tail(d, stroke, alone=len(strokes) == 1) for stroke in strokes]
    text = texts[0] if len(texts) == 1 else _joined(d, *texts)
    if rng.random() < 0.12 * d.voice.wordy + 0.02 and text.split()[0] not in _LEADS:
        section = "first lead" if d.step == 1 else "last lead" if last else "lead"
        text = f"{say(section)} {text}"
    return d.voice.finish(text)


def _joined(d: Sketch, a: str, b: str) -> str:
    """Two orders as one text. Only sentences follow what is more than one sentence."""
    for _ in range(20):
        text = d.voice.say("join", a=a, b=b)
        between = text[len(a) : len(text) - len(b)]
        if between == ". " or (b.split()[0] not in _LEADS and (between.startswith(".") or ". " not in a + b)):
            return text
    return f"{a}. {b}"


def _with_tail(d: Sketch, stroke: Stroke, alone: bool) -> str:
    """The order, and sometimes how many tiles it paints or that nothing else changes."""
    voice, rng, n = d.voice, d.rng, len(stroke.painting)
    if rng.random() >= 0.3 * voice.wordy:
        return stroke.text
    kind = rng.random()
    if kind < 0.6 and stroke.color and set(stroke.painting.values()) == {stroke.color} and n > 2:
        return stroke.text + tail(voice.say("count tail", n=voice.number(n) if n < 19 else str(n), color=stroke.color))
    if kind >= 0.6 and alone:
        return stroke.text + tail(voice.say("rest tail" if kind < 0.72 else "chat tail"))
    return stroke.text
