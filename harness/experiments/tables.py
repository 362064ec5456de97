"""The tables of an experiment: its rows compared with the first one, or a table of a paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from adapters.registry import read_record
from eval.attributes import group_scores
from eval.compare import compare_runs
from eval.export import headline
from eval.paper_table import Place
from eval.published import Table
from eval.score_run import read_answers, score_answers, score_items
from eval.statistics import Percentage, holm
from eval.tables import markdown_table, markdown_text
from harness.errors import UsageError
from harness.runs.asked import NAME, read_asked

if TYPE_CHECKING:
    from pathlib import Path

    from harness.experiments.grid import Grid, Row


def costs(row: Row, answers: Path) -> dict[str, list[float]]:
    """The costs of a finished test, by their names in the table: the seconds and tokens of its prompts and answers, preceded by
    those of its training if it is a row of `harness finetune`."""
    records = read_answers(answers).records.values()
    tokens = sum(record.get(key) or 0 for record in records for key in ("prompt_tokens", "completion_tokens"))
    facts: dict[str, list[float]] = {
        "seconds": [sum(asked.seconds for _, asked in read_asked(answers / NAME))],
        "tokens": [tokens],
    }
    if row.commands[0].words[0] == "finetune":
        run = answers.parent
        about = read_record(next(folder for folder in (run / "adapter", run / "model") if folder.is_dir()))
        facts = {"seconds": [about.seconds, *facts["seconds"]], "tokens": [about.tokens, *facts["tokens"]]}
    return facts


def compared(grid: Grid, rows: Sequence[Row], test: str) -> list[dict[str, Any]]:
    """A line for each of some rows of the grid that have a test: "row", "test", "error" (None if finished) and, if finished,
    "scores" (as `harness score --json` prints them), "facts", and "difference" from the first row: a pair of
    `eval.compare.compare_runs`, with p corrected over the rows.

    "difference" is None for the first row, and if the first row is not finished or has other items.
    """
    lines: list[dict[str, Any]] = []
    items: dict[str, Any] = {}
    for row in rows:
        line: dict[str, Any] = {"row": row.name, "test": test, "error": grid.error(row)}
        if line["error"] is None:
            folder, how = row.tests[test].answers, row.tests[test].benchmark
            answers = read_answers(folder)
            items[row.name] = score_items(answers, how)
            line |= {"scores": score_answers(answers, how), "facts": costs(row, folder)}
            line["difference"] = _difference(answers.task, row.name, rows[0].name, items)
        lines.append(line)
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
    """The head of the table and its rows, in percent, as text."""
    finished = [line for line in lines if line["error"] is None]
    labels = [number.label for number in headline(finished[0]["scores"])[:2]] if finished else []
    names = list(dict.fromkeys(name for line in finished for name in line["facts"]))
    head = ["row", *labels, *(["difference", "p (Holm)"] if labels else []), *names, "failed"]
    rows = []
    for line in lines:
        if line["error"] is not None:
            rows.append([line["row"], *[""] * (len(head) - 2), line["error"]])
            continue
        leading, other = headline(line["scores"])[:2]
        told = (" / ".join(f"{value:,.0f}" for value in line["facts"].get(name, ())) for name in names)
        numbers = str(leading), f"{100 * other.value:.2f}"
        rows.append([line["row"], *numbers, *_spoken(line["difference"]), *told, ""])
    if len(finished) == len(lines):  # Then the last column is empty.
        head, rows = head[:-1], [row[:-1] for row in rows]
    return head, rows


def _spoken(pair: Mapping[str, Any] | None) -> list[str]:
    return [f"{Percentage(pair['difference'], pair['interval']):+}", f"{pair['p_holm']:.4f}"] if pair else ["", ""]


def as_markdown(lines: Sequence[Mapping[str, Any]], caption: str) -> str:
    """The table in Markdown."""
    return f"{markdown_table(*cells(lines), texts=(0,))}\n\n{markdown_text(caption)}\n"


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
