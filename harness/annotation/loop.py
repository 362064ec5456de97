"""The loops in which a person annotates items one by one in the terminal, and the file that they write.

Minecraft items are judged for the v2 benchmark (the protocol of BAP v2, section 3.1); drawing steps get the labels of a scheme
(`eval.schemes`). The file has one writer at a time, and every annotation is on disk before the next item is shown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eval.annotation import Judgment
from eval.schemes import Scheme, StepLabels
from harness.corpora.item import HexagonsItem, Item, MinecraftItem, Turn, Utterance
from harness.drawing.items import states_text
from harness.drawing.terminal import counted, printable, written
from harness.util.files import hold, json_line, write_atomically

FOLD = 8
"""How many turns are shown at first."""
MOVES = {"b": "back", "s": "skipped", "q": "quit"}
_MOVES_HELP = "  h the whole history    b back one question or item    s skip the item    q quit (or Ctrl-D)"

A = TypeVar("A", Judgment, StepLabels)
ItemType = TypeVar("ItemType", bound=Item)


@dataclass
class AnnotationFile(Generic[A]):
    """The annotations of a file by item id, and how to add to them. `order` has the ids in the order of the file."""

    path: Path
    order: Sequence[str]
    annotations: dict[str, A]
    as_json: Callable[[A], Mapping[str, Any]]

    def record(self, annotation: A) -> None:
        """Add an annotation, or replace an earlier one of the item. Raises HarnessError if the file cannot be written."""
        self.annotations[annotation.id] = annotation
        ordered = (self.annotations[item] for item in self.order if item in self.annotations)
        write_atomically(self.path, "".join(json_line(self.as_json(one)) for one in ordered))


@contextmanager
def open_annotation(
    path: Path, items: Sequence[Item], read: Callable[[Path], Mapping[str, A]], as_json: Callable[[A], Mapping[str, Any]]
) -> Iterator[AnnotationFile[A]]:
    """The file at `path`, created with the first annotation, locked against other writers.

    Raises HarnessError if another process holds the file, and what `read` raises.
    """
    busy = f"{path} is being written by another harness annotate; end that one, or choose another --out"
    lock = hold(path.with_name(f".{path.name}.lock"), busy)
    try:
        yield AnnotationFile(path, [item.id for item in items], dict(read(path)) if path.exists() else {}, as_json)
    finally:
        lock.release()


@dataclass
class Loop(ABC, Generic[ItemType, A]):
    """The items to annotate, the person who annotates them, and the terminal to ask in.

    `read_key` returns the next key, like `click.getchar`; EOFError means quit. `turns` are the keys that show turns of an item.
    """

    items: Sequence[ItemType]
    file: AnnotationFile[A]
    annotator: str
    console: Console
    read_key: Callable[[], str]
    turns: Mapping[str, Callable[[ItemType], Sequence[Turn]]]

    done: ClassVar[str]
    """What an item with an annotation is: judged, labeled."""

    def run(self) -> None:
        """Ask from the first item without an annotation to the end, or until the person quits."""
        place = self._open_from(0)
        while place < len(self.items):
            self._show(place)
            try:
                answer = self.ask(self.items[place])
            except EOFError:
                break
            if answer == "q":
                break
            if not isinstance(answer, str):
                self.file.record(answer)
            place = max(place - 1, 0) if answer == "b" else self._open_from(place + 1)
        left = len(self.items) - self._count()
        rest = f"; {left:,} left: the same command continues with them" if left else ""
        counts = f"\n{self._count():,} of {len(self.items):,} {self.done}{rest}\n{self.file.path}"
        self.console.print(counts, soft_wrap=True)

    @abstractmethod
    def ask(self, item: ItemType) -> A | str:
        """The annotation of an item, or the key of a move: b, s or q."""

    @abstractmethod
    def explain(self) -> str:
        """What the keys of the answers mean."""

    def choose(self, item: ItemType, question: str, answers: Mapping[str, str]) -> str:
        """The first key pressed that is in `answers` or `MOVES`; all other keys are handled here."""
        choices = "  ".join(f"{'Enter' if key == chr(13) else key} {word}" for key, word in answers.items())
        others = f"{' '.join(self.turns)} b s q  ? help"
        while True:
            self.console.print(Text.assemble("\n", (question, "bold"), f"  {choices}  ", (others, "dim")))
            key = self.read_key().lower().replace("\n", "\r")
            if not key:  # The terminal is gone.
                raise EOFError
            if word := answers.get(key) or MOVES.get(key):
                self.say(word)
                return key
            if key in self.turns:
                self.console.print(dialogue(self.turns[key](item), item.world))
            elif key == "?":
                self.console.print(f"{self.explain()}\n{_MOVES_HELP}")
            else:
                self.say(f"{printable(key) or 'that'} is not a key here; ? lists them")

    def say(self, text: str) -> None:
        self.console.print(f"> {text}", style="dim")

    def _open_from(self, place: int) -> int:
        """The index of the first item without an annotation from `place` on."""
        known = self.file.annotations
        return next((n for n in range(place, len(self.items)) if self.items[n].id not in known), len(self.items))

    def _count(self) -> int:
        return sum(item.id in self.file.annotations for item in self.items)

    def _show(self, place: int) -> None:
        """Print which item this is, the turns before it, its states, and what was annotated before."""
        item, console = self.items[place], self.console
        console.print()
        console.rule(Text(item.id, "bold"), align="left")
        console.print(f"item {place + 1:,} of {len(self.items):,}, {100 * self._count() / len(self.items):.1f}% {self.done}\n")
        if (hidden := len(item.history) - FOLD) > 0:
            console.print(f"{hidden} earlier turns: h shows them", style="dim")
        console.print(dialogue(item.history[-FOLD:], item.world))
        if isinstance(item, HexagonsItem):
            console.print(Text(f"Instruction: {printable(item.instruction)}", "bold"))
        console.print()
        console.print(states_text(item))
        console.print(f"What was done, {counted(item.actions)}: {written(item.task, item.actions)}")
        if earlier := self.file.annotations.get(item.id):
            name = printable(earlier.annotator) or "no name"
            console.print(f"{self.done} before: {name}: {earlier.label}", style="bold")


_CONTEXTS = {"u": "unique", "m": "multiple", "x": "unclear"}
_CORRECT = {"y": "correct", "n": "incorrect"}
_HELP = """\
Context: do the dialogue and the structure BEFORE the builder's actions tell
what to build? What comes afterwards does not count.
  u unique    yes, and in one way
  m multiple  yes, in several places or directions (empty boards only)
  x unclear   no, the builder has to guess; correctness is not asked then
