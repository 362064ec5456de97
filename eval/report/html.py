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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from eval.items import ItemScore
from eval.published import beside
from eval.report import tables
from eval.tables import off_board
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
    notes: Sequence[str]
    """Sentences for the reader, such as how its prompts were found."""
    scores: Mapping[str, Any]
    """As `eval.score.score` returns them."""
    items: Sequence[ItemScore]
    """One for each item, in the items' order."""
    subsets: Sequence[Mapping[str, Any]]
    """As the tables of `eval.breakdown.break_down`."""
    labels: Mapping[str, Mapping[str, str]]
    """By the name of each subset table, from an item's id to its group's label."""


class Listed(NamedTuple):
    """An item in the browser's list."""

    id: str
    snippet: str
    """The beginning of what was asked for."""


@dataclass(frozen=True, slots=True)
class ReportPage:
    """The content of a page. All runs are over the same items, in the same order; `listed` are the first of them."""

    runs: Sequence[ReportedRun]
    comparison: Mapping[str, Any] | None
    """As `eval.compare.compare_runs` returns it."""
    listed: Sequence[Listed]
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
    page: str = _template().render(
        report=report,
        first=scores[0],
        title=f"{task.benchmark} {scores[0]['split']}",
        unit={"hexagons": "procedures", "minecraft": "games", "judged": "requests"}[task.scoring],
        style=style,
        script=script,
        policy=f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        index=embed(_index(report)),
        headline=tables.headline(scores),
        metrics=tables.metric_tables(scores),
        pairs=tables.pair_rows(report.comparison),
        papers=beside({run.name: {**run.scores, "groups": run.subsets} for run in report.runs}),
        subsets=tables.subset_tables([run.subsets for run in report.runs]),
        classes=tables.class_rows([run.items for run in report.runs]),
        facts_of=tables.fact_rows([run.facts for run in report.runs]),
        costs=tables.fact_rows([run.cost for run in report.runs]),
        known={item.id for item in report.listed},
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
        "percent": _percent,
        "interval": lambda pair: f"[{100 * pair[0]:.1f}, {100 * pair[1]:.1f}]".replace("-", "−") if pair else "",
        "count": "{:,}".format,
        "signed": lambda value: f"{100 * value:+.2f}".replace("-", "−"),
        "p": lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}",
    }
    environment.globals |= {"bar": tables.bar, "off_board": off_board}
    return environment.get_template("report.html.jinja")


def _percent(value: float, digits: int = 2) -> str:
    return f"{100 * value:.{digits}f}"


def _index(report: ReportPage) -> dict[str, Any]:
    """What the list, its filters and its order need, by column, so that field names appear once."""
    shown = len(report.listed)
    classes = [row.name for row in tables.class_rows([run.items for run in report.runs])]
    numbers = {name: number for number, name in enumerate(classes)}
    groups = [
        {
            "name": subset["name"],
            "label": group["label"],
            "items": [n for n, item in enumerate(report.listed) if labels.get(item.id) == group["label"]],
        }
        for subset in report.runs[0].subsets
        for labels in (report.runs[0].labels.get(subset["name"], {}),)
        for group in subset["groups"]
    ]
    runs = [
        {
            "name": run.name,
            "f1": [round(item.f1, 4) for item in run.items[:shown]],
            "exact": [int(item.exact) for item in run.items[:shown]],
            "wanted": [item.wanted for item in run.items[:shown]],
            "made": [item.made for item in run.items[:shown]],
            "classes": [[numbers[name] for name in item.classes] for item in run.items[:shown]],
        }
        for run in report.runs
    ]
    listed = {"ids": [item.id for item in report.listed], "snippets": [item.snippet for item in report.listed]}
    return {**listed, "groups": groups, "classes": classes, "runs": runs, "chunk": CHUNK}
