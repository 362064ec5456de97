"""The HTML report of some runs: one page that needs no other file and no network.

What the page shows at first is in its HTML, with a light index of the items as JSON. The rest (pictures, prompts, texts) is
compressed: JSON, gzip, base64, a few items at a time, so that the page opens fast and expands only what is viewed. Text
from a model or a person is in JSON only and enters the page as text, never as HTML; a content security policy lets
nothing run but the page's own script and nothing load but its own pictures.
"""

import base64
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from eval import export
from eval.answers import Answers
from eval.attributes import group_scores
from eval.breakdown import Breakdown, find_group
from eval.compare import LABELS, compare_runs
from eval.errors import CLASSES
from eval.finishing import what_was_lost
from eval.items import ItemScore
from eval.published import beside
from eval.score_run import Benchmark, score_answers, score_items
from eval.statistics import Percentage
from eval.tables import off_board, score_tables
from harness.corpora.item import HexagonsItem, Item, MinecraftItem, Utterance, new_turns
from harness.drawing.items import item_pictures
from harness.drawing.terminal import written
from harness.runs.asked import NAME, Asked, read_asked
from harness.tasks.registry import TASKS, world_of
from harness.worlds.minecraft import net_actions

CHUNK = 16
"""How many items are compressed together."""
MAX_TEXT = 20_000
"""Longest text shown, in characters; the rest is only counted."""
_SETTINGS = (
    *("model", "adapter", "engine", "shots", "context", "format", "frame", "temperature", "constrained", "seed", "limit"),
    *("max_new_tokens", "context_length"),
)
"""The settings of a run that the report shows."""
_TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
_SNIPPET = 160
"""Characters of the request that the list shows."""
_PIECES = 50
"""Most discarded pieces of an answer that are shown."""


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run as the report shows it."""

    name: str
    answers: Answers
    asked: Mapping[str, Asked]
    """The prompt and seconds of each answer, by item id."""
    scores: Mapping[str, Any]
    items: Sequence[ItemScore]
    groups: Breakdown

    @property
    def facts(self) -> dict[str, str]:
        """What was run, a label and its value (– for none) each; empty for a predictions file outside a run's folder."""
        settings = self.answers.settings
        return {
            key.replace("_", " "): "–" if settings[key] is None else str(settings[key]) for key in _SETTINGS if key in settings
        }

    @property
    def cost(self) -> dict[str, str]:
        """What the answers cost and what was lost, as far as recorded."""
        records = list(self.answers.records.values())
        cost = {}
        for key in _TOKENS:
            if counts := [record[key] for record in records if isinstance(record.get(key), int)]:
                cost[key.replace("_", " ")] = f"{sum(counts):,} ({sum(counts) / len(counts):,.0f} an answer)"
        times = [self.asked[item_id].seconds for item_id in self.answers.records if item_id in self.asked]
        if seconds := sum(times):
            cost["seconds"] = f"{seconds:,.1f} ({len(times) / seconds:,.1f} items a second)"
        return cost | what_was_lost(records) | {"errors": f"{sum('error' in record for record in records):,}"}


class Page(NamedTuple):
    """The page, in UTF-8, and how many items its browser has."""

    html: bytes
    items: int


def report_page(
    runs: Mapping[str, Answers],
    benchmark: Benchmark,
    *,
    step: Callable[[int], None] = lambda done: None,
) -> Page:
    """Score, compare and draw runs over the same items. Equal runs give equal bytes.

    `step` is called after each item with the number of items that are done.
    """
    reported = [
        ReportedRun(
            name=name,
            answers=answers,
            asked=dict(read_asked(answers.file.with_name(NAME))),
            scores=score_answers(answers, benchmark, rollout=True),
            items=items,
            groups=group_scores(answers, benchmark, items),
        )
        for name, answers in runs.items()
        for items in [score_items(answers, benchmark)]
    ]
    first = reported[0]
    chosen = {item.id: item for item in benchmark.select(first.answers).items}
    items = [chosen[item.id] for item in first.answers.items if item.id in chosen]
    repaired = {item.id for item in first.answers.items if item.id in chosen and item.after != chosen[item.id].after}
    details = []
    for number, item in enumerate(items, start=1):
        details.append((_shared(item, item.id in repaired), [_made(item, run) for run in reported]))
        step(number)
    chunks = []
    for start in range(0, len(details), CHUNK):
        shared, made = zip(*details[start : start + CHUNK], strict=True)
        chunks.append(pack({"items": shared, "runs": list(zip(*made, strict=True))}))
    compared = compare_runs(first.answers.task, {run.name: run.items for run in reported}, changed=5)
    page = _render(
        reported,
        items,
        comparison=compared if len(runs) > 1 else None,
        chunks=chunks,
        texts=pack([_searched(item, runs.values()) for item in items]),
    )
    return Page(page, len(items))


