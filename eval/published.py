"""The scores that the papers print (`published.yaml`), and which of them belong beside the scores of a run.

HEXAGONS: Tables 7 to 9. BAP v2: Tables 1, 2, 4 to 9 and 12 to 16, and the strict scores in its prose. Places are tables and
sections: the texts that the values were read from have no page numbers. Figures are there without values.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import yaml

from eval.annotation import LEVELS
from eval.breakdown import GROUPINGS, find_group
from eval.statistics import Percentage
from eval.tables import f1_of
from harness.util.settings import Count, Positive, Strict

Scores = Mapping[str, Any]
"""As `eval.score_run.score_answers` returns them, for HEXAGONS perhaps with "groups" of `eval.breakdown.break_down`."""


class Paper(Strict):
    title: str
    decimals: int
    """How many decimals it prints."""


class ItemSet(Strict):
    """What was scored, and how."""

    task: str
    split: str
    benchmark: Literal["legacy", "fair", "v2"] | None = None
    """Of Minecraft."""
    simulated: str | None = None
    """The simulator that makes such games, as the beginning of an item's id. The authors never released theirs."""
    items: Positive

    def of(self, scores: Scores) -> bool:
        """Whether these are scores of the same task, split and benchmark, or of games like these."""
        source = scores.get("simulated") or [scores["split"]]
        return source == [self.simulated or self.split] and (scores["task"], scores.get("benchmark")) == (
            self.task,
            self.benchmark,
        )


class System(Strict):
    name: str
    trained: tuple[Literal["D_mc", "D_bs", "D_ss", "D_r"], ...] = ()
    """BAP v2's data sets that it learned from."""
    setting: str = ""
    """The same in words, and what else sets it apart."""


class Setting(Strict):
    """A part of the description of a value: what holds for a table, a row or a column."""

    set: str | None = None
    system: str | None = None
    context: str | None = None
    """HEXAGONS: the model's input, by our name of it."""
    average: Literal["mean", "micro", "macro"] | None = None
    metric: Literal["f1", "em", "type", "color", "location", "shape", "overall"] | None = None
    board: Literal["EB", "NEB"] | None = None
    """Minecraft: the items with an empty or a non-empty board before; all if None."""
    level: Literal["none", "low", "mid", "high"] | None = None
    """HEXAGONS: the items of a level of abstraction, by the authors' labels; all if None."""
    size: Count | None = None
    """HEXAGONS: the number of train items; all if None."""
    items: Count | None = None
    """The number of items if they are not the whole set; 0 if it is unknown."""


class Row(Setting):
    values: tuple[float, ...] = ()
    """In percent, one for each column; none in a figure."""


class Table(Setting):
    """A table or a figure of a paper, or some values of its prose; a value has the settings of the table, of its row and of its
    column."""

    paper: str
    table: Positive | None = None
    figure: Positive | None = None
    section: str | None = None
    columns: tuple[Setting, ...]
    rows: tuple[Row, ...]

    @property
    def place(self) -> str:
        """Where in the paper."""
        kind, number = ("Table", self.table) if self.table else ("Figure", self.figure)
        return f"{kind} {number}" if number else f"section {self.section}"

    def settings(self, row: Row) -> list[Setting]:
        """The whole setting of each cell of a row."""
        known = set(Setting.model_fields)
        parts = [part.model_dump(include=known, exclude_none=True) for part in (self, row)]
        return [Setting(**parts[0] | parts[1] | column.model_dump(exclude_none=True)) for column in self.columns]


class Value(NamedTuple):
    """A printed score, in percent, with its whole setting."""

    table: Table
    setting: Setting
    value: float


class Published(Strict):
    papers: dict[str, Paper]
    sets: dict[str, ItemSet]
    systems: dict[str, System]
    tables: tuple[Table, ...]

    def values(self) -> Iterator[Value]:
        """All printed scores, table by table and row by row."""
        for table in self.tables:
            for row in table.rows:
                for setting, value in zip(table.settings(row), row.values, strict=bool(row.values)):
                    yield Value(table, setting, value)


@cache
def published() -> Published:
    """What `published.yaml` holds."""
    return Published.model_validate(yaml.safe_load(files("eval").joinpath("published.yaml").read_bytes()))


class Line(NamedTuple):
    """A system's scores of some items. `cells` are in percent, one for each column, empty where there is none."""

    group: str
    """A board or a level of abstraction; empty for all items."""
    system: str
    cells: Sequence[str]
    place: str = ""
    """The number of the paper, and where in it; empty for a run."""
    obstacle: str = ""
    """Why they cannot be compared with a run's; empty if they can."""


class Beside(NamedTuple):
    """A table with scores of runs and published scores: for each group the runs' lines, then the papers'. `columns` are metrics,
    `papers` the titles of the papers, which the lines' places count from 1."""

    title: str
    columns: Sequence[str]
    lines: Sequence[Line]
    papers: Sequence[str]