Correct: is the structure AFTER the actions what was asked for? What follows
may tell: the key f shows whether the Architect corrects the builder.
  y correct   n incorrect"""


class JudgingLoop(Loop[MinecraftItem, Judgment]):
    """The loop over items to judge."""

    done = "judged"

    def explain(self) -> str:
        return _HELP

    def ask(self, item: MinecraftItem) -> Judgment | str:
        contexts = {key: word for key, word in _CONTEXTS.items() if key != "m" or not len(item.before)}
        while True:
            key = self.choose(item, "Context before?", contexts)
            if key in MOVES:
                return key
            if key == "x":
                return Judgment(item.id, contexts[key], None, self.annotator)
            answer = self.choose(item, "Structure after?", _CORRECT)
            if answer in _CORRECT:
                return Judgment(item.id, contexts[key], answer == "y", self.annotator)
            if answer != "b":
                return answer


@dataclass
class LabelingLoop(Loop[HexagonsItem, StepLabels]):
    """The loop over steps to label by a scheme."""

    scheme: Scheme
    done: ClassVar[str] = "labeled"

    def explain(self) -> str:
        several = "" if self.scheme.exclusive else "\n  A key adds one occurrence; Enter ends the step, x removes all its labels."
        return "\n".join(f"  {about.key} {label}: {about.means}" for label, about in self.scheme.labels.items()) + several

    def ask(self, item: HexagonsItem) -> StepLabels | str:
        by_key = {about.key: label for label, about in self.scheme.labels.items()}
        earlier = self.file.annotations.get(item.id)
        counts = Counter(earlier.labels if earlier and not self.scheme.exclusive else {})
        while True:
            key = self.choose(item, "Labels?", by_key if self.scheme.exclusive else by_key | {"\r": "done", "x": "none"})
            if key in MOVES:
                return key
            counts = Counter() if key == "x" else counts + Counter({by_key[key]: 1}) if key in by_key else counts
            labels = {label: counts[label] for label in self.scheme.labels if counts[label]}
            given = StepLabels(item.id, labels, self.annotator)
            if key == "\r" or self.scheme.exclusive:
                return given
            self.say(given.label)


def dialogue(turns: Sequence[Turn], world: str) -> Table:
    """What was said and done, with a column for the speakers."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for turn in turns:
        if isinstance(turn, Utterance):
            table.add_row(Text(turn.speaker, "" if turn.speaker == "Builder" else "bold"), Text(printable(turn.text)))
        else:
            doer = "Builder" if world == "minecraft" else ""
            table.add_row(Text(doer, "dim"), Text(f"> {written(world, turn.actions)}", "dim"))
    return table
