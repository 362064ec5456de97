"""Tables of scores in percent, with 95% intervals and the papers' numbers beside them."""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

from eval.metrics.minecraft import METRICS, f1_of
from eval.published import Beside, beside
from eval.statistics import Percentage
from harness.tasks.registry import get_task, world_of

_HEXAGONS = {
    "action": "action",
    "effective": "action, effective",
    "board": "board",
    "rollout": "board, rollout",
    "procedure_macro": "action, procedures",
    "without_longest": "without longest",
}
BOARDS = ("EB", "NEB")
"""The subsets of Minecraft of which every metric is shown: an empty board before, and a non-empty one."""


Row = tuple[str, Sequence[Percentage | str]]
"""A label, and the cells."""


class ScoreTable(NamedTuple):
    """A table of a run's scores."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Row]


def score_tables(scores: Mapping[str, Any]) -> list[ScoreTable]:
    """All numbers that `eval.score_run.score_answers` returned. Runs over the same items have the same rows."""
    if get_task(scores["task"]).judged:
        return [_requests(scores)]
    tables = [_minecraft(scores) if world_of(scores["task"]) == "minecraft" else _hexagons(scores)]
    tables += [_overlap(scores["overlap"])] if "overlap" in scores else []
    tables += [_samples(scores["samples"])] if "samples" in scores else []
    return tables


def print_scores(scores: Mapping[str, Any]) -> None:
    """Print the numbers, then the papers' with a note on which are not comparable."""
    console = Console()
    console.print(f"{named(scores)}: {scores['items']:,} items")
    if scores["missing"] or scores["errors"]:
        counted = f"{scores['missing']:,} missing and {scores['errors']:,} with an error"
        console.print(f"{counted}, all scored as empty predictions", style="yellow")
    if outside := off_board(scores):
        console.print(outside, style="yellow")
    for table in score_tables(scores):
        rows = ((label, *cells) for label, cells in table.rows)
        console.print("", numbers_table("", *table.columns, rows=rows, caption=table.caption))
    if get_task(scores["task"]).judged:
        return
    published = beside({"this run": scores})
    for of_papers in published:
        console.print("", _papers(of_papers))
    if not published:
        console.print("The papers print no scores of this task, split and benchmark.", style="dim")


def off_board(scores: Mapping[str, Any]) -> str:
    """A note on predicted actions outside the world; empty if there are none."""
    where = "off the board" if world_of(scores["task"]) == "hexagons" else "outside the build region"
    count = scores.get("off_board", 0)
    return f"{count:,} predicted action{'' if count == 1 else 's'} {where}, left out" if count else ""


def benchmark_name(scores: Mapping[str, Any]) -> str:
    """The Minecraft benchmark as every result must name it: v2 with its annotation."""
    return f"{scores['benchmark']} ({scores['annotation']})" if "annotation" in scores else str(scores["benchmark"])


def named(scores: Mapping[str, Any]) -> str:
    """What was scored, as every table names it: "hexagons/dev", "minecraft/test, v2 (our annotation)"."""
    benchmark = f", {benchmark_name(scores)}" if "benchmark" in scores else ""
    return f"{scores['task']}/{scores['split']}{benchmark}"


def numbers_table(*columns: str, rows: Iterable[Iterable[object]] = (), caption: str | None = None) -> Table:
    """A table with a left-aligned first column and right-aligned others."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, caption=caption, caption_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    for row in rows:
        table.add_row(*map(str, row))
    return table


def _hexagons(scores: Mapping[str, Any]) -> ScoreTable:
    rows: list[Row] = []
    for kind, label in _HEXAGONS.items():
        if values := scores.get(kind):
            ends = scores["intervals"][kind]
            shares = Percentage(values.get("precision")), Percentage(values.get("recall"))
            rows.append((label, [*(Percentage(values[name], ends[name]) for name in ("f1", "em")), *shares]))
    longest = ""
    if short := scores.get("without_longest"):
        left = scores["items"] - short["items"]
        longest = f"; without longest: all but the {len(short['left_out'])} longest procedures, which have {left:,} steps"
    caption = f"Percent, mean over steps [95% interval over procedures]; effective: without no-ops{longest}."
    return ScoreTable(caption, ("F1", "EM", "P", "R"), rows)


def _requests(scores: Mapping[str, Any]) -> ScoreTable:
    caption = "Percent [95% interval over requests]; a request is solved if all its turns are."
    parts = {"requests": scores["requests"], "turns": scores["turns"], **{f" {k}": part for k, part in scores["kinds"].items()}}
    rows: list[Row] = [(name, [Percentage(part["solved"], part["interval"]), f"{part['of']:,}"]) for name, part in parts.items()]
    return ScoreTable(caption, ("solved", "of"), rows)


def _minecraft(scores: Mapping[str, Any]) -> ScoreTable:
    caption = (
        "Percent, net actions [95% interval over games]; EB, NEB: empty and non-empty board; U, M: one interpretation, several."
    )
    rows: list[Row] = []
    for metric in METRICS:
        rows.append((metric, _built(scores, metric)))
        for name, part in scores["subsets"].items():
            if name in BOARDS or metric == METRICS[0]:
                count = f" ({part['items']:,})" if metric == METRICS[0] else ""
                rows.append((f"  {metric} {name}{count}", _built(scores, metric, name)))
    return ScoreTable(caption, ("micro F1", "P", "R", "macro F1"), rows)


def _built(scores: Mapping[str, Any], metric: str, subset: str | None = None) -> list[Percentage | str]:
    """A metric of all Minecraft items or of a subset."""
    micro = (scores["subsets"][subset] if subset else scores)["micro"][metric]
    micro_f1, macro_f1 = (Percentage(*f1_of(scores, average, metric, subset)) for average in ("micro", "macro"))
    return [micro_f1, Percentage(micro["precision"]), Percentage(micro["recall"]), macro_f1]


def _overlap(overlap: Mapping[str, Any]) -> ScoreTable:
    """The F1 of whole structures (`eval.metrics.minecraft`)."""
    shares = [Percentage(overlap[name]) for name in ("precision", "recall", "unchanged")]
    cells = [Percentage(overlap["f1"], overlap["interval"]), *shares]
    columns = ("F1", "P", "R", "F1 of doing nothing")
    return ScoreTable("Best overlap of structures, mean over items.", columns, [("overlap", cells)])


def _samples(samples: Mapping[str, Any]) -> ScoreTable:
    """pass@k, and the spread of the scores (`eval.samples`)."""
    rows: list[Row] = [(f"pass@{k}", [Percentage(of["value"], of["interval"]), ""]) for k, of in samples["pass"].items()]
    rows += [
        (name, [Percentage(of["mean"], of["interval"]), Percentage(of["deviation"])])
        for name, of in (("F1 of a sample", samples["f1"]), ("EM of a sample", samples["em"]))
    ]
    caption = f"Percent, {samples['drawn']} samples an item; pass@k: one of k samples is exact."
    return ScoreTable(caption, ("mean", "standard deviation"), rows)


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


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: Sequence[int]) -> str:
    """A table in Markdown. The columns with the numbers `texts` are left-aligned, the others right-aligned."""
    lines = [head, ["---" if n in texts else "---:" for n in range(len(head))], *rows]
    return "\n".join(f"| {' | '.join(map(markdown_text, line))} |" for line in lines)


def markdown_text(text: str) -> str:
    """A text on one line of Markdown, as part of a table or not: a reader sees its HTML and its pipes as they are written."""
    return re.sub(r"(\\*)\|", r"\1\1\|", html.escape(" ".join(text.split()), quote=False))
