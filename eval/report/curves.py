"""Curves of scores as a table and as a picture: against how many items models were trained on, or against how many a run is
sure of.

"Draw Me a Flower" shows learning curves in Figures 6 and 7; their exact values are not known here.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import NamedTuple

from eval.export import Number, Scores, headline, named
from harness.drawing.svg import document, label, label_width, number, strokes
from harness.errors import UsageError

_COLORS = ("#1e90ff", "#ff8c00", "#2e9e4f", "#c2338f", "#8a6d3b", "#667788")
_LEFT, _TOP, _WIDTH, _HEIGHT = 24.0, 18.0, 200.0, 110.0
"""Of the area with the curves, in units of which a picture has two pixels each."""
_ROW, _LEGEND = 9.0, 18
"""Of the legend, two names to a row: a row's height, and the characters that there is room for."""


class Point(NamedTuple):
    """A run, or a part of one: its name, a number of items, and the two leading numbers of its task."""

    name: str
    items: int
    numbers: tuple[Number, Number]


class Curve(NamedTuple):
    """At least one point, by rising size, what they were scored on, and what the sizes and the names of its points are."""

    points: list[Point]
    scored: str
    across: str = "train items"
    each: str = "run"


def curve(results: Mapping[str, Scores], sizes: Mapping[str, int]) -> Curve:
    """The curve of some runs; both arguments are by the runs' names.

    Raises UsageError for runs that were not scored on the same items of the same benchmark.
    """
    scored = {name: f"{named(scores)}, {scores['items']:,} items" for name, scores in results.items()}
    first = next(iter(scored))
    for name, what in scored.items():
        if what != scored[first]:
            raise UsageError(f"one curve needs runs over the same items: {first} is over {scored[first]}, {name} over {what}")
    points = []
    for name, scores in results.items():
        leading, second, *_ = headline(scores)
        points.append(Point(name, sizes[name], (leading, second)))
    return Curve(sorted(points, key=lambda point: point.items), scored[first])


def as_markdown(drawn: Curve) -> str:
    """The curve as a table, a row for each run; percent with 95% intervals."""
    labels = [score.label for score in drawn.points[0].numbers]
    rows = [[f"{point.items:,}", point.name.replace("|", "\\|"), *map(str, point.numbers)] for point in drawn.points]
    lines = [[drawn.across, drawn.each, *labels], ["---:", "---", "---:", "---:"], *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{drawn.scored}. Percent, with 95% intervals.\n"


def as_svg(drawn: Curve) -> str:
    """The curve as a picture: items to the right, percent upwards, both from 0, with the intervals as bars."""
    labels = [score.label for score in drawn.points[0].numbers]
    series = {name: [(point.items, point.numbers[place]) for point in drawn.points] for place, name in enumerate(labels)}
    return picture(drawn.scored, series, drawn.across)


def picture(title: str, series: Mapping[str, Sequence[tuple[int, Number]]], across: str) -> str:
    """Some curves in one picture, by name: numbers of items to the right, named by `across`, and scores with intervals."""
    right = ticks(max(items for points in series.values() for items, _ in points))
    up = ticks(max(end for points in series.values() for _, score in points for end in score.percent()))
    lift = _ROW * ((len(series) - 1) // 2)
    parts = [f"<title>{html.escape(title)}</title>", _axes(right, up, across)]
    for place, (name, points) in enumerate(series.items()):
        color = _COLORS[place % len(_COLORS)]
        parts.append(_series(points, right[-1], up[-1], color))
        left, top = _LEFT + 20 + place % 2 * _WIDTH / 2, 8 - lift + _ROW * (place // 2)
        said = re.sub(r"[^A-Za-z0-9 -]", "-", name)[:_LEGEND]
        line = strokes(f"M{number(left)} {number(top)}h10", 1.5, color)
        parts.append(line + strokes(label(said, left + 14 + label_width(said) / 2, top)))
    return document("".join(parts), (0, -lift, _LEFT + _WIDTH + 16, _TOP + _HEIGHT + 24 + lift), 2)


def ticks(most: float) -> list[int]:
    """Round numbers from 0 to the first that is not below `most`: two to nine of them."""
    steps = (part * 10**power for power in count() for part in (1, 2, 5))
    step = next(step for step in steps if most / step <= 8)
    return list(range(0, step * max(1, math.ceil(most / step)) + 1, step))


def _axes(across: list[int], up: list[int], name: str) -> str:
    bottom, right = _TOP + _HEIGHT, _LEFT + _WIDTH
    lines = f"M{number(_LEFT)} {number(_TOP)}V{number(bottom)}H{number(right)}" + label("percent", _LEFT - 4, 8)
    for tick in across:
        x = _LEFT + _WIDTH * tick / across[-1]
        lines += f"M{number(x)} {number(bottom)}v2" + label(str(tick), x, bottom + 7)
    for tick in up:
        y = bottom - _HEIGHT * tick / up[-1]
        lines += f"M{number(_LEFT)} {number(y)}h-2" + label(str(tick), _LEFT - 4 - label_width(str(tick)) / 2, y)
    return strokes(lines + label(name, (_LEFT + right) / 2, bottom + 18))


def _series(points: Sequence[tuple[int, Number]], width: int, height: int, color: str) -> str:
    places, bars, dots = [], "", ""
    for items, score in points:
        value, *ends = score.percent()
        x, y = number(_LEFT + _WIDTH * items / width), number(_TOP + _HEIGHT * (1 - value / height))
        places.append(f"{x} {y}")
        dots += f'<circle cx="{x}" cy="{y}" r="1.6" fill="{color}"/>'
        if ends:
            low, high = (number(_TOP + _HEIGHT * (1 - end / height)) for end in ends)
            bars += f"M{x} {low}h-1.5h3h-1.5V{high}h-1.5h3"
    return strokes(f"M{'L'.join(places)}", 1.2, color) + strokes(bars, 0.6, color) + dots
