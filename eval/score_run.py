"""From a predictions file or a run to its items, its predictions and its scores. No model is needed."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from eval.annotation import Annotation, clean_set, our_annotation, read_annotation
from eval.errors import OFF_THE_BOARD
from eval.items import ItemScore, item_scores
from eval.metrics.minecraft import empty_boards
from eval.predictions import Predictions, Record, decode, read_records
from eval.samples import sample_scores
from eval.score import BENCHMARKS, score
from harness import corpora
from harness.corpora.item import Item, items_hash
from harness.corpora.records import load_items
from harness.errors import DataError, UsageError
from harness.everyday.judge import as_judged
from harness.runs.folder import described, find_run
from harness.simulators import ARCHITECTS
from harness.tasks.registry import get_task
from harness.util.registry import choose
from serialization.formats import get_format, reader
from serialization.formats.answer import losses

_GAMES = frozenset(f"minecraft-{name}" for name in ARCHITECTS)
"""The beginnings of the ids of simulated building games."""


@dataclass(frozen=True, slots=True)
class Answers:
    """A predictions file and the items that it answers."""

    name: str
    """The run's name, or the file's."""
    file: Path
    settings: Mapping[str, Any]
    """run.yaml's settings; empty for a file outside a run's folder."""
    records: Mapping[str, Mapping[str, Any]]
    """The lines of the file by item id."""
    task: str
    split: str
    """The split, or the name of the file that holds the items."""
    items: Sequence[Any]
    """All items of the split."""
    only: Set[str] | None
    """The ids of the items to answer, None for all."""
    predictions: Predictions

    @property
    def simulated(self) -> tuple[str, ...]:
        """The simulators that made the items, such as `minecraft-blocks`; empty if any item comes from elsewhere."""
        sources = {item.id.partition("/")[0] for item in self.items}
        return tuple(sorted(sources)) if sources <= _GAMES else ()

    def pieces(self, item: Item) -> list[tuple[str, str]]:
        """The pieces of an answer's text that the parser discarded, as recorded or parsed again, and why."""
        fields = self.records.get(item.id, {})
        discarded, text, name = fields.get("discarded"), fields.get("text"), fields.get("format")
        if discarded is None and isinstance(text, str) and isinstance(name, str):
            discarded = get_format(self.task, name).read(text, item).discarded
        return [(str(p[0]), str(p[1])) for p in discarded or () if isinstance(p, list | tuple) and len(p) == 2]

    def discarded(self) -> dict[str, frozenset[str]]:
        """By item id, why the parser discarded pieces of the text, except what may surround an answer. Items that lost nothing
        are missing."""
        lost = {item.id: losses(self.pieces(item)) for item in self.items}
        return {item_id: reasons for item_id, reasons in lost.items() if reasons}

    def off_board(self) -> dict[str, int]:
        """By item id, how many pieces of the answer's text were discarded for lying off the board."""
        lost = {item.id: sum(why.endswith(OFF_THE_BOARD) for _, why in self.pieces(item)) for item in self.items}
        return {item_id: count for item_id, count in lost.items() if count and item_id not in self.predictions.errors}


