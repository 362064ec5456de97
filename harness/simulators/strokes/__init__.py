"""Simulated drawing procedures of simple instructions, which say where every tile is, with the boards that carry them out."""

from __future__ import annotations

from random import Random

from harness.corpora.item import Executed, HexagonsItem, Turn, Utterance
from harness.simulators.strokes.drawing import Drawing
from harness.simulators.strokes.orders import next_stroke
from harness.simulators.strokes.words import Voice
from harness.worlds.hexagons import Paint

_STEPS = (2, 3, 4, 5, 5)


def _step(d: Drawing, number: int) -> tuple[str, str]:
    """One instruction and its frames. Moves the drawing on; one step in seven joins two, the second of which may refer back."""
    strokes = []
    for _ in range(2 if d.rng.random() < 0.15 else 1):
        stroke = next_stroke(d)
        strokes.append(stroke)
        d.board = d.board.apply(Paint(*tile, color) for tile, color in stroke.paint.items()).board
        if stroke.paint:
            d.last, d.last_step = stroke, "that"
    if len(strokes) == 1 and strokes[0].paint:
        d.last_step = f"step {number}"
    texts = [stroke.text if stroke.text.endswith(".") or stroke is strokes[-1] else f"{stroke.text}." for stroke in strokes]
    return " ".join(texts), "+".join(stroke.frame for stroke in strokes)


def procedure(rng: Random, number: int, split: str = "train") -> list[HexagonsItem]:
    """The two to five steps of one synthetic drawing procedure, in order. Ids are `hexagons-strokes/<split>/<number>/<step>`."""
    drawing = Drawing(rng, Voice(rng))
    name, history, items = f"hexagons-strokes/{split}/{number}", tuple[Turn, ...](), list[HexagonsItem]()
    for step in range(1, 1 + rng.choice(_STEPS)):
        before = drawing.board
        text, frame = _step(drawing, step)
        actions = before.diff(drawing.board)
        meta = {"frame": frame}
        items.append(HexagonsItem(f"{name}/{step}", split, text, history, before, actions, drawing.board, name, name, meta))
        history = (*history, Utterance("Instructor", text), Executed(actions))
    return items
