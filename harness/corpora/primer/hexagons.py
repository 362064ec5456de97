"""Synthetic drawing procedures for pretraining on HEXAGONS: simple instructions with the boards that carry them out."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from harness.corpora.item import Executed, HexagonsItem, Turn, Utterance
from harness.corpora.primer.hexagons_strokes import Drawing, next_stroke
from harness.corpora.primer.hexagons_words import Voice
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


def procedures(rng: Random) -> Iterator[HexagonsItem]:
    """The steps of endless synthetic drawing procedures of two to five steps, in order."""
    procedure = 0
    while True:
        drawing = Drawing(rng, Voice(rng))
        name, history = f"hexagons-synthetic/{procedure}", list[Turn]()
        for number in range(1, 1 + rng.choice(_STEPS)):
            before = drawing.board
            text, frame = _step(drawing, number)
            actions = before.diff(drawing.board)
            yield HexagonsItem(
                id=f"hexagons-synthetic/train/{procedure}/{number}",
                split="train",
                instruction=text,
                history=tuple(history),
                before=before,
                actions=actions,
                after=drawing.board,
                group=name,
                cluster=name,
                meta={"frame": frame},
            )
            history += [Utterance("Instructor", text), Executed(actions)]
        procedure += 1
