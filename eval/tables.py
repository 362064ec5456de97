"""Tables of scores in percent, with 95% intervals."""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from eval.metrics.minecraft import METRICS
from eval.statistics import Interval, Percentage
from harness.tasks.registry import TASKS, world_of

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
    if TASKS[scores["task"]].judged:
        return [_requests(scores)]
    tables = [_minecraft(scores) if world_of(scores["task"]) == "minecraft" else _hexagons(scores)]
    tables += [_overlap(scores["overlap"])] if "overlap" in scores else []
    tables += [_samples(scores["samples"])] if "samples" in scores else []
    return tables


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


def f1_of(scores: Mapping[str, Any], average: str, metric: str, subset: str | None = None) -> tuple[float, Interval]:
    """A "micro" or "macro" F1 in the scores, of all items or of a subset, and its interval if it is known."""
    part, ends = scores, scores.get("intervals", {})
    if subset:
        part, ends = scores["subsets"][subset], ends.get("subsets", {}).get(subset, {})
    value = part["micro"][metric]["f1"] if average == "micro" else part["macro"][metric]
    return value, ends.get(average, {}).get(metric)


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


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: Sequence[int]) -> str:
    """A table in Markdown. The columns with the numbers `texts` are left-aligned, the others right-aligned."""
    lines = [head, ["---" if n in texts else "---:" for n in range(len(head))], *rows]
    return "\n".join(f"| {' | '.join(map(markdown_text, line))} |" for line in lines)


def markdown_text(text: str) -> str:
    """A text on one line of Markdown, as part of a table or not: a reader sees its HTML and its pipes as they are written."""
    return re.sub(r"(\\*)\|", r"\1\1\|", html.escape(" ".join(text.split()), quote=False))
