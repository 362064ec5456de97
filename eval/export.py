"""The numbers of runs, for a model card, a paper or a web page.

In percent with two decimals and 95% intervals; every table names the benchmark, and for v2 the annotation. For Minecraft,
tables also have every metric by board before, micro and macro, as in Tables 7 and 8 of BAP v2.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from eval.metrics.minecraft import METRICS
from eval.statistics import Percentage
from eval.tables import BOARDS, benchmark_name, f1_of, markdown_table, markdown_text, named, off_board
from harness.errors import UsageError
from harness.tasks.registry import TASKS, world_of

Scores = Mapping[str, Any]
"""As `eval.score.score` returns them."""

_CLUSTERS = {"hexagons": "drawing procedures", "minecraft": "games"}


class Number(NamedTuple):
    """A score as a fraction 0..1, and its 95% interval if it has one. As text it is in percent, as in every table."""

    key: str
    label: str
    value: float
    interval: Sequence[float] | None

    def percent(self) -> list[float]:
        """The value, and the ends of the interval if there is one."""
        return [round(100 * value, 2) for value in (self.value, *(self.interval or ()))]

    def __str__(self) -> str:
        return str(Percentage(self.value, self.interval))


def headline(scores: Scores) -> list[Number]:
    """The numbers with which to quote a result, the main one first."""
    if TASKS[scores["task"]].judged:
        parts = ((key, scores[key]) for key in ("requests", "turns"))
        return [Number(key, f"{key} solved", part["solved"], part["interval"]) for key, part in parts]
    ends = scores["intervals"]
    if world_of(scores["task"]) == "hexagons":
        return [
            Number(f"{kind}_{name}", f"{kind.replace('_', '-')} {name.upper()}", scores[kind][name], ends[kind][name])
            for kind, name in (("action", "f1"), ("action", "em"), ("board", "f1"), ("procedure_macro", "f1"))
        ]
    overlap = scores.get("overlap")
    return [
        Number("micro_f1", "micro F1", *f1_of(scores, "micro", "overall")),
        Number("macro_f1", "macro F1", *f1_of(scores, "macro", "overall")),
        Number("shape_micro_f1", "shape, micro F1", *f1_of(scores, "micro", "shape")),
        *([Number("overlap_f1", "best overlap, mean F1", overlap["f1"], overlap["interval"])] if overlap else []),
    ]


def eval_results(scores: Scores) -> list[Any]:
    """The headline numbers as huggingface_hub's `EvalResult`s, in percent."""
    from huggingface_hub.repocard_data import EvalResult

    return [
        EvalResult(
            task_type="text-generation",
            dataset_type=scores["task"],
            dataset_name=TASKS[scores["task"]].benchmark,
            dataset_config=benchmark_name(scores) if "benchmark" in scores else None,
            dataset_split=scores["split"],
            dataset_args={"items": scores["items"], "unanswered": scores["missing"] + scores["errors"]},
            metric_type="f1" if number.key.endswith("_f1") else "exact_match",
            metric_name=f"{number.label}, percent",
            metric_value=number.percent()[0],
            metric_args={"interval_95": number.percent()[1:]} if number.interval else None,
        )
        for number in headline(scores)
    ]


def as_eval_results(scores: Scores, how: str) -> str:
    """The headline numbers in percent as a file of the hub's folder .eval_results, in YAML; `how` the answers were decoded."""
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    task, part = TASKS[scores["task"]], ", ".join(filter(None, (scores["split"], scores.get("benchmark"))))
    entries = [
        EvalResultEntry(
            dataset_id=task.hub_name or task.name,
            task_id=number.key,
            value=number.percent()[0],
            notes=f"{part}: {number.label} in percent, 95% interval {number}; {scores['items']} items; {how}",
        )
        for number in headline(scores)
    ]
    text: str = yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True)
    return text


def as_markdown(results: Mapping[str, Scores]) -> str:
    """Tables with rows for each run. Raises UsageError for runs of two tasks."""
    made = [markdown_table(head, rows, (0, 1)) for head, rows in _tables(results)]
    return "\n\n".join((*made, f"{markdown_text(' '.join(_notes(results)))}\n"))


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        # LaTeX takes a bracket at the start of a row for an argument of the line break before it.
        "[": "{[}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


def as_latex(results: Mapping[str, Scores]) -> str:
    """Tables of the package booktabs with rows for each run. Raises UsageError for runs of two tasks."""
    made = [_latex(head, rows) for head, rows in _tables(results)]
    return "\n".join((*(f"% {note}" for note in (r"Needs \usepackage{booktabs}.", *_notes(results))), "\n\n".join(made), ""))


def _latex(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [" & ".join(cell.translate(_LATEX) for cell in line) + r" \\" for line in (head, *rows)]
    begin = rf"\begin{{tabular}}{{ll{'r' * (len(head) - 2)}}}"
    return "\n".join((begin, r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}"))


def _tables(results: Mapping[str, Scores]) -> list[tuple[list[str], list[list[str]]]]:
    """The heads and the rows of the tables for people: the headline, and for Minecraft micro and macro F1 by board."""
    if len(tasks := sorted({scores["task"] for scores in results.values()})) > 1:
        raise UsageError(f"runs of {' and '.join(tasks)} have different metrics: make a table for each")
    first = next(iter(results.values()))
    head = ["run", "benchmark", "items", *(number.label for number in headline(first))]
    tables = [(head, [[name, named(s), f"{s['items']:,}", *map(str, headline(s))] for name, s in results.items()])]
    metrics = (*METRICS[1:], METRICS[0])
    for average in ("micro", "macro") if TASKS[first["task"]].scoring == "minecraft" else ():
        rows = []
        for name, scores in results.items():
            for board in (*BOARDS, None):
                items = (scores["subsets"][board] if board else scores)["items"]
                f1 = (str(Percentage(*f1_of(scores, average, metric, board))) for metric in metrics)
                rows.append([name, board or "all", f"{items:,}", *f1])
        tables.append((["run", f"{average} F1", "items", *metrics], rows))
    return tables


def _notes(results: Mapping[str, Scores]) -> list[str]:
    """The notes below a table."""
    task = next(iter(results.values()))["task"]
    notes = [f"Percent, with 95% intervals by a bootstrap over whole {_CLUSTERS[world_of(task)]}."]
    for name, scores in results.items():
        if scores["missing"] or scores["errors"]:
            lost = f"{scores['missing']:,} items missing and {scores['errors']:,} with an error"
            notes.append(f"{' '.join(name.split())}: {lost}, scored as empty predictions.")
        if outside := off_board(scores):
            notes.append(f"{' '.join(name.split())}: {outside}.")
    return notes


WRITERS: dict[str, Callable[[Mapping[str, Scores]], str]] = {
    "latex": as_latex,
    "markdown": as_markdown,
}
"""By the name that `harness export --as` takes. Each takes scores by the runs' names."""
