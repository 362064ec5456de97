"""Tables of scores in percent, with 95% intervals and the papers' numbers beside them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

from eval.metrics.minecraft import METRICS
from eval.published import Beside, beside
from harness.tasks import get_task, world_of

HEXAGONS_ROWS = {
    "action": "action",
    "effective": "action, effective",
    "board": "board",
    "rollout": "board, rollout",
    "procedure_macro": "action, procedures",
    "without_longest": "without longest",
}
HEXAGONS_COLUMNS = ("F1", "EM", "P", "R")
MINECRAFT_COLUMNS = ("micro F1", "P", "R", "macro F1")
BOARDS = ("EB", "NEB")
"""The subsets of Minecraft of which every metric is shown: an empty board before, and a non-empty one."""


class Percentage(NamedTuple):
    """A fraction that is shown in percent, and its 95% interval if it has one."""

    value: float | None
    interval: Sequence[float] | None = None

    def __format__(self, sign: str) -> str:
        """In percent, with the ends of the interval; if `sign` is "+", positive numbers have a sign."""
        low_high = [f"{100 * end:{sign}.1f}" for end in self.interval or ()]
        ends = f" [{', '.join(low_high)}]" if low_high else ""
        return "" if self.value is None else f"{100 * self.value:{sign}.2f}{ends}"

    def __str__(self) -> str:
        return format(self)


def hexagons_cells(scores: Mapping[str, Any], kind: str) -> list[Percentage]:
    """A row of `HEXAGONS_ROWS`, under `HEXAGONS_COLUMNS`."""
    values, ends = scores[kind], scores["intervals"][kind]
    return [
        *(Percentage(values[name], ends[name]) for name in ("f1", "em")),
        Percentage(values.get("precision")),
        Percentage(values.get("recall")),
    ]


def minecraft_cells(part: Mapping[str, Any], ends: Mapping[str, Any], name: str) -> list[Percentage]:
    """A metric of all items or of a subset, under `MINECRAFT_COLUMNS`."""
    micro = part["micro"][name]
    shares = Percentage(micro["precision"]), Percentage(micro["recall"])
    return [Percentage(micro["f1"], ends["micro"][name]), *shares, Percentage(part["macro"][name], ends["macro"][name])]


def print_scores(scores: Mapping[str, Any]) -> None:
    """Print what `eval.score.score` returned: the numbers, then the papers' with a note on which are comparable."""
    console = Console()
    benchmark = f", {benchmark_name(scores)} benchmark" if "benchmark" in scores else ""
    console.print(f"{scores['task']}/{scores['split']}{benchmark}: {scores['items']:,} items")
    if scores["missing"] or scores["errors"]:
        counted = f"{scores['missing']:,} missing and {scores['errors']:,} with an error"
        console.print(f"{counted}, all scored as empty predictions", style="yellow")
    if outside := off_board(scores):
        console.print(outside, style="yellow")
    console.print()
    if get_task(scores["task"]).judged:
        console.print(_requests(scores))
        return
    console.print(_minecraft(scores) if world_of(scores["task"]) == "minecraft" else _hexagons(scores))
    if "overlap" in scores:
        console.print(overlap_line(scores["overlap"]))
    console.print()
    if "level" in scores:
        console.print(_level(scores["level"]))
        return
    found = beside({"this run": scores})
    for table in found:
        console.print(_papers(table), "")
    if not found:
        console.print("The papers print no scores of this task, split and benchmark.", style="dim")


def overlap_line(overlap: Mapping[str, Any]) -> str:
    """The F1 of whole structures (`eval.metrics.minecraft`)."""
    precision, recall, nothing = (Percentage(overlap[name]) for name in ("precision", "recall", "unchanged"))
    value = Percentage(overlap["f1"], overlap["interval"])
    return f"best overlap of structures, mean F1: {value} (precision {precision}, recall {recall}; doing nothing {nothing})"


def off_board(scores: Mapping[str, Any]) -> str:
    """A note on predicted actions outside the world; empty if there are none."""
    where = "off the board" if world_of(scores["task"]) == "hexagons" else "outside the build region"
    count = scores.get("off_board", 0)
    return f"{count:,} predicted action{'' if count == 1 else 's'} {where}, left out" if count else ""


def benchmark_name(scores: Mapping[str, Any]) -> str:
    """The Minecraft benchmark as every result must name it: v2 with its annotation."""
    return f"{scores['benchmark']} ({scores['annotation']})" if "annotation" in scores else str(scores["benchmark"])