class Chosen(NamedTuple):
    """What a benchmark scores: the items, with its gold states, and the ids that allow several interpretations."""

    items: Sequence[Any]
    multiple: Set[str]
    benchmark: str
    annotation: str | None
    """Whose annotation chose the items; None if no annotation did."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """How to score Minecraft: legacy, fair or v2 with an annotation file (the one that ships with the harness if None).

    Without a name: fair (the paper's fairer F1) for simulated games, whose empty-board items all have several right answers
    (BAP v2, footnote 6), and legacy for others.
    """

    name: str | None = None
    annotation: Path | None = None

    def __post_init__(self) -> None:
        if self.annotation and self.name != "v2":
            raise UsageError("--annotation is for --benchmark v2 only")

    def of(self, answers: Answers) -> tuple[str, Annotation | None]:
        """The benchmark's name and annotation for these answers. Raises UsageError as `check` does."""
        self.check(answers.task, answers.split)
        name = self.name or ("fair" if answers.simulated else "legacy")
        if name != "v2":
            return name, None
        return name, read_annotation(self.annotation, answers.items) if self.annotation else our_annotation(answers.items)

    def check(self, task: str, split: str) -> None:
        """Raises UsageError for an unknown benchmark, and for what is not for the task or the split."""
        if self.name and get_task(task).scoring != "minecraft":
            raise UsageError(f"--benchmark is for minecraft; {task} has one set of scores")
        choose("benchmark", self.name or "legacy", BENCHMARKS)
        if self.name == "v2" and not self.annotation and (split != "test" or corpora.locate(task).kind != "official"):
            raise UsageError(
                "--benchmark v2: the annotation that ships covers the official test split only, which HARNESS_DATA must have; "
                "give --annotation FILE for other items"
            )

    def choose(self, answers: Answers) -> Chosen:
        """What the benchmark scores."""
        name, annotation = self.of(answers)
        items, multiple = answers.items, frozenset[str]()
        if annotation:
            # Before the selection: the repair of an item looks at those after it.
            items, multiple = clean_set(items, annotation)
        elif name == "fair":
            multiple = empty_boards(items)
        kept = [item for item in items if answers.only is None or item.id in answers.only]
        return Chosen(kept, multiple, name, annotation.name if annotation else None)


def read_answers(path: Path, *, items_file: Path | None = None) -> Answers:
    """A predictions file, or a run given by its folder or name; of a run in progress, a half-written last line is left out.

    `items_file` holds the items if they are not from a corpus; a run records it. A run is scored on the items that it was asked
    for, a file on the whole split. Raises DataError, with the line, for an invalid file or for items that have changed since the
    run, and UsageError if nothing tells the task and the split.
    """
    file = path if path.is_file() else find_run(str(path)) / "predictions.jsonl"
    settings = {} if path.is_file() else described(file.parent) or {}
    records = read_records(file, partial=not path.is_file())
    if items_file := items_file or settings.get("items_file"):
        items = load_items(Path(items_file), settings.get("task"))
        task, split = items[0].task, Path(items_file).name
    else:
        task, split = _task_and_split(file, records, settings)
        items = corpora.load(task, split)
    _check_items(file.parent, settings, items)
    only = {item.id for item in items[: settings["limit"]]} if settings.get("limit") else None
    name = file.name if path.is_file() else file.resolve().parent.name
    return decoded(name, file, records, items, (task, split), settings, only)


def decoded(
    name: str,
    file: Path,
    records: Sequence[Record],
    items: Sequence[Item],
    task_and_split: tuple[str, str],
    settings: Mapping[str, Any] = MappingProxyType({}),
    only: Set[str] | None = None,
) -> Answers:
    """The answers in the records of a file to some items. Raises DataError as `eval.predictions.decode` does."""
    task, split = task_and_split
    predictions = decode(file, records, task, {item.id for item in items}, reader(items))
    if get_task(task).judged:
        items = as_judged(items, predictions.actions)
    return Answers(name, file, settings, {r.id: r.fields for r in records}, task, split, items, only, predictions)


def _check_items(folder: Path, settings: Mapping[str, Any], items: Sequence[Item]) -> None:
    """Raises DataError if the items have changed since the run answered them: its scores would be right for neither version."""
    answered = settings.get("data_hash")
    if answered and answered != (now := items_hash(items[: settings.get("limit")])):
        raise DataError(
            f"{folder} answered other items than there are now (data_hash {answered}, now {now}): score it with the data "
            f"that it was run on, or run it again; {folder / 'predictions.jsonl'} by itself is scored on any data"
        )


def score_answers(answers: Answers, benchmark: Benchmark | None = None, *, rollout: bool = False) -> dict[str, Any]:
    """The scores that `harness score --json` prints. For simulated games, "simulated" names the simulators; for several answers
    an item, "samples" has what `eval.samples.sample_scores` returns.

    `rollout` adds HEXAGONS boards drawn on predicted boards.
    """
    chosen = (benchmark or Benchmark()).choose(answers)
    scores = score(
        answers.task,
        answers.split,
        chosen.items,
        answers.predictions,
        multiple=chosen.multiple,
        benchmark=chosen.benchmark,
        annotation=chosen.annotation,
        discarded=answers.off_board(),
        rollout=rollout,
    )
    if samples := sample_scores(chosen.items, answers.records, answers.settings, chosen.multiple):
        scores["samples"] = samples
    if answers.simulated:
        scores["simulated"] = list(answers.simulated)
    return scores


def _task_and_split(file: Path, records: Sequence[Record], settings: Mapping[str, Any]) -> tuple[str, str]:
    """The task and the split of all ids or, if there are none, of the run. Raises DataError, with the line, for ids of no corpus
    and of two splits, and UsageError if nothing determines the two."""
    pair: tuple[str, str] | None = None
    for record in records:
        task, split = f"{record.id}/".split("/")[:2]
        if split not in corpora.SPLITS.get(task, ()):
            splits = ", ".join(f"{name}/{part}" for name, parts in corpora.SPLITS.items() for part in parts)
            raise DataError(f"{file}:{record.line}: no corpus has {record.id!r}; known: {splits}; or give --items FILE")
        if pair and pair != (task, split):
            raise DataError(f"{file}:{record.line}: an item of {task}/{split} after items of {'/'.join(pair)}; score each alone")
        pair = task, split
    if pair:
        return pair
    if not {"task", "split"} <= settings.keys():
        raise UsageError(f"{file} holds no predictions to tell the task and the split from")
    return settings["task"], corpora.split_name(settings["task"], settings["split"])


def score_items(answers: Answers, benchmark: Benchmark | None = None) -> list[ItemScore]:
    """The scores of each item that the benchmark has, with the classes of its errors."""
    chosen = (benchmark or Benchmark()).choose(answers)
    return item_scores(answers.task, chosen.items, answers.predictions, multiple=chosen.multiple, discarded=answers.discarded())


def read_named(paths: Sequence[Path]) -> dict[str, Answers]:
    """Runs by name, or by path if two share a name. Raises UsageError for a repeated run."""
    read = [read_answers(path) for path in paths]
    short = [answers.name for answers in read]
    names = [name if short.count(name) == 1 else str(path) for name, path in zip(short, paths, strict=True)]
    if len(set(names)) < len(names):
        raise UsageError(f"{max(names, key=names.count)} is given twice")
    return dict(zip(names, read, strict=True))


def read_runs(paths: Sequence[Path], *, intersect: bool = False) -> dict[str, Answers]:
    """Runs over the same items as `read_named` gives them, each restricted to the items that all answered; a single run keeps all
    items that it was asked for.

    Raises UsageError as `read_named` does, for runs of different tasks or splits and, unless `intersect`, if one has items that
    another lacks.
    """
    runs = read_named(paths)
    if len(runs) < 2:
        return runs
    first, *others = runs.values()
    for other in others:
        if (other.task, other.split) != (first.task, first.split):
            raise UsageError(
                f"{first.name} answers {first.task}/{first.split} and {other.name} {other.task}/{other.split}: only runs over "
                "the same items can be compared"
            )
    common = frozenset.intersection(*(frozenset(run.records) for run in runs.values()))
    for name, run in runs.items():
        for rival in () if intersect else runs.values():
            if lacking := sorted(rival.records.keys() - run.records.keys()):
                raise UsageError(
                    f"the runs hold different items: {name} lacks {len(lacking)} that another has ({', '.join(lacking[:3])}); "
                    f"--intersect compares the {len(common)} that all have"
                )
    if not common:
        raise UsageError(f"{' and '.join(runs)} have no item in common")
    return {name: replace(answers, name=name, only=common) for name, answers in runs.items()}
