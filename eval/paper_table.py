"""A table of a paper in its own rows and columns: the scores of our runs, and beside them what the paper prints."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from eval.published import Row, Scores, Setting, Table, obstacle_of, own_score, published
from harness.errors import UsageError

NOT_RUN = "-"
"""Stands for our score where there is no run."""
_MEANS = {"mean": "mean over steps", "micro": "micro F1", "macro": "macro F1"}


class Place(NamedTuple):
    """The run whose score stands in a cell."""

    set: str
    system: str
    context: str | None = None
    size: int | None = None
    """The number of train items; None: all."""

    @classmethod
    def of(cls, setting: Setting) -> "Place":
        return cls(str(setting.set), str(setting.system), setting.context, setting.size)


def find_table(paper: str, table: int | None, figure: int | None = None) -> Table:
    """A results table or a figure of a paper. Raises UsageError for an unknown one."""
    known = [one for one in published().tables if one.paper == paper and (one.table or one.figure)]
    for one in known:
        if (one.table, one.figure) == (table, figure):
            return one
    if not known:
        raise UsageError(f"no paper {paper!r} has tables here: choose one of {', '.join(published().papers)}")
    what = f"table {table}" if table else f"figure {figure}" if figure else "table without a number"
    raise UsageError(f"{paper} has no {what} of results: choose one of {', '.join(one.place for one in known)}")


def places(table: Table) -> list[Place]:
    """The runs that a table needs."""
    return list(dict.fromkeys(Place.of(setting) for row in table.rows for setting in table.settings(row)))


def paper_table(table: Table, runs: Mapping[Place, Scores]) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of a table: in each cell our score with its 95% interval, and after a slash the paper's, if it prints
    one."""
    head = ["", *(_label(column) or "all" for column in table.columns)]
    decimals = published().papers[table.paper].decimals
    rows = []
    for row in table.rows:
        printed = [f"{value:.{decimals}f}" for value in row.values] or [""] * len(table.columns)
        cells = zip(table.settings(row), printed, strict=True)
        rows.append([_label(row) or "all", *(" / ".join(filter(None, (_own(one, runs), value))) for one, value in cells)])
    return head, rows


def _own(setting: Setting, runs: Mapping[Place, Scores]) -> str:
    scores = runs.get(Place.of(setting))
    return (str(own_score(scores, setting)) if scores else "") or NOT_RUN


def _label(part: Row | Setting) -> str:
    """What distinguishes a row or a column, in the order in which a title names it."""
    keys = ("board", "system", "context", "size", "set", "level", "metric")
    given = {key: getattr(part, key) for key in keys if getattr(part, key) is not None}
    words = {"metric": str.upper if given.get("metric") in ("f1", "em") else str, "size": "{:,} items".format}
    return " ".join(words.get(key, str)(value) for key, value in given.items())


def notes(table: Table, runs: Mapping[Place, Scores]) -> Iterator[str]:
    """What a reader of the table must know, a sentence each."""
    first = table.settings(table.rows[0])[0]
    yield f"{published().papers[table.paper].title}, {table.place}, percent, {_MEANS[str(first.average)]}"
    yield f"Ours [95% interval] / the paper's; {NOT_RUN}: not run" if table.rows[0].values else f"{NOT_RUN}: not run"
    yield from dict.fromkeys(
        f"{one.set}: {why}"
        for row in table.rows
        for one in table.settings(row)
        if (scores := runs.get(Place.of(one))) and (why := _difference(one, scores))
    )


def _difference(setting: Setting, scores: Scores) -> str:
    if not published().sets[str(setting.set)].of(scores):
        return f"ours are scores of {scores['task']}/{scores['split']}, {scores.get('benchmark', 'with other items')}"
    why = obstacle_of(setting, scores)
    return f"the paper has {why}" if why else ""
