"""Rows for the tables of the HTML report. Fractions in, fractions out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from eval import export
from eval.errors import CLASSES
from eval.items import ItemScore
from eval.metrics.minecraft import METRICS
from eval.tables import (
    HEXAGONS_COLUMNS,
    HEXAGONS_ROWS,
    MINECRAFT_COLUMNS,
    Percentage,
    hexagons_cells,
    longest_note,
    minecraft_cells,
)
from harness.tasks import get_task, world_of


class Measure(NamedTuple):
    """A headline number of one run."""

    label: str
    cell: Percentage
    strip: Markup


class MetricTable(NamedTuple):
    """`rows`: a label, and the cells of each run."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Sequence[Percentage]]]]


def headline(scores: Sequence[Mapping[str, Any]]) -> list[list[Measure]]:
    """The main numbers of each run, with strips on one common scale that ends at a round number."""
    numbers = [export.headline(each)[:3] for each in scores]
    ends = [end for run in numbers for one in run for end in (one.value, *(one.interval or ()))]
    limit = min(1.0, math.ceil(10 * max(ends) + 0.001) / 10)
    return [
        [
            Measure(
                one.label.replace("EM", "exact match"),
                Percentage(one.value, one.interval),
                interval_strip(one.value, one.interval, limit),
            )
            for one in run
        ]
        for run in numbers
    ]


def metric_tables(scores: Sequence[Mapping[str, Any]]) -> list[MetricTable]:
    """All numbers of the scores: one table for HEXAGONS; for Minecraft one of all items and one of each subset."""
    first = scores[0]
    if get_task(first["task"]).judged:
        kinds = [each["kinds"] for each in scores]
        solved = [(name, [[Percentage(of[name]["solved"], of[name]["interval"])] for of in kinds]) for name in first["kinds"]]
        return [MetricTable("Requests solved, by kind", ("solved",), solved)]
    if world_of(first["task"]) == "hexagons":
        kinds = [kind for kind in HEXAGONS_ROWS if kind in first]
        rows = [(HEXAGONS_ROWS[kind], [hexagons_cells(each, kind) for each in scores]) for kind in kinds]
        caption = f"Percent, mean over steps; effective: without actions that change nothing{longest_note(first)}"
        return [MetricTable(caption, HEXAGONS_COLUMNS, rows)]
    tables = [_minecraft_table(f"All items ({first['items']:,})", [(each, each["intervals"]) for each in scores])]
    if "overlap" in first:
        rows = [("structures", [_overlap_cells(each["overlap"]) for each in scores])]
        tables.append(MetricTable("Best overlap of whole structures, mean over items", _OVERLAPPED, rows))
    for name, part in first["subsets"].items():
        caption = f"{_SUBSETS.get(name, name)} ({part['items']:,})"
        parts = [(each["subsets"][name], each["intervals"]["subsets"][name]) for each in scores]
        tables.append(_minecraft_table(caption, parts))
    return tables


_OVERLAPPED = ("F1", "P", "R", "F1 of doing nothing")
_SUBSETS = {
    "EB": "EB: items that begin on an empty board",
    "NEB": "NEB: items that begin with blocks on the board",
    "U": "U: items with one right interpretation",
    "M": "M: items with several right interpretations",
}


def _overlap_cells(overlap: Mapping[str, Any]) -> list[Percentage]:
    others = ("precision", "recall", "unchanged")
    return [Percentage(overlap["f1"], overlap["interval"]), *(Percentage(overlap[name]) for name in others)]


def _minecraft_table(caption: str, parts: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> MetricTable:
    return MetricTable(caption, MINECRAFT_COLUMNS, [(name, [minecraft_cells(*part, name) for part in parts]) for name in METRICS])


def pair_rows(comparison: Mapping[str, Any] | None) -> list[tuple[str, str, list[tuple[str, Mapping[str, Any]]]]]:
    """The pairs of `eval.compare.compare_runs`: both names, and a label and the numbers for each metric."""
    rows: dict[tuple[str, str], list[tuple[str, Mapping[str, Any]]]] = {}
    for pair in comparison["pairs"] if comparison else ():
        words = (word.upper() if word in ("f1", "em") else word for word in pair["metric"].split("_"))
        rows.setdefault((pair["a"], pair["b"]), []).append((" ".join(words), pair))
    return [(a, b, metrics) for (a, b), metrics in rows.items()]


class SubsetTable(NamedTuple):
    """`rows`: a label, the number of items, and for each run F1 with its interval, and EM. `tests`: by metric, for each run."""

    name: str
    note: str
    rows: Sequence[tuple[str, int, Sequence[tuple[Percentage, Percentage]]]]
    tests: Sequence[Mapping[str, Mapping[str, Any] | None]]


def subset_tables(runs: Sequence[Sequence[Mapping[str, Any]]]) -> list[SubsetTable]:
    """The breakdowns of the first run, each next to the other runs' breakdowns of the same name and labels."""
    tables = []
    for subset in runs[0]:
        same = [_named(run, "name", subset["name"]) for run in runs]
        rows = []
        for group in subset["groups"]:
            groups = [_named(other["groups"], "label", group["label"]) for other in same]
            cells = [(Percentage(g.get("f1"), g.get("interval")), Percentage(g.get("em"))) for g in groups]
            rows.append((str(group["label"]), int(group["items"]), cells))
        tables.append(
            SubsetTable(str(subset["name"]), subset.get("note") or "", rows, [other.get("tests", {}) for other in same])
        )
    return tables


def _named(entries: Sequence[Mapping[str, Any]], key: str, name: Any) -> Mapping[str, Any]:
    return next((entry for entry in entries if entry[key] == name), {"groups": ()})


class ClassRow(NamedTuple):
    """An error class; `counts` has, for each run, the number of items with it as the main class, and with it at all."""

    name: str
    meaning: str
    counts: Sequence[tuple[int, int]]


def class_rows(runs: Sequence[Sequence[ItemScore]]) -> list[ClassRow]:
    """The error classes, sorted by how often they are the main class over all runs."""
    first = [Counter(item.classes[0] for item in items if item.classes) for items in runs]
    every = [Counter(name for item in items for name in item.classes) for items in runs]
    names = sorted(set().union(*every), key=lambda name: (-sum(c[name] for c in first), -sum(c[name] for c in every), name))
    return [
        ClassRow(name, CLASSES.get(name, ""), [(a[name], b[name]) for a, b in zip(first, every, strict=True)]) for name in names
    ]


def fact_rows(runs: Sequence[Mapping[str, str]]) -> list[tuple[str, list[str]]]:
    """Each label that any run has, with the values of all runs."""
    labels = dict.fromkeys(label for run in runs for label in run)
    return [(label, [run.get(label) or "not recorded" for run in runs]) for label in labels]


# --- small marks in the cells, in a line of SVG each ---


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