def pack(value: Any) -> str:
    """JSON, gzip, base64: text that cannot end a script element. The same for equal values."""
    return base64.b64encode(gzip.compress(json.dumps(value, separators=(",", ":")).encode(), 9, mtime=0)).decode()


def embed(value: Any) -> str:
    """JSON that can stand in a script element: ASCII with no character that is special in HTML."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def cut(text: str) -> str:
    """The text, or its beginning and how much is left out."""
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\n... ({len(text) - MAX_TEXT:,} more characters)"


def _shared(item: Item, repaired: bool) -> dict[str, Any]:
    """The details that all runs share: the turns (with the speaker "" for actions), the gold actions and their picture. The
    benchmark may have repaired the gold state."""
    turns = [
        [turn.speaker, turn.text] if isinstance(turn, Utterance) else ["", written(item.task, turn.actions) or "nothing"]
        for turn in item.history
    ]
    if isinstance(item, HexagonsItem):
        turns.append(["Instructor", item.instruction])
    actions: Any = item.actions
    if repaired and isinstance(item, MinecraftItem):
        actions = sorted(net_actions(item.before, item.after), key=lambda action: (action.kind == "place", action.cell))
    note = "Gold repaired by the benchmark's annotation." if repaired else ""
    return {"turns": turns, "gold": written(item.task, actions), "picture": item_pictures(item)["gold"], "note": note}


def _made(item: Item, run: ReportedRun) -> dict[str, Any]:
    """The details of one run's answer to an item."""
    record = run.answers.records.get(item.id)
    text, note = _prompt(record or {}, run.asked.get(item.id))
    details = {"prompt": text, "promptNote": note}
    if record is None:
        return details | {"problem": "The run holds no prediction for this item."}
    if record.get("error"):
        return details | {"problem": cut(f"No prediction, but an error: {record['error']}")}
    actions: Any = run.answers.predictions.actions[item.id]
    state, ignored = item.before.apply(actions)
    drawn = item_pictures(item, state)
    answer = record.get("text")
    facts = {key.replace("_", " "): record[key] for key in (*_TOKENS[:2], "finish_reason") if record.get(key)}
    return details | {
        "problem": "",
        "pictures": [drawn["predicted"], drawn["difference"]],
        "actions": cut(written(item.task, actions)),
        "ignored": cut(written(item.task, ignored)) if ignored else "",
        "text": cut(answer) if isinstance(answer, str) else None,
        "discarded": [[cut(text), cut(reason)] for text, reason in run.answers.predictions.discarded.get(item.id, ())[:_PIECES]],
        "facts": [cut(f"{label}: {value}") for label, value in facts.items()],
    }


def _prompt(record: Mapping[str, Any], asked: Asked | None) -> tuple[str | None, str]:
    """The prompt of an answer, None if there is none, and a note on it."""
    if asked is None or asked.prompt is None:
        return None, "There is no prompt." if asked else "The prompt was not recorded."
    tokens = record.get("prompt_tokens")
    parts = [f"{tokens:,} tokens" if isinstance(tokens, int) and tokens else f"{len(asked.prompt):,} characters, as text"]
    return asked.prompt, "; ".join([*parts, *(f"{label}: {lost}" for label, lost in what_was_lost([record]).items())])


def _snippet(item: Item) -> str:
    turns = new_turns(item)
    text = " / ".join([turn.text for turn in turns if turn.speaker != "Builder"] or [turn.text for turn in turns])
    return text if len(text) <= _SNIPPET else f"{text[: _SNIPPET - 1]}…"


