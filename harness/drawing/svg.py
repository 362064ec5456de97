"""Shared by both worlds' pictures: the SVG frame, labels drawn as strokes, pictures side by side.

Labels are paths, not text, so a picture looks the same without any font installed. The letters are a 3 x 5 stroke alphabet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

INK = "#667"
"""The color of labels and axes: readable on a white page and on a dark one."""

# Relative path commands that start at the upper left corner of a box 3 units wide and 5 high.
_GLYPHS = {
    "0": "m1 0h1l1 1v3l-1 1h-1l-1-1v-3z",
    "1": "m.5 1l1-1v5",
    "2": "m0 1l1-1h1l1 1v1l-3 3h3",
    "3": "m0 .7l1-.7h1l1 1v.5l-1 1h-1m1 0l1 1v.5l-1 1h-1l-1-.7",
    "4": "m2 5v-5l-2 3.5h3",
    "5": "m3 0h-3v2h2l1 1v1l-1 1h-2",
    "6": "m2.5 0h-1.5l-1 1v3l1 1h1l1-1v-1l-1-1h-2",
    "7": "h3l-2 5",
    "8": "m1 0h1l1 .8v.8l-1 .8h-1l-1-.8v-.8zm0 2.4l-1 .8v1l1 .8h1l1-.8v-1l-1-.8",
    "9": "m.5 5h1.5l1-1v-3l-1-1h-1l-1 1v1l1 1h2",
    "-": "m.5 2.5h2",
    "A": "m0 5v-3.5l1.5-1.5 1.5 1.5v3.5m-3-2h3",
    "B": "v5h2l1-1v-.7l-.8-.8.8-.8v-.7l-1-1zm0 2.5h2",
    "C": "m3 1l-1-1h-1l-1 1v3l1 1h1l1-1",
    "D": "v5h2l1-1v-3l-1-1z",
    "E": "m3 0h-3v5h3m-3-2.5h2.5",
    "F": "m3 0h-3v5m0-2.5h2.5",
    "G": "m3 1l-1-1h-1l-1 1v3l1 1h1l1-1v-1.5h-1.2",
    "H": "v5m3-5v5m-3-2.5h3",
    "I": "m1.5 0v5",
    "J": "m3 0v4l-1 1h-1l-1-1",
    "K": "v5m3-5l-3 3m1-1l2 3",
    "L": "v5h3",
    "M": "m0 5v-5l1.5 2.5 1.5-2.5v5",
    "N": "m0 5v-5l3 5v-5",
    "O": "m1 0h1l1 1v3l-1 1h-1l-1-1v-3z",
    "P": "m0 5v-5h2l1 1v.8l-1 1h-2",
    "Q": "m1 0h1l1 1v3l-1 1h-1l-1-1v-3zm1 4l1 1",
    "R": "m0 5v-5h2l1 1v.8l-1 1h-2m1.5 0l1.5 2.2",
    "S": "m3 .8l-1-.8h-1l-1 .8v.8l1 .8h1l1 .8v1l-1 .8h-1l-1-.8",
    "T": "h3m-1.5 0v5",
    "U": "v4l1 1h1l1-1v-4",
    "V": "l1.5 5 1.5-5",
    "W": "l.7 5 .8-3 .8 3 .7-5",
    "X": "l3 5m0-5l-3 5",
    "Y": "l1.5 2.5 1.5-2.5m-1.5 2.5v2.5",
    "Z": "h3l-3 5h3",
}
_ADVANCE = 4.4

CHECK, CROSS, DIAMOND = "m-2.5 0l2 2.5 3-5", "m-2-2.5l4 5m0-5l-4 5", "m-4.5 0l4.5-4.5 4.5 4.5-4.5 4.5z"
"""The signs of a difference, centered on the point where they are drawn: right, wrong, missing."""
_ROUND = 'stroke-linecap="round" stroke-linejoin="round"'


def number(value: float) -> str:
    """A coordinate with at most two decimals and no trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-0.", "-.") or "0"


def label_width(text: str) -> float:
    return len(text) * _ADVANCE - 1.4


def label(text: str, x: float, y: float) -> str:
    """Path commands that write `text` (any case, spaces allowed) 5 units high, centered on (x, y)."""
    left = x - label_width(text) / 2
    return "".join(
        f"M{number(left + i * _ADVANCE)} {number(y - 2.5)}{_GLYPHS[character]}"
        for i, character in enumerate(text.upper())
        if character != " "
    )


def strokes(commands: str, width: float = 0.7, color: str = INK) -> str:
    """Labels and other open lines as one path element."""
    return f'<path d="{commands}" fill="none" stroke="{color}" stroke-width="{number(width)}" {_ROUND}/>'


def document(body: str, box: tuple[float, float, float, float], scale: float = 2.0) -> str:
    """A complete SVG that shows `box` (left, top, width, height) of `body`, with `scale` pixels per unit."""
    size = f'width="{number(box[2] * scale)}" height="{number(box[3] * scale)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="{" ".join(map(number, box))}">{body}</svg>'


def size(svg: str) -> tuple[float, float]:
    """Width and height in pixels of a picture made by `document`."""
    width, height = re.findall(r'(?:width|height)="([\d.]+)"', svg)[:2]
    return float(width), float(height)


def side_by_side(pictures: Sequence[tuple[str, str]]) -> str:
    """Pictures, given as (title, SVG), in a row with level lower edges; below them, the legend of a difference's signs."""
    gap, head = 16.0, 28.0
    bottom = head + max(size(svg)[1] for _, svg in pictures)
    parts, lines, left = [], "", gap
    for title, svg in pictures:
        width, height = size(svg)
        parts.append(svg.replace("<svg ", f'<svg x="{number(left)}" y="{number(bottom - height)}" ', 1))
        lines += label(title, (left + width / 2) / 2, 7)
        left += width + gap
    lines += _legend(left / 4, bottom / 2 + 10)
    parts.append(f'<g transform="scale(2)">{strokes(lines)}</g>')
    return document("".join(parts), (0, 0, left, bottom + 22 + gap), 1)


def _legend(x: float, y: float) -> str:
    entries = ((CHECK, "right"), (CROSS, "wrong"), (DIAMOND, "missing"))
    x -= sum(8 + label_width(word) for _, word in entries) / 2 + 16
    lines = ""
    for sign, word in entries:
        width = label_width(word)
        lines += f"M{number(x)} {number(y)}{sign}{label(word, x + 8 + width / 2, y)}"
        x += width + 24
    return lines


def png_bytes(svg: str, *, scale: float = 1.0) -> bytes:
    """The picture as a PNG file, `scale` times its size in pixels. No fonts are searched: our pictures have no text."""
    from resvg_py import svg_to_bytes

    return svg_to_bytes(svg, zoom=scale, background="#ffffff", skip_system_fonts=True)
