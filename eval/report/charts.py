"""Charts as SVG, drawn with matplotlib; and the small marks in the tables of the report, in a line of SVG each.

A chart's text is text, its background is transparent, and its colors are readable on white and on black; the report's
style sheet replaces them. No element has an inline style, which the page's content security policy would block.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import median_low
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

INK, ACCENT = "#666677", "#1e90ff"
"""Colors of axes and text, and of the data; the style sheet names both."""

_STARTS = (0, 1, 2, 3, 4, 5, 7, 10, 15, 25, 50)
"""The first number of each bin of a length grid; the last bin has no end."""
_SETTINGS = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
}
_NAMESPACE = "{http://www.w3.org/2000/svg}"


def chart(label: str, size: tuple[float, float], draw: Callable[[Any], None]) -> str:
    """What `draw` puts on matplotlib axes, as an SVG of that width and height in inches. Equal drawings are equal bytes."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    drawn = io.BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    # Ids are hashes of shapes: salted, so that they differ from those of another chart on the same page.
    with rc_context({**_SETTINGS, "svg.hashsalt": label}):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        figure.savefig(drawn, format="svg", transparent=True, metadata=nothing)
    return _plain(drawn.getvalue(), label)


def _plain(drawn: bytes, label: str) -> str:
    """The drawing without a style sheet, with attributes for styles, in the page's font, and with a title."""
    root = ElementTree.fromstring(drawn)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_NAMESPACE)
        if element.tag == "g":
            element.attrib.pop("id", None)
        if link := element.attrib.pop("{http://www.w3.org/1999/xlink}href", None):
            element.set("href", link)
        for declaration in filter(None, element.attrib.pop("style", "").split("; ")):
            name, _, value = declaration.partition(": ")
            if name != "font-family":
                element.set(name, value.removesuffix("px"))
    root.remove(root[0])  # A style sheet of one rule, about the joints of lines.
    title = ElementTree.Element("title")
    title.text = label
    root.insert(0, title)
    root.attrib |= {"xmlns": _NAMESPACE[1:-1], "class": "chart", "role": "img", "font-family": "sans-serif"}
    return ElementTree.tostring(root, encoding="unicode")


def printable(name: str) -> str:
    """A name with a hyphen for each character that a chart's font lacks or that breaks a line."""
    return re.sub(r"[^ -~]", "-", name)


def length_grid(pairs: Iterable[tuple[int, int]]) -> Markup:
    """A heat map of changes made against changes wanted: `pairs` of (wanted, made), wanted to the right, made upwards.

    A cell's color is the stronger, the larger its share of its column; the bin with a column's median is outlined.
    """
    binned = [(_bin(wanted), _bin(predicted)) for wanted, predicted in pairs]
    counts, columns = Counter(binned), Counter(wanted for wanted, _ in binned)
    medians = {column: median_low(predicted for wanted, predicted in binned if wanted == column) for column in columns}
    names, last = [_bin_name(number) for number in range(len(_STARTS))], len(_STARTS) - 0.5

    def draw(axes: Any) -> None:
        from matplotlib.patches import Rectangle

        axes.plot((-0.5, last), (-0.5, last), color=INK, alpha=0.25, linewidth=0.8, zorder=0, clip_on=False)
        for (wanted, predicted), count in sorted(counts.items()):
            strength = 0.05 + 0.5 * count / columns[wanted]
            axes.add_patch(Rectangle((wanted - 0.5, predicted - 0.5), 1, 1, facecolor=ACCENT, alpha=strength, clip_on=False))
            axes.text(wanted, predicted, str(count), ha="center", va="center", fontsize=8)
        for wanted, predicted in sorted(medians.items()):
            axes.add_patch(Rectangle((wanted - 0.46, predicted - 0.46), 0.92, 0.92, fill=False, edgecolor=INK, clip_on=False))
        axes.set_xticks(range(len(names)), names)
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(length=0, labelsize=7.5)
        axes.set(xlim=(-0.5, last), ylim=(-0.5, last), aspect="equal", xlabel="changes in gold", ylabel="changes made")

    return Markup(chart("Changes made against changes wanted: items by cell", (5, 4.8), draw))


def _bin(count: int) -> int:
    return bisect_right(_STARTS, count) - 1


def _bin_name(number: int) -> str:
    start, end = _STARTS[number], [*_STARTS[1:], 0][number] - 1
    return f"{start}+" if end < 0 else str(start) if start == end else f"{start}–{end}"


def interval_strip(value: float, interval: Sequence[float] | None, limit: float) -> Markup:
    """A value and its interval as a tick on a line; the strip goes from 0 to `limit`, in the value's unit."""

    def x(number: float) -> float:
        return round(2 + 116 * number / (limit or 1), 1)

    line = f'<path class="whisker" d="M{x(interval[0])} 6H{x(interval[1])}"/>' if interval else ""
    body = f'<path class="rule" d="M2 6H118"/>{line}<path class="tick" d="M{x(value)} 1v10"/>'
    return Markup(f'<svg class="strip" viewBox="0 0 120 12" aria-hidden="true">{body}</svg>')


def bar(share: float) -> Markup:
    """A share, 0..1, as a bar."""
    body = f'<rect class="heat" width="{round(100 * share, 1)}" height="8"/>'
    return Markup(f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{body}</svg>')