def _searched(item: Item, runs: Iterable[Answers]) -> str:
    """The text that a search for an item looks through, in lower case: its id, what was said, and what the models answered."""
    texts = [turn.text for turn in item.history if isinstance(turn, Utterance)]
    texts += [item.instruction] if isinstance(item, HexagonsItem) else []
    records = (answers.records.get(item.id, {}) for answers in runs)
    answered = [str(record.get(key) or "") for record in records for key in ("text", "error")]
    return "\n".join([item.id, *texts, *map(cut, answered)]).lower()


def _render(runs: Sequence[ReportedRun], items: Sequence[Item], **parts: Any) -> bytes:
    style, script = _source("report.css"), _source("report.js")
    scores = [run.scores for run in runs]
    task = TASKS[scores[0]["task"]]
    classes = _classes([run.items for run in runs])
    page: str = _template().render(
        **parts,
        runs=runs,
        first=scores[0],
        title=f"{task.benchmark} {scores[0]['split']}",
        unit={"hexagons": "procedures", "minecraft": "games", "judged": "requests"}[task.scoring],
        style=style,
        script=script,
        policy=f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        index=embed(_index(runs, items, [row.name for row in classes])),
        headline=[export.headline(each)[:3] for each in scores],
        metrics=list(zip(*map(score_tables, scores), strict=True)),
        papers=beside({run.name: {**run.scores, "groups": run.groups.tables} for run in runs}),
        classes=classes,
    )
    # A lone surrogate, in a file's name say, cannot be encoded as UTF-8.
    return page.encode("utf-8", "replace")


@cache
def _source(name: str) -> str:
    return files("eval.report").joinpath("templates", name).read_text("utf-8")


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("eval.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "percent": lambda value: f"{100 * value:.2f}",
        "interval": lambda pair: f"[{100 * pair[0]:.1f}, {100 * pair[1]:.1f}]".replace("-", "−") if pair else "",
        "count": "{:,}".format,
        "signed": lambda value: f"{100 * value:+.2f}".replace("-", "−"),
        "p": lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}",
    }
    environment.globals |= {"off_board": off_board, "percentage": Percentage, "metric_names": LABELS, "find_group": find_group}
    return environment.get_template("report.html.jinja")


class ClassRow(NamedTuple):
    """An error class; `counts` has, for each run, the number of items with it as the main class, and with it at all."""

    name: str
    meaning: str
    counts: Sequence[tuple[int, int]]


def _classes(runs: Sequence[Sequence[ItemScore]]) -> list[ClassRow]:
    """The error classes, sorted by how often they are the main class over all runs."""
    main = [Counter(item.classes[0] for item in items if item.classes) for items in runs]
    every = [Counter(name for item in items for name in item.classes) for items in runs]
    names = sorted(set().union(*every), key=lambda name: (-sum(c[name] for c in main), -sum(c[name] for c in every), name))
    return [ClassRow(name, CLASSES[name], [(a[name], b[name]) for a, b in zip(main, every, strict=True)]) for name in names]


def _index(runs: Sequence[ReportedRun], items: Sequence[Item], classes: Sequence[str]) -> dict[str, Any]:
    """What the list, its filters and its order need, by column, so that field names appear once."""
    groups = []
    for table in runs[0].groups.tables:
        labels = runs[0].groups.labels[table["name"]]
        for group in table["groups"]:
            members = [n for n, item in enumerate(items) if labels.get(item.id) == group["label"]]
            groups.append({"name": table["name"], "label": group["label"], "items": members})
    columns = []
    for run in runs:
        columns.append(
            {
                "name": run.name,
                "f1": [round(item.f1, 4) for item in run.items],
                "exact": [int(item.exact) for item in run.items],
                "wanted": [item.wanted for item in run.items],
                "made": [item.made for item in run.items],
                "classes": [[classes.index(name) for name in item.classes] for item in run.items],
            }
        )
    listed = {"ids": [item.id for item in items], "snippets": [_snippet(item) for item in items]}
    world = world_of(runs[0].answers.task)
    return {**listed, "world": world, "groups": groups, "classes": list(classes), "runs": columns, "chunk": CHUNK}
