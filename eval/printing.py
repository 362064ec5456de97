"""Scores on the terminal, with the papers' numbers beside them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from eval.published import Beside, beside
from eval.statistics import Percentage
from eval.tables import named, off_board, score_tables
from harness.tasks.registry import TASKS


def print_scores(scores: Mapping[str, Any]) -> None:
    """Print the numbers, then the papers' with a note on which are not comparable."""
    judged = TASKS[scores["task"]].judged
    tables, outside = score_tables(scores), off_board(scores)
    published = [] if judged else beside({"this run": scores})
    console = Console()
    console.print(f"{named(scores)}: {scores['items']:,} items")
    if scores["missing"] or scores["errors"]:
        counted = f"{scores['missing']:,} missing and {scores['errors']:,} with an error"
        console.print(f"{counted}, all scored as empty predictions", style="yellow")
    if outside:
        console.print(outside, style="yellow")
    for table in tables:
        rows = ((label, *cells) for label, cells in table.rows)
        console.print("", numbers_table("", *table.columns, rows=rows, caption=table.caption))
    for of_papers in published:
        console.print("", _papers(of_papers))
    if not (published or judged):
        console.print("The papers print no scores of this task, split and benchmark.", style="dim")


def _papers(table: Beside) -> Table:
    """Published scores beside the run's."""
    papers = "\n".join(f"[{number}] {title}" for number, title in enumerate(table.papers, start=1))
    shown = numbers_table("", *table.columns, caption=papers)
    shown.title, shown.title_justify = f"{table.title}, published", "left"
    shown.add_column("in", no_wrap=True)
    shown.add_column("not comparable")
    groups = [line.group for line in table.lines]
    for number, line in enumerate(table.lines):
        if any(groups) and line.group not in groups[:number]:
            shown.add_row(line.group or "all")
        style = "dim" if line.obstacle else "" if line.place else "bold"
        end = line.group not in groups[number + 1 :]
        shown.add_row(line.system, *line.cells, line.place, line.obstacle, style=style, end_section=end)
    return shown


def print_groups(tables: Sequence[Mapping[str, Any]]) -> None:
    """Print the tables of `eval.breakdown`."""
    console = Console()
    if tables:
        # The p-value ignores clusters; tell the reader.
        console.print("\nMeans over items, in percent [95% interval]. Kruskal-Wallis tests, as if items were independent.")
    for table in tables:
        tests = [(metric, test) for metric, test in table["tests"].items() if test]
        notes = [table["note"] or ""]
        notes += [f"{test['name']} on {metric.upper()}: {test['statistic']:.2f}, p = {test['p']:.2g}" for metric, test in tests]
        rows = ((g["label"], f"{g['items']:,}", Percentage(g["f1"], g["interval"]), Percentage(g["em"])) for g in table["groups"])
        shown = numbers_table(table["name"], "items", "F1", "EM", rows=rows, caption="\n".join(filter(None, notes)))
        console.print("", shown)


def numbers_table(*columns: str, rows: Iterable[Iterable[object]] = (), caption: str | None = None) -> Table:
    """A table with a left-aligned first column and right-aligned others."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, caption=caption, caption_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    for row in rows:
        table.add_row(*map(str, row))
    return table
