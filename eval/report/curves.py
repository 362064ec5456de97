"""Score curves by the number of train items, as a table and as a picture, and the curve of a single training as a picture.

"Draw Me a Flower" shows learning curves by level of abstraction in Figures 6 and 7; their exact values are not known here.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Any, NamedTuple

from eval.export import Number, Scores, headline
from eval.tables import markdown_table, markdown_text, named
from harness.errors import UsageError

_INK = "#666677"
_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "",
    "text.parse_math": False,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK),
}
"""Text stays text, colors are readable on white and on black, and equal drawings are equal bytes."""
_COLORS = ("#1e90ff", "#ff8c00", "#2e9e4f", "#c2338f", "#8a6d3b", "#667788")


class Point(NamedTuple):
    """A run: its name, its number of train items, and the numbers that are drawn, such as the two leading ones of its task."""

    name: str
    items: int
    numbers: Sequence[Number]


class Curve(NamedTuple):
    """At least one point, by rising size, and what was scored."""

    points: list[Point]
    scored: str


def curve(results: Mapping[str, Scores], sizes: Mapping[str, int]) -> Curve:
    """The curve of some runs; both arguments are by the runs' names. If the scores have "groups" (`eval.breakdown`), it shows
    the F1 and the EM of each group of the first table.

    Raises UsageError for runs that were not scored on the same items of the same benchmark.
    """
    scored = {name: f"{named(scores)}, {scores['items']:,} items" for name, scores in results.items()}
    first = next(iter(scored))
    for name, what in scored.items():
        if what != scored[first]:
            raise UsageError(f"one curve needs runs over the same items: {first} is over {scored[first]}, {name} over {what}")
    points = sorted((Point(name, sizes[name], _drawn(scores)) for name, scores in results.items()), key=lambda point: point.items)
    by = ""
    if tables := results[first].get("groups"):
        by = f", by {tables[0]['name']}" + (f" ({tables[0]['note']})" if tables[0]["note"] else "")
    return Curve(points, scored[first] + by)


def _drawn(scores: Scores) -> list[Number]:
    if not (tables := scores.get("groups")):
        return headline(scores)[:2]
    return [
        Number(metric, f"{group['label']}, {metric.upper()}", group[metric], group["interval"] if metric == "f1" else None)
        for metric in ("f1", "em")
        for group in tables[0]["groups"]
    ]


def as_markdown(drawn: Curve) -> str:
    """The curve as a table, a row for each run; percent with 95% intervals."""
    labels = [score.label for score in drawn.points[0].numbers]
    rows = [[f"{point.items:,}", point.name, *map(str, point.numbers)] for point in drawn.points]
    table = markdown_table(["train items", "run", *labels], rows, (1,))
    return f"{table}\n\n{markdown_text(drawn.scored)}. Percent, with 95% intervals.\n"


def as_svg(drawn: Curve) -> str:
    """The curve as a picture: items to the right, percent upwards, both from 0, with the intervals as bars; F1 and EM of groups
    in panels of their own."""
    lines = list(zip(*(point.numbers for point in drawn.points), strict=True))
    panels = [part for key in ("f1", "em") if (part := [line for line in lines if line[0].key == key])] or [lines]
    items = [point.items for point in drawn.points]
    with _panels(len(panels), drawn.scored) as (shown, picture):
        for axes, part in zip(shown, panels, strict=True):
            for line, color in zip(part, cycle(_COLORS), strict=False):
                percents = [number.percent() for number in line]
                values = [value for value, *_ in percents]
                axes.plot(items, values, color=color, marker="o", markersize=4, label=line[0].label)
                for size, (_, *ends) in zip(items, percents, strict=True):
                    if ends:
                        axes.vlines(size, *ends, color=color, linewidth=1, alpha=0.7)
            axes.set(xlabel="train items", ylabel="percent")
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0)
            axes.locator_params(integer=True, nbins=8)
            axes.legend(frameon=False)
    return picture.getvalue()


def training_svg(name: str, points: Sequence[Mapping[str, float]], items: Mapping[str, int]) -> str:
    """The curve of a training (`curve.jsonl`) as a picture: losses in one panel, rewards and dev F1 as shares in another. A panel
    without values is left out. `items` has the number of dev items behind `dev_loss` and `dev_f1`, which the labels name."""
    panels = {
        unit: kept
        for unit, keys in (("loss", ("train_loss", "dev_loss")), ("share", ("reward", "dev_f1")))
        if (kept := [key for key in keys if any(key in point for point in points)])
    }
    with _panels(len(panels), f"The training of {name}") as (shown, picture):
        for axes, (unit, keys) in zip(shown, panels.items(), strict=True):
            for key, color in zip(keys, _COLORS, strict=False):
                steps, values = zip(*((point["step"], point[key]) for point in points if key in point), strict=True)
                label = key.replace("_", " ").replace("f1", "F1") + (f", items: {items[key]}" if key in items else "")
                axes.plot(steps, values, color=color, marker="o", markersize=4, label=label)
            axes.set(xlabel="step", ylabel=unit, ylim=(0, None))
            if unit == "share":  # A reward of one's own may lie outside.
                low, high = axes.dataLim.intervaly
                axes.set_ylim(min(0, low), max(1, high))
            axes.legend(frameon=False)
    return picture.getvalue()


@contextmanager
def _panels(count: int, title: str) -> Iterator[tuple[Any, io.StringIO]]:
    """Matplotlib axes in a row, to draw on, and the SVG picture that they become."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    picture = io.StringIO()
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(5 * count, 3.2), layout="constrained")
        yield figure.subplots(1, count, squeeze=False)[0], picture
        figure.savefig(picture, format="svg", transparent=True, metadata={"Title": title, "Date": None, "Creator": None})
