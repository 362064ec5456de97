"""Programs written for train items by reading their words: what models learn to answer, and what examples show.

A file of them is JSON Lines, {"id", "program", "exact", "mark"}. `exact` says that running the program changes the item's state
as the gold actions do. `mark` is left out, or "differs": faithful to the words, but gold deviates from them; or "gold": the words
do not determine gold, and the program lists its cells. The shipped files hold programs for train items of the published corpora.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Literal, NamedTuple

from harness.corpora import load, locate
from harness.corpora.archive import CorpusRecord, read_json
from harness.corpora.item import Executed, HexagonsItem, Item, own_program
from harness.errors import DataError
from harness.tasks.registry import TASKS, world_of
from harness.util.files import json_lines
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import net_actions
from serialization.formats.answer import NOTHING, Parsed, answer_in
from serialization.program.errors import ProgramError
from serialization.program.parse import parse_front

SHIPPED = Path(__file__).parent / "programs"
"""A file for each task, and the data card."""
MARK = "mark"
"""The key of an item's `meta` that holds the mark of its program."""

TAKEN = "items with their own program"
CELLS = "items with their cells"
MISSING = "left out without a program"
UNDETERMINED = "left out because their words do not determine gold"
WRONG = "left out because their program does not do what gold does"
_COUNTED = (TAKEN, CELLS, MISSING, UNDETERMINED, WRONG)


Mark = Literal["differs", "gold"]


class Annotation(NamedTuple):
    """A program for an item."""

    program: str
    mark: Mark | None = None


class _Line(CorpusRecord):
    id: str
    program: str
    mark: Mark | None = None


@cache
def shipped_annotations(task: str) -> Mapping[str, Annotation]:
    """The shipped programs of a task's train items, by id; none if this machine has only the sample of its corpus."""
    path = SHIPPED / f"{task}.jsonl"
    if not path.is_file() or locate(task).kind != "official":
        return {}
    return {name: annotation for _, name, annotation in read_annotations(path)}


def read_annotations(path: Path) -> Iterator[tuple[str, str, Annotation]]:
    """The lines of a file, in order: the place (`file:line`), the item's id and its annotation. Raises DataError for a file that
    cannot be read and, with the place, for a line that is not an annotation, a program that does not parse and a repeated id."""
    seen = set[str]()
    for number, line in json_lines(path):
        where = f"{path}:{number}"
        record = read_json(_Line, line, where, 'a line is {"id": ..., "program": ..., "mark": "differs", "gold" or none}')
        if record.id in seen:
            raise DataError(f"{where}: {record.id} has a program already: keep one of the two")
        seen.add(record.id)
        if error := _error(record.program):
            raise DataError(f"{where}: {record.id}: its program does not parse: {error}")
        yield where, record.id, Annotation(record.program, record.mark)


def _error(program: str) -> ProgramError | None:
    return parse_front("" if program.strip() == NOTHING else program)[1]


def checked_annotations(path: Path, world: str | None = None) -> Iterator[tuple[str, Item, Annotation]]:
    """The lines of a file of programs for train items of a world, or of all worlds, with their places and items.

    Raises DataError, with the place, for an id that is no such item, and as `read_annotations` does.
    """
    for where, name, annotation in read_annotations(path):
        task, _, rest = name.partition("/")
        split = rest.partition("/")[0]
        if task not in TASKS:
            raise DataError(f"{where}: {name} is of no task: {', '.join(TASKS)}")
        if world not in (None, world_of(task)):
            raise DataError(f"{where}: {name} is an item of {task}, which is another world: leave it out")
        if split != "train":
            raise DataError(f"{where}: {name} is an item of {split}: programs are for train items only, leave it out")
        if name not in (known := _train_items(task)):
            raise DataError(f"{where}: {name} is no train item of the {locate(task).kind} corpus")
        yield where, known[name], annotation


@cache
def _train_items(task: str) -> Mapping[str, Item]:
    return {item.id: item for item in load(task, "train")} if "train" in TASKS[task].splits else {}


def given_annotations(paths: Iterable[Path], task: str) -> dict[str, Annotation]:
    """The programs in the files of --programs, by item id. Raises DataError as `checked_annotations` does for its world."""
    return {item.id: own for path in paths for _, item, own in checked_annotations(path, world_of(task))}


