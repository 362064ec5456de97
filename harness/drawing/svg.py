"""Shared by both worlds' pictures: the SVG frame, and labels drawn as strokes.

Labels are paths, not text, so a picture looks the same without any font installed.
"""

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
    "X": "l3 5m0-5l-3 5",
    "Z": "h3l-3 5h3",
}
_ADVANCE = 4.4

CHECK, CROSS, DIAMOND = "m-2.5 0l2 2.5 3-5", "m-2-2.5l4 5m0-5l-4 5", "m-4.5 0l4.5-4.5 4.5 4.5-4.5 4.5z"
"""The signs of a difference, centered on the point where they are drawn: right, wrong, missing."""
_ROUND = 'stroke-linecap="round" stroke-linejoin="round"'


def number(value: float) -> str:
    """A coordinate with at most two decimals and no trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-0.", "-.") or "0"


def label(text: str, x: float, y: float) -> str:
    """Path commands that write a number or the name of an axis 5 units high, centered on (x, y)."""
    left = x - (len(text) * _ADVANCE - 1.4) / 2
    glyphs = ((left + i * _ADVANCE, _GLYPHS[character]) for i, character in enumerate(text.upper()))
    return "".join(f"M{number(start)} {number(y - 2.5)}{glyph}" for start, glyph in glyphs)


def strokes(commands: str, width: float = 0.7, color: str = INK) -> str:
    """Labels and other open lines as one path element."""
    return f'<path d="{commands}" fill="none" stroke="{color}" stroke-width="{number(width)}" {_ROUND}/>'


def document(body: str, box: tuple[float, float, float, float]) -> str:
    """A complete SVG that shows `box` (left, top, width, height) of `body`, with two pixels per unit."""
    size = f'width="{number(2 * box[2])}" height="{number(2 * box[3])}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="{" ".join(map(number, box))}">{body}</svg>'


def png_bytes(svg: str, *, scale: float = 1.0) -> bytes:
    """The picture as a PNG file, `scale` times its size in pixels. No fonts are searched: our pictures have no text."""
    from resvg_py import svg_to_bytes

    return svg_to_bytes(svg, zoom=scale, background="#ffffff", skip_system_fonts=True)
