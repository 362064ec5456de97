"""From a predictions file or a run to its items and its predictions. No model is needed."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.items import Counts, sizes
from eval.predictions import Actions, Predictions, Record, read_records, recorded_actions
from harness import corpora
from harness.corpora.item import Item, items_hash
from harness.corpora.records import load_items
from harness.errors import DataError, HarnessError, UsageError
from harness.everyday.judge import as_judged, is_right
from harness.runs.folder import described, find_run
from harness.simulators import ARCHITECTS
from harness.tasks.registry import TASKS
from serialization.formats import get_format
from serialization.formats.answer import Parsed

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
    else:
        items = corpora.load(*_task_and_split(file, records, settings))
    _check_items(file.parent, settings, items)
    name = file.name if path.is_file() else file.resolve().parent.name
    return answers_to(items, items_file, name, file, records, settings)


def answers_to(
    items: Sequence[Item],
    items_file: Path | str | None,
    name: str,
    file: Path,
    records: Sequence[Record],
    settings: Mapping[str, Any],
) -> Answers:
    """The answers in the records of a file to the items of a split or of `items_file`. Raises DataError as `decode` does."""
    predictions, task = decode(file, records, items), items[0].task
    split = Path(items_file).name if items_file else items[0].split
    only = {item.id for item in items[: settings["limit"]]} if settings.get("limit") else None
    met = as_judged(items, predictions.actions) if TASKS[task].judged else items
    return Answers(name, file, settings, {r.id: r.fields for r in records}, task, split, met, only, predictions)


def decode(file: Path, records: Iterable[Record], items: Iterable[Item]) -> Predictions:
    """What the records of a file, which must all be of these items, predict.

    Raises DataError with file and line for an unknown id, actions of another form, a record without a prediction, and an unknown
    format.
    """
    known = {item.id: item for item in items}
    actions, discarded, errors = {}, {}, set()
    for record in records:
        if record.id not in known:
            raise DataError(f"{file}:{record.line}: unknown id {record.id!r}: not one of the {len(known)} items of its split")
        if record.fields.get("error"):
            errors.add(record.id)
            continue
        try:
            actions[record.id], discarded[record.id] = _read(record.fields, known[record.id])
        except HarnessError as error:
            raise DataError(f"{file}:{record.line}: {error}") from error
    return Predictions(actions, frozenset(errors), discarded)


def _read(fields: Mapping[str, Any], item: Item) -> tuple[Actions, list[tuple[str, str]]]:
    """The actions of a record, and the pieces of its text that were discarded, and why; what was not recorded is read from the
    text."""
    text, name, discarded = fields.get("text"), fields.get("format"), fields.get("discarded")
    parsed = Parsed((), ())
    if isinstance(text, str) and isinstance(name, str):
        if "actions" not in fields or discarded is None:
            parsed = get_format(item.task, name).read(text, item)
    elif "actions" not in fields:
        raise DataError('neither "actions" nor the strings "text" and "format"')
    actions = recorded_actions(fields["actions"], item.world) if "actions" in fields else parsed.actions
    pieces = discarded if isinstance(discarded, list) else parsed.discarded
    return actions, [(str(p[0]), str(p[1])) for p in pieces if isinstance(p, list | tuple) and len(p) == 2]


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


def _check_items(folder: Path, settings: Mapping[str, Any], items: Sequence[Item]) -> None:
    """Raises DataError if the items have changed since the run answered them: its scores would be right for neither version."""
    answered = settings.get("data_hash")
    if answered and answered != (now := items_hash(items[: settings.get("limit")])):
        raise DataError(
            f"{folder} answered other items than there are now (data_hash {answered}, now {now}): score it with the data "
            f"that it was run on, or run it again; {folder / 'predictions.jsonl'} by itself is scored on any data"
        )


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


def answer_size(item: Item, actions: Sequence[Any]) -> Counts:
    """How much of one answer to an item is right, strictly. A turn of a judged task is judged in the state before it."""
    if TASKS[item.task].judged:
        return Counts(item.task, 1, 1, int(is_right(item, actions)))
    return sizes(item.task, [item], [actions])[0]
