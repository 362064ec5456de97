"""The loop in which a person judges Minecraft items one by one (the protocol of BAP v2, section 3.1), and the annotation file.

The file has one writer at a time, and every judgment is on disk before the next one is asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eval.annotation import Judgment, read_annotation
from harness.corpora.item import MinecraftItem, Turn, Utterance
from harness.drawing.items import states_beside
from harness.drawing.terminal import counted, printable, written
from harness.errors import HarnessError
from harness.util.files import hold, json_line, read_lines, write_atomically

_FOLD = 8
"""How many turns are shown at first, and how many following turns each key press adds."""
_CONTEXTS = {"u": "unique", "m": "multiple", "x": "unclear"}
_CORRECT = {"y": "correct", "n": "incorrect"}
_MOVES = {"b": "back", "s": "skipped", "q": "quit"}
HELP = """\
Context: do the dialogue and the structure BEFORE the builder's actions tell
what to build? What comes afterwards does not count.
  u unique    yes, and in one way
  m multiple  yes, in several places or directions (empty boards only)
  x unclear   no, the builder has to guess; correctness is not asked then
Correct: is the structure AFTER the actions what was asked for? What follows
may tell: the key f shows whether the Architect corrects the builder.
  y correct   n incorrect
Always:
  h the whole history    f what follows, and more of it
  r a reason, kept with the judgment
  b back one question or item    s skip the item    q quit (or Ctrl-D)