def numbers_table(*columns: str, rows: Iterable[Iterable[object]] = (), caption: str | None = None) -> Table:
    """A table with a left-aligned first column and right-aligned others."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, caption=caption, caption_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    for row in rows:
        table.add_row(*map(str, row))
    return table


def _hexagons(scores: Mapping[str, Any]) -> Table:
    caption = f"Percent, mean over steps [95% interval over procedures]; effective: without no-ops{longest_note(scores)}."
    rows = ((label, *hexagons_cells(scores, kind)) for kind, label in HEXAGONS_ROWS.items() if kind in scores)
    return numbers_table("", *HEXAGONS_COLUMNS, rows=rows, caption=caption)


def longest_note(scores: Mapping[str, Any]) -> str:
    """The end of a caption that explains the row "without longest"; empty without such a row."""
    if short := scores.get("without_longest"):
        left = scores["items"] - short["items"]
        return f"; without longest: all but the {len(short['left_out'])} longest procedures, which have {left:,} steps"
    return ""


def _requests(scores: Mapping[str, Any]) -> Table:
    caption = "Percent [95% interval over requests]; a request is solved if all its turns are."
    parts = {"requests": scores["requests"], "turns": scores["turns"], **{f" {k}": part for k, part in scores["kinds"].items()}}
    rows = ((name, Percentage(part["solved"], part["interval"]), f"{part['of']:,}") for name, part in parts.items())
    return numbers_table("", "solved", "of", rows=rows, caption=caption)


def _minecraft(scores: Mapping[str, Any]) -> Table:
    caption = (
        "Percent, net actions [95% interval over games]; EB, NEB: empty and non-empty board; U, M: one interpretation, several."
    )
    ends = scores["intervals"]
    rows = []
    for metric in METRICS:
        rows.append((metric, *minecraft_cells(scores, ends, metric)))
        for name, part in scores["subsets"].items():
            if name in BOARDS or metric == METRICS[0]:
                count = f" ({part['items']:,})" if metric == METRICS[0] else ""
                rows.append((f"  {metric} {name}{count}", *minecraft_cells(part, ends["subsets"][name], metric)))
    return numbers_table("", *MINECRAFT_COLUMNS, rows=rows, caption=caption)


def _level(level: Mapping[str, Any]) -> Table:
    """A level-1 or level-2 set: any right answer counts, dimension by dimension (`eval.levels_minecraft`)."""
    parts = [("", level), *((f"{shape}: ", part) for shape, part in level.get("by_shape", {}).items())]
    rows = (
        (prefix + name, f"{rate['right']:,}", f"{rate['items']:,}", Percentage(rate["accuracy"], rate["interval"]))
        for prefix, part in parts
        for name, rate in part.items()
        if isinstance(rate, Mapping) and "accuracy" in rate
    )
    caption = "[95% interval over items]"
    return numbers_table(f"level {level['level']}", "right", "of", "percent", rows=rows, caption=caption)


def _papers(found: Beside) -> Table:
    """Published scores beside the run's."""
    table = numbers_table("", *found.columns, caption="\n".join(found.notes))
    table.title, table.title_justify = f"{found.title}, published", "left"
    table.add_column("in", no_wrap=True)
    for group in found.groups:
        if len(found.groups) > 1:
            table.add_row(group.label or "all")
        for line in group.lines:
            style = "dim" if line.obstacle else "" if line.paper else "bold"
            table.add_row(found.name(line), *line.cells, found.place(line), style=style, end_section=line is group.lines[-1])
    return table


def print_groups(tables: Iterable[Mapping[str, Any]]) -> None:
    """Print the tables of `eval.breakdown`."""
    console = Console()
    # The p-value ignores clusters; tell the reader.
    console.print("\nMeans over items, in percent [95% interval]. Kruskal-Wallis tests, as if items were independent.")
    for breakdown in tables:
        console.print()
        console.print(_groups(breakdown))


def _groups(breakdown: Mapping[str, Any]) -> Table:
    tests = [(metric, test) for metric, test in breakdown["tests"].items() if test]
    notes = [breakdown["note"] or ""]
    notes += [f"{test['name']} on {metric.upper()}: {test['statistic']:.2f}, p = {test['p']:.2g}" for metric, test in tests]
    rows = ((g["label"], f"{g['items']:,}", Percentage(g["f1"], g["interval"]), Percentage(g["em"])) for g in breakdown["groups"])
    return numbers_table(breakdown["name"], "items", "F1", "EM", rows=rows, caption="\n".join(filter(None, notes)))


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: Sequence[int]) -> str:
    """A table in Markdown. The columns with the numbers `texts` are left-aligned, the others right-aligned."""
    lines = [head, ["---" if n in texts else "---:" for n in range(len(head))], *rows]
    return "\n".join(f"| {' | '.join(map(markdown_text, line))} |" for line in lines)


def markdown_text(text: str) -> str:
    """A text on one line of Markdown, as part of a table or not: a reader sees its HTML and its pipes as they are written."""
    return re.sub(r"(\\*)\|", r"\1\1\|", html.escape(" ".join(text.split()), quote=False))