def annotated(items: Iterable[Item], annotations: Mapping[str, Annotation]) -> list[Item]:
    """The items, those that have an annotation with their program and its mark."""
    return [
        replace(item, meta={**item.meta, "program": own.program, MARK: own.mark}) if (own := annotations.get(item.id)) else item
        for item in items
    ]


def with_earlier_programs(items: Sequence[Item]) -> list[Item]:
    """The items; the history of a drawing step holds the exact programs of the earlier steps, which come before it in `items`.

    In building, earlier turns stay as they are: in the corpora, people acted in them and wrote no programs.
    """
    made: list[Item] = []
    cluster, programs = "", dict[int, str]()
    for item in items:
        if item.cluster != cluster:
            cluster, programs = item.cluster, {}
        if isinstance(item, HexagonsItem):
            earlier = count()
            history = (
                t._replace(text=programs.get(next(earlier), t.text)) if isinstance(t, Executed) else t for t in item.history
            )
            made.append(replace(item, history=tuple(history)))
            if not item.meta.get(MARK):
                programs.setdefault(next(earlier), own_program(item) or "")
        else:
            made.append(item)
    return made


def same_change(item: Item, parsed: Parsed) -> bool:
    """Whether an answer was read without an error and changes the item's state as gold does. The order of actions, the colors of
    removals, and what is placed and taken away again do not count."""
    return not parsed.discarded and not any(deviations(item, parsed.actions))


def reproducing(item: Item, texts: Iterable[str], read: Callable[[str, Item], Parsed]) -> str | None:
    """Of the answers to an item that do what gold does, the program that was given most often, and of these the shortest."""
    said = Counter(answer_in(text).text.strip() for text in texts)
    right = [text for text in said if not _error(text) and same_change(item, read(text, item))]
    return min(right, key=lambda text: (-said[text], len(text), text), default=None)


def deviations(item: Item, actions: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The net changes that gold makes and some actions do not, and those that the actions make and gold does not."""
    apply: Callable[[Any], Any] = item.before.apply
    made, ignored = apply(actions)
    done, gold = _net(item.before, made), _net(item.before, item.after)
    return sorted(gold - done), [*sorted(done - gold), *ignored]


def _net(before: Any, after: Any) -> set[Any]:
    return set(before.diff(after) if isinstance(before, Board) else net_actions(before, after))


@dataclass
class ProgramAnswers:
    """Gives train items their programs, decides from which items a model learns if answers are programs, and counts these.

    A model learns from an item with its own program, provided that the program changes the state as gold does or is marked
    "differs". An item whose program is marked "gold" is left out; so is one without a program, unless `cells` is set: then a
    model also learns answers that list cells.
    """

    read: Callable[[str, Item], Parsed]
    """Reads an answer to an item."""
    given: Mapping[str, Annotation] = field(default_factory=dict)
    """Programs by item id, in addition to the shipped ones and in their place."""
    cells: bool = False
    counts: Counter[str] = field(default_factory=Counter)

    def of_split(self, items: Iterable[Item], task: str) -> Sequence[Item]:
        """Items of a task's train split with their programs. Without any program, as for a corpus that has none, answers list
        cells."""
        annotations = {**shipped_annotations(task), **self.given}
        own = annotated(items, annotations)
        self.cells = self.cells or not any(map(own_program, own))
        return with_earlier_programs(own)

    def takes(self, item: Item, *, checked: bool) -> bool:
        """`checked`: a program without a mark is known to be right and is not run, unless it was given."""
        reason = self._reason(item, checked and item.id not in self.given)
        self.counts[reason] += 1
        return reason in (TAKEN, CELLS)

    def _reason(self, item: Item, checked: bool) -> str:
        program, mark = own_program(item), item.meta.get(MARK)
        if program is None:
            return CELLS if self.cells else MISSING
        if mark == "gold":
            return UNDETERMINED
        return TAKEN if checked or mark == "differs" or same_change(item, self.read(program, item)) else WRONG

    def __str__(self) -> str:
        return ", ".join(f"{self.counts[reason]:,} {reason}" for reason in _COUNTED if self.counts[reason])
