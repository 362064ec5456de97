"""Small inline SVG charts for the report. Colors and fonts come from the page's style sheet, by the class names used here."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median_low

from markupsafe import Markup, escape

_STARTS = (0, 1, 2, 3, 4, 5, 7, 10, 15, 25, 50)
"""The first number of each bin of a length grid; the last bin has no end."""
_CELL, _LEFT, _TOP = 36, 52, 8
_WIDTH, _HEIGHT, _MARGIN = 320, 170, 38


def length_grid(pairs: Iterable[tuple[int, int]]) -> Markup:
    """How many changes were made where so many were wanted: `pairs` of (wanted, made), wanted to the right, made upwards.

    A cell's color is the stronger, the larger its share of its column; the bin with a column's median is outlined.
    """
    binned = [(_bin(wanted), _bin(made)) for wanted, made in pairs]
    counts, columns = Counter(binned), Counter(wanted for wanted, _ in binned)
    medians = {column: median_low(made for wanted, made in binned if wanted == column) for column in columns}
    side = _CELL * len(_STARTS)
    parts = []
    for (wanted, made), count in sorted(counts.items()):
        x, y = _LEFT + _CELL * wanted, _TOP + side - _CELL * (made + 1)
        share = count / columns[wanted]
        title = f"wanted {_bin_name(wanted)}, made {_bin_name(made)}: {count:,} item{'' if count == 1 else 's'}"
        parts.append(
            f'<g><title>{title}</title><rect class="heat" x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" '
            f'fill-opacity="{0.04 + 0.46 * share:.2f}"/><text x="{x + _CELL / 2}" y="{y + _CELL / 2 + 4}">{count}</text></g>'
        )
    for column, made in sorted(medians.items()):
        x, y = _LEFT + _CELL * column + 1, _TOP + side - _CELL * (made + 1) + 1
        parts.append(f'<rect class="median" x="{x}" y="{y}" width="{_CELL - 2}" height="{_CELL - 2}"/>')
    frame = f'<rect class="frame" x="{_LEFT}" y="{_TOP}" width="{side}" height="{side}"/>'
    diagonal = f'<path class="diagonal" d="M{_LEFT} {_TOP + side}L{_LEFT + side} {_TOP}"/>'
    label = "Changes made against changes wanted: items by cell"
    return _svg(_LEFT + side + 4, side + 50, label, frame + diagonal + "".join(parts) + _grid_axes(side))


def _bin(count: int) -> int:
    return bisect_right(_STARTS, count) - 1


def _bin_name(number: int) -> str:
    start, end = _STARTS[number], [*_STARTS[1:], 0][number] - 1
    return f"{start}+" if end < 0 else str(start) if start == end else f"{start}–{end}"


def _grid_axes(side: int) -> str:
    names = [_bin_name(number) for number in range(len(_STARTS))]
    middles = [_CELL * number + _CELL // 2 for number in range(len(_STARTS))]
    across = "".join(f'<text x="{_LEFT + m}" y="{_TOP + side + 15}">{n}</text>' for m, n in zip(middles, names, strict=True))
    up = "".join(
        f'<text class="end" x="{_LEFT - 5}" y="{_TOP + side - m + 4}">{n}</text>' for m, n in zip(middles, names, strict=True)
    )
    titles = (
        f'<text x="{_LEFT + side / 2}" y="{_TOP + side + 36}">changes in gold</text>'
        f'<text transform="translate(11 {_TOP + side / 2}) rotate(-90)">changes made</text>'
    )
    return f'<g class="axis">{across}{up}{titles}</g>'


def line_chart(label: str, points: Sequence[tuple[float, float]], *, digits: int) -> Markup:
    """A curve through some (step, value), at least one. Its axis of values begins at 0 unless all values are well above it."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    low = 0.0 if min(ys) < (max(ys) - min(ys)) * 4 else min(ys) - 0.1 * (max(ys) - min(ys) or max(ys))
    high = max(ys) if max(ys) > low else low + 1
    right = max(xs) or 1

    def place(x: float, y: float) -> tuple[float, float]:
        down = (high - y) / (high - low) * (_HEIGHT - _MARGIN - 16)
        return round(_MARGIN + x / right * (_WIDTH - _MARGIN - 14), 1), round(10 + down, 1)

    drawn = [place(x, y) for x, y in points]
    line = "M" + "L".join(f"{x} {y}" for x, y in drawn)
    dots = "".join(
        f'<circle cx="{px}" cy="{py}" r="3"><title>step {x:,g}: {y:.{digits}f}</title></circle>'
        for (px, py), (x, y) in zip(drawn, points, strict=True)
    )
    base = place(0, low)[1]
    axis = "".join(
        f'<path class="rule" d="M{_MARGIN} {place(0, y)[1]}H{_WIDTH - 10}"/>'
        f'<text class="end" x="{_MARGIN - 5}" y="{place(0, y)[1] + 4}">{y:.{digits}f}</text>'
        for y in (low, (low + high) / 2, high)
    )
    axis += "".join(f'<text x="{place(x, low)[0]}" y="{base + 16}">{x:,g}</text>' for x in _spread(xs))
    axis += f'<text x="{_WIDTH / 2 + 12}" y="{_HEIGHT - 2}">step</text>'
    body = f'<g class="axis">{axis}</g><path class="line" d="{line}"/><g class="dots">{dots}</g>'
    return _svg(_WIDTH, _HEIGHT, f"{label} by training step", body)


def _spread(values: Sequence[float]) -> list[float]:
    """At most five of the values, the first and the last among them."""
    count = min(5, len(values))
    return [values[i * (len(values) - 1) // max(1, count - 1)] for i in range(count)]


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


def _svg(width: float, height: float, label: str, body: str) -> Markup:
    head = f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">'
    return Markup(f"{head}{body}</svg>")