Every judgment is saved at once; the same command continues where you quit."""


class AnnotationFile:
    """The judgments of a file, and how to add to them. `open_annotation` makes one."""

    def __init__(self, path: Path, items: Sequence[MinecraftItem]) -> None:
        self.path = path
        self._order = [item.id for item in items]
        self.judgments: dict[str, Judgment] = {}
        if path.exists():
            self.judgments.update(read_annotation(path, items, partial=True).judgments)
            if read_lines(path).torn:
                self._rewrite()

    def record(self, judgment: Judgment) -> None:
        """Append the judgment, or rewrite the file if it replaces an earlier one. Raises HarnessError if that fails."""
        judged = judgment.id in self.judgments
        self.judgments[judgment.id] = judgment
        if judged:
            self._rewrite()
            return
        try:
            with self.path.open("a", encoding="ascii") as file:
                file.write(json_line(judgment.as_json()))
        except OSError as error:
            raise HarnessError(f"{self.path}: cannot be written: {error.strerror}") from error

    def sort(self) -> None:
        """Put the file in the order of the items, which skipping and going back may have changed."""
        if list(self.judgments) != [item for item in self._order if item in self.judgments]:
            self._rewrite()

    def _rewrite(self) -> None:
        self.judgments = {item: self.judgments[item] for item in self._order if item in self.judgments}
        write_atomically(self.path, "".join(json_line(judgment.as_json()) for judgment in self.judgments.values()))


@contextmanager
def open_annotation(path: Path, items: Sequence[MinecraftItem]) -> Iterator[AnnotationFile]:
    """The file at `path`, created with the first judgment, locked against other writers.

    An incomplete last line, which a killed process leaves, is dropped. Raises HarnessError if another process holds the file, and
    DataError, as `eval.annotation.read_annotation` does, for faults in the file.
    """
    busy = f"{path} is being written by another harness annotate; end that one, or choose another --out"
    lock = hold(path.with_name(f".{path.name}.lock"), busy)
    try:
        yield AnnotationFile(path, items)
    finally:
        lock.release()


@dataclass
class Loop:
    """The loop, with the items to judge, the person who judges them, and the terminal to ask in.

    `read_key` returns the next key, `read_line` shows a text and returns a line; EOFError from either means quit. `following`
    returns the turns after an item.
    """

    items: Sequence[MinecraftItem]
    file: AnnotationFile
    annotator: str
    following: Callable[[MinecraftItem], Sequence[Turn]]
    console: Console
    read_key: Callable[[], str]
    read_line: Callable[[str], str]
    _reason: str = field(default="", init=False)
    _seen: int = field(default=0, init=False)

    def run(self, *, again: bool = False) -> None:
        """Ask from the first unjudged item (`again`: from the first item) to the end, or until the person quits."""
        place = 0 if again else self._open_from(0)
        while place < len(self.items):
            try:
                answer = self._ask(place)
            except EOFError:
                answer = "q"
            if isinstance(answer, Judgment):
                self.file.record(answer)
            elif answer == "q":
                break
            place = max(place - 1, 0) if answer == "b" else self._open_from(place + 1)
        self._end()

    def _open_from(self, place: int) -> int:
        """The index of the first unjudged item from `place` on."""
        unjudged = (n for n in range(place, len(self.items)) if self.items[n].id not in self.file.judgments)
        return next(unjudged, len(self.items))

    def _judged(self) -> int:
        return sum(item.id in self.file.judgments for item in self.items)

    def _end(self) -> None:
        judged = self._judged()
        if judged == len(self.items):
            self.file.sort()
        rest = f"; {len(self.items) - judged:,} left: the same command continues with them" if judged < len(self.items) else ""
        self.console.print(f"\n{judged:,} of {len(self.items):,} judged{rest}\n{self.file.path}", soft_wrap=True)

    def _ask(self, place: int) -> Judgment | str:
        """The judgment of an item, or the key of a move: b, s or q."""
        item = self.items[place]
        earlier = self.file.judgments.get(item.id)
        self._reason, self._seen = earlier.reason if earlier else "", 0
        contexts = {key: word for key, word in _CONTEXTS.items() if key != "m" or not len(item.before)}
        self._show(place)
        while True:
            key = self._choose(item, "Context before?", contexts)
            if key in _MOVES:
                return key
            if key == "x":
                return Judgment(item.id, _CONTEXTS[key], None, self.annotator, self._reason)
            answer = self._choose(item, "Structure after?", _CORRECT)
            if answer in _CORRECT:
                return Judgment(item.id, _CONTEXTS[key], answer == "y", self.annotator, self._reason)
            if answer != "b":
                return answer

    def _choose(self, item: MinecraftItem, question: str, answers: Mapping[str, str]) -> str:
        """The first key pressed that is in `answers` or `_MOVES`; all other keys are handled here."""
        choices = "  ".join(f"{key} {word}" for key, word in answers.items())
        while True:
            self.console.print(Text.assemble("\n", (question, "bold"), f"  {choices}  ", ("h f r b s q  ? help", "dim")))
            key = self.read_key().lower()
            if word := answers.get(key) or _MOVES.get(key):
                self._say(word)
                return key
            match key:
                case "h":
                    self.console.print(_dialogue(item.history))
                case "f":
                    self._follow(item)
                case "r":
                    self._ask_reason()
                case "?":
                    self.console.print(HELP)
                case "m" if len(item.before):
                    self._say("m is for items with an empty board; this one has blocks before")
                case _:
                    self._say(f"{printable(key) or 'that'} is not a key here; ? lists them")

    def _ask_reason(self) -> None:
        now = f" (now: {printable(self._reason)}; empty removes it)" if self._reason else ""
        self._reason = printable(self.read_line(f"Reason{now}: "))

    def _follow(self, item: MinecraftItem) -> None:
        turns = self.following(item)
        self.console.print(_dialogue(turns[self._seen : self._seen + _FOLD]))
        self._seen = min(self._seen + _FOLD, len(turns))
        rest = len(turns) - self._seen
        self._say(f"{rest} more turns follow: f shows them" if rest else "the game ends here")

    def _say(self, text: str) -> None:
        self.console.print(f"> {text}", style="dim")

    def _show(self, place: int) -> None:
        item, console = self.items[place], self.console
        games = list(dict.fromkeys(item.cluster for item in self.items))
        share, game = 100 * self._judged() / len(self.items), games.index(item.cluster) + 1
        console.print()
        console.rule(Text(item.id, "bold"), align="left")
        console.print(f"item {place + 1:,} of {len(self.items):,}, {share:.1f}% judged, game {game} of {len(games)}\n")
        if (hidden := len(item.history) - _FOLD) > 0:
            console.print(f"{hidden} earlier turns: h shows them", style="dim")
        console.print(_dialogue(item.history[-_FOLD:]))
        console.print()
        console.print(states_beside(item, console.width))
        console.print(f"The builder did {counted(item.actions)}: {written(item.task, item.actions)}")
        if earlier := self.file.judgments.get(item.id):
            reason = f" ({printable(earlier.reason)})" if earlier.reason else ""
            name = printable(earlier.annotator) or "no name"
            console.print(f"judged before: {name}: {earlier.label}{reason}", style="bold")


def keys(read: Callable[[], str]) -> Callable[[], str]:
    """A function that returns one key per call. `read` reads a terminal in raw mode, and returns several keys if typed ahead.

    An escape sequence is one key. Raises KeyboardInterrupt for Ctrl-C, and EOFError for Ctrl-D and if the terminal is gone.
    """
    waiting: deque[str] = deque()

    def read_key() -> str:
        if not waiting:
            typed = read()
            waiting.extend([typed] if typed.startswith("\x1b") else typed)
        key = waiting.popleft() if waiting else ""
        if key == "\x03":
            raise KeyboardInterrupt
        if key in ("", "\x04"):
            raise EOFError
        return key

    return read_key


def _dialogue(turns: Sequence[Turn]) -> Table:
    """What was said and done, with a column for the speakers."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for turn in turns:
        if isinstance(turn, Utterance):
            table.add_row(Text(turn.speaker, "bold" if turn.speaker == "Architect" else ""), Text(printable(turn.text)))
        else:
            table.add_row(Text("Builder", "dim"), Text(f"> {written('minecraft', turn.actions)}", "dim"))
    return table
