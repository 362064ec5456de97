"""The tables of an experiment: its rows compared with the first one, or a table of a paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from eval.answers import read_answers
from eval.attributes import group_scores
from eval.compare import compare_runs
from eval.export import headline
from eval.paper_table import Place
from eval.published import Table
from eval.score_run import score_answers, score_items
from eval.statistics import Percentage, holm
from eval.tables import markdown_table, markdown_text
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.experiments.grid import Grid, Row


def compared(grid: Grid, rows: Sequence[Row], test: str) -> list[dict[str, Any]]:
    """A line for each of some rows of the grid that have a test: "row", "test", "error" (None if finished) and, if finished,
    "scores" (as `harness score --json` prints them) and "difference" from the first row: a pair of `eval.compare.compare_runs`,
    with p corrected over the rows.

    "difference" is None for the first row, and if the first row is not finished or has other items.
    """
    lines: list[dict[str, Any]] = [{"row": row.name, "test": test, "error": grid.error(row)} for row in rows]
    items: dict[str, Any] = {}
    for row, line in zip(rows, lines, strict=True):
        if line["error"] is None:
            folder, how = row.tests[test].answers, row.tests[test].benchmark
            answers = read_answers(folder)
            items[row.name] = score_items(answers, how)
            line["scores"] = score_answers(answers, how)
            line["difference"] = _difference(answers.task, row.name, rows[0].name, items)
    pairs = [line["difference"] for line in lines if line.get("difference")]
    for pair, corrected in zip(pairs, holm([pair["p"] for pair in pairs]) if pairs else (), strict=True):
        pair["p_holm"] = corrected
    return lines


def _difference(task: str, row: str, first: str, items: Mapping[str, Any]) -> dict[str, Any] | None:
    if row == first or first not in items or [one.id for one in items[row]] != [one.id for one in items[first]]:
        return None
    pair: dict[str, Any] = compare_runs(task, {row: items[row], first: items[first]}, changed=0)["pairs"][0]
    return pair


def cells(lines: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """The head of the table and its rows, those that are finished, in percent, as text."""
    head, rows = ["row"], list[list[str]]()
    for line in lines:
        if line["error"] is None:
            leading, other = headline(line["scores"])[:2]
            head = ["row", leading.label, other.label, "difference", "p (Holm)"]
            rows.append([line["row"], str(leading), f"{100 * other.value:.2f}", *_spoken(line["difference"])])
    return head, rows


def _spoken(pair: Mapping[str, Any] | None) -> list[str]:
    return [f"{Percentage(pair['difference'], pair['interval']):+}", f"{pair['p_holm']:.4f}"] if pair else ["", ""]


def as_markdown(lines: Sequence[Mapping[str, Any]], caption: str) -> str:
    """The table in Markdown, with what was not run."""
    notes = map(markdown_text, (caption, *missing(lines)))
    return "\n\n".join((markdown_table(*cells(lines), texts=(0,)), *notes)) + "\n"


def scored(grid: Grid, rows: Sequence[Row], table: Table) -> list[dict[str, Any]]:
    """A line for each test of each row: "row", "test", "error" (None if finished) and, if finished, "scores", by level of
    abstraction too if the table has levels."""
    levels = any(column.level for column in table.columns)
    lines: list[dict[str, Any]] = []
    for row in rows:
        error = grid.error(row)
        # A row without tests is one that nobody runs.
        lines += [{"row": row.name, "test": name, "error": error} for name in row.tests or ("",)]
        for line in [] if error else lines[-len(row.tests) :]:
            test = row.tests[line["test"]]
            answers = read_answers(test.answers)
            line["scores"] = score_answers(answers, test.benchmark)
            if levels:
                with suppress(UsageError):  # Only the official dev split has labels.
                    line["scores"]["groups"] = group_scores(answers, test.benchmark, by=["level"]).tables
    return lines


def chosen(rows: Sequence[Row], lines: Sequence[Mapping[str, Any]]) -> tuple[dict[Place, Any], list[str]]:
    """The scores in the cells of a paper's table, and which row was chosen if several have the same place."""
    scores = {(line["row"], line["test"]): line["scores"] for line in lines if "scores" in line}
    rivals: dict[Place, list[Row]] = {}
    for row in rows:
        if row.place:
            rivals.setdefault(row.place, []).append(row)
    runs: dict[Place, Any] = {}
    said = []
    for place, candidates in rivals.items():
        by = candidates[0].choose
        finished = [row for row in candidates if all((row.name, test) in scores for test in row.tests)]
        if not finished:
            continue
        best = finished[0]
        if by:
            values = {row.name: headline(scores[row.name, by])[0] for row in finished}
            best = max(finished, key=lambda row: values[row.name].value)
            said.append(f"{place.system}: {best.name}, the best of {len(finished)} on {by} ({values[best.name]})")
        runs |= {place._replace(set=test): scores[best.name, test] for test in best.tests}
    return runs, said


def missing(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Which rows were not run, and why."""
    rows: dict[str, dict[str, None]] = {}
    for line in lines:
        if line["error"] is not None:
            rows.setdefault(line["error"], {})[line["row"]] = None
    yield from (f"Not run: {', '.join(names)} ({why})" for why, names in rows.items())