_TITLES = {"mean": "action-based, mean over steps", "micro": "micro F1", "macro": "macro F1"}
_ORDER = ("type", "color", "location", "shape", "overall", "f1", "em")


def beside(runs: Mapping[str, Scores]) -> list[Beside]:
    """Tables of the scores of runs over the same items with what the papers print for that setting; empty if they print nothing.

    A table for each average, and in it a group for each subset that a run has scores of; all items come last, as in the papers.
    """
    scores = next(iter(runs.values()))
    values = [value for value in published().values() if published().sets[str(value.setting.set)].of(scores)]
    tables = []
    for average in dict.fromkeys(value.setting.average for value in values):
        here = [value for value in values if value.setting.average == average]
        metrics = sorted({str(value.setting.metric) for value in here}, key=_ORDER.index)
        papers = list(dict.fromkeys(value.table.paper for value in here))
        labels = sorted(dict.fromkeys(map(_group, here)), key=lambda label: not label)
        groups = [[value for value in here if _group(value) == label] for label in labels]
        lines = [line for group in groups for line in _lines(runs, group, metrics, papers)]
        columns = [metric.upper() if metric in ("f1", "em") else metric for metric in metrics]
        tables.append(Beside(_TITLES[str(average)], columns, lines, [published().papers[paper].title for paper in papers]))
    return tables


def _group(value: Value) -> str:
    return value.setting.board or value.setting.level or ""


def _lines(runs: Mapping[str, Scores], values: Sequence[Value], metrics: Sequence[str], papers: Sequence[str]) -> list[Line]:
    """The lines of a group; none if no run has scores of its items. Equal values of several tables are one line."""
    settings = [values[0].setting.model_copy(update={"metric": metric}) for metric in metrics]
    own = {name: [own_score(scores, setting).value for setting in settings] for name, scores in runs.items()}
    if all(value is None for cells in own.values() for value in cells):
        return []
    group = _group(values[0])
    lines = [Line(group, name, ["" if c is None else f"{100 * c:.2f}" for c in cells]) for name, cells in own.items()]
    merged: list[tuple[dict[str, float], list[Value]]] = []
    for value in values:
        metric = str(value.setting.metric)
        for cells, of in merged:
            if _who(of[0]) == _who(value) and cells.get(metric, value.value) == value.value:
                break
        else:
            cells, of = {}, []
            merged.append((cells, of))
        cells[metric] = value.value
        of.append(value)
    return lines + [_line(cells, of, metrics, papers, next(iter(runs.values()))) for cells, of in merged]


def _who(value: Value) -> tuple[object, ...]:
    return value.table.paper, value.setting.system, value.setting.context


def _line(
    cells: Mapping[str, float], values: Sequence[Value], metrics: Sequence[str], papers: Sequence[str], scores: Scores
) -> Line:
    table, setting, _ = values[0]
    decimals, system = published().papers[table.paper].decimals, published().systems[str(setting.system)]
    tables = sorted({str(value.table.table) for value in values if value.table.table}, key=int)
    place = f"Tables {', '.join(tables)}" if len(tables) > 1 else table.place if table.section else ""
    shown = [f"{cells[metric]:.{decimals}f}" if metric in cells else "" for metric in metrics]
    name = ", ".join(filter(None, (system.name, setting.context or system.setting)))
    where = f"[{papers.index(table.paper) + 1}] {place}".rstrip()
    return Line(_group(values[0]), name, shown, where, obstacle_of(setting, scores))


def obstacle_of(setting: Setting, scores: Scores) -> str:
    """Why a printed score cannot be compared with a run's; empty if it can."""
    of = published().sets[str(setting.set)]
    items = of.items if setting.items is None else setting.items
    if of.simulated:
        return "other games"
    if not items:
        return "items unknown"
    if items != scores["items"]:
        return f"{items:,} items"
    return "other labels" if setting.level and any(_of_level(scores, n).get("items") != LEVELS[n] for n in LEVELS) else ""


def own_score(scores: Scores, setting: Setting) -> Percentage:
    """The run's score of a setting of its items; its value is None if it has none."""
    metric = str(setting.metric)
    if setting.level:
        group = _of_level(scores, setting.level)
        return Percentage(group.get(metric), group.get("interval") if metric == "f1" else None)
    if setting.average == "mean":
        return Percentage(scores["action"].get(metric), scores.get("intervals", {}).get("action", {}).get(metric))
    empty = setting.board and not scores["subsets"][setting.board]["items"]
    return Percentage(None) if empty else Percentage(*f1_of(scores, str(setting.average), metric, setting.board))


def _of_level(scores: Scores, level: str) -> Mapping[str, Any]:
    return find_group(scores.get("groups", ()), GROUPINGS["hexagons"]["level"].name, level)
