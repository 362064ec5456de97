"""`harness report`: one HTML file with the scores and the errors of runs, and every item with its pictures."""

from pathlib import Path

import click

from harness.commands.score import ScoredRuns
from harness.util.options import ModelCommand, option


class Report(ScoredRuns):
    out: Path | None = option(None, "The file. [default: report.html in the first run's folder]")
    intersect: bool = option(False, "Report only the items that all runs share.")


@click.command(cls=ModelCommand, model=Report)
def report(options: Report) -> None:
    """Write an HTML report of runs (names, folders or predictions files), with pictures of every item.

    The file needs no network and no other file. A run in progress is reported up to its last answer.
    """
    from eval.answers import read_runs
    from eval.report.page import report_page
    from harness.util.files import write_atomically
    from harness.util.terminal import bar

    answers = read_runs(options.runs, intersect=options.intersect)
    first = next(iter(answers.values()))
    with bar("items", len(first.items)) as update:
        page = report_page(answers, options.how, step=update)
    path = options.out or first.file.with_name("report.html")
    write_atomically(path, page.html)
    click.echo(f"{path}: {len(page.html) / 1e6:.1f} MB, {page.items:,} items")
