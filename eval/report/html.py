"""The HTML report of some runs: plain data in, one page out that needs no other file and no network.

What the page shows at first is in its HTML, with a light index of the items as JSON. The rest (pictures, prompts, texts) is
compressed: JSON, gzip, base64, a few items at a time, so that the page opens fast and expands only what is viewed. Text
from a model or a person is in JSON only and enters the page as text, never as HTML; a content security policy lets
nothing run but the page's own script and nothing load but its own pictures.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from eval import export
from eval.compare import LABELS
from eval.errors import CLASSES
from eval.items import ItemScore
from eval.published import beside
from eval.tables import Percentage, off_board, score_tables
from harness.tasks import get_task

CHUNK = 16
"""How many items are compressed together."""
MAX_TEXT = 20_000
"""Longest text shown, in characters; the rest is only counted."""


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run as the report shows it."""

    name: str
    facts: Mapping[str, str]
    """What was run: a label and its value."""
    cost: Mapping[str, str]
    """What it cost: a label and its value."""
    scores: Mapping[str, Any]
    """As `eval.score.score` returns them."""
    items: Sequence[ItemScore]
    """One for each item, in the items' order."""
    subsets: Sequence[Mapping[str, Any]]
    """As the tables of `eval.breakdown.break_down`."""
    labels: Mapping[str, Mapping[str, str]]
    """By the name of each subset table, from an item's id to its group's label."""


@dataclass(frozen=True, slots=True)
class ReportPage:
    """The content of a page. All runs are over the same items, in the same order."""

    runs: Sequence[ReportedRun]
    comparison: Mapping[str, Any] | None
    """As `eval.compare.compare_runs` returns it."""
    listed: Sequence[tuple[str, str]]
    """The ids of the first items, and the beginning of what was asked for in each."""
    chunks: Sequence[str]
    """The details of the listed items, `CHUNK` by `CHUNK`, as `pack` makes them."""
    texts: str
    """Packed: for each listed item the text that a search looks through, in lower case."""


def pack(value: Any) -> str:
    """JSON, gzip, base64: text that cannot end a script element. The same for equal values."""
    return base64.b64encode(gzip.compress(json.dumps(value, separators=(",", ":")).encode(), 9, mtime=0)).decode()


def embed(value: Any) -> str:
    """JSON that can stand in a script element: ASCII with no character that is special in HTML."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def cut(text: str) -> str:
    """The text, or its beginning and how much is left out."""
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\n... ({len(text) - MAX_TEXT:,} more characters)"


def render(report: ReportPage) -> bytes:
    """The page, as UTF-8. Equal reports give equal bytes."""
    style, script = _source("report.css"), _source("report.js")
    scores = [run.scores for run in report.runs]
    task = get_task(scores[0]["task"])
    classes = _classes([run.items for run in report.runs])
    page: str = _template().render(
        report=report,
        first=scores[0],
        title=f"{task.benchmark} {scores[0]['split']}",
        unit={"hexagons": "procedures", "minecraft": "games", "judged": "requests"}[task.scoring],
        style=style,
        script=script,
        policy=f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        index=embed(_index(report, [row.name for row in classes])),
        headline=[export.headline(each)[:3] for each in scores],
        metrics=list(zip(*map(score_tables, scores), strict=True)),
        papers=beside({run.name: {**run.scores, "groups": run.subsets} for run in report.runs}),
        classes=classes,
        known={item for item, _ in report.listed},
    )
    # A lone surrogate, in a file's name say, cannot be encoded as UTF-8.
    return page.encode("utf-8", "replace")


@cache
def _source(name: str) -> str:
    return files("eval.report").joinpath("templates", name).read_text("utf-8")


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("eval.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "percent": lambda value: f"{100 * value:.2f}",
        "interval": lambda pair: f"[{100 * pair[0]:.1f}, {100 * pair[1]:.1f}]".replace("-", "−") if pair else "",
        "count": "{:,}".format,
        "signed": lambda value: f"{100 * value:+.2f}".replace("-", "−"),
        "p": lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}",
    }
    environment.globals |= {"off_board": off_board, "percentage": Percentage, "group_of": _group_of, "metric_names": LABELS}
    return environment.get_template("report.html.jinja")


def _group_of(run: ReportedRun, table: str, label: str) -> Mapping[str, Any]:
    """A run's numbers of a group of a breakdown; empty if it has no such group."""
    groups = (group for subset in run.subsets if subset["name"] == table for group in subset["groups"])
    return next((group for group in groups if group["label"] == label), {})


class ClassRow(NamedTuple):
    """An error class; `counts` has, for each run, the number of items with it as the main class, and with it at all."""

    name: str
    meaning: str
    counts: Sequence[tuple[int, int]]


def _classes(runs: Sequence[Sequence[ItemScore]]) -> list[ClassRow]:
    """The error classes, sorted by how often they are the main class over all runs."""
    main = [Counter(item.classes[0] for item in items if item.classes) for items in runs]
    every = [Counter(name for item in items for name in item.classes) for items in runs]
    names = sorted(set().union(*every), key=lambda name: (-sum(c[name] for c in main), -sum(c[name] for c in every), name))
    return [ClassRow(name, CLASSES[name], [(a[name], b[name]) for a, b in zip(main, every, strict=True)]) for name in names]


def _index(report: ReportPage, classes: Sequence[str]) -> dict[str, Any]:
    """What the list, its filters and its order need, by column, so that field names appear once."""
    shown = len(report.listed)
    groups = []
    for subset in report.runs[0].subsets:
        labels = report.runs[0].labels.get(subset["name"], {})
        for group in subset["groups"]:
            members = [n for n, (item, _) in enumerate(report.listed) if labels.get(item) == group["label"]]
            groups.append({"name": subset["name"], "label": group["label"], "items": members})
    runs = [
        {
            "name": run.name,
            "f1": [round(item.f1, 4) for item in run.items[:shown]],
            "exact": [int(item.exact) for item in run.items[:shown]],
            "wanted": [item.wanted for item in run.items[:shown]],
            "made": [item.made for item in run.items[:shown]],
            "classes": [[classes.index(name) for name in item.classes] for item in run.items[:shown]],
        }
        for run in report.runs
    ]
    listed = {"ids": [item for item, _ in report.listed], "snippets": [snippet for _, snippet in report.listed]}
    return {**listed, "groups": groups, "classes": list(classes), "runs": runs, "chunk": CHUNK}
