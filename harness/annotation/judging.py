"""The loop in which a person judges Minecraft items one by one (the protocol of BAP v2, section 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from rich.text import Text

from eval.annotation import Judgment
from harness.annotation.loop import FOLD, MOVES, Loop, dialogue
from harness.corpora.item import MinecraftItem, Turn
from harness.drawing.items import states_beside
from harness.drawing.terminal import counted, printable, written

_CONTEXTS = {"u": "unique", "m": "multiple", "x": "unclear"}
_CORRECT = {"y": "correct", "n": "incorrect"}
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


@dataclass
class JudgingLoop(Loop[MinecraftItem, Judgment]):
    """The loop over items to judge.

    `following` returns the turns after an item; `read_line` shows a text and returns a line, and its EOFError means quit.
    """

    following: Callable[[MinecraftItem], Sequence[Turn]]
    read_line: Callable[[str], str]
    done: ClassVar[str] = "judged"
    unit: ClassVar[str] = "game"
    _reason: str = field(default="", init=False)
    _seen: int = field(default=0, init=False)

    def ask(self, place: int) -> Judgment | str:
        item = self.items[place]
        earlier = self.file.found.get(item.id)
        self._reason, self._seen = earlier.reason if earlier else "", 0
        contexts = {key: word for key, word in _CONTEXTS.items() if key != "m" or not len(item.before)}
        self._show(place)
        while True:
            key = self._choose(item, "Context before?", contexts)
            if key in MOVES:
                return key
            if key == "x":
                return Judgment(item.id, _CONTEXTS[key], None, self.annotator, self._reason)
            answer = self._choose(item, "Structure after?", _CORRECT)
            if answer in _CORRECT:
                return Judgment(item.id, _CONTEXTS[key], answer == "y", self.annotator, self._reason)
            if answer != "b":
                return answer

    def _choose(self, item: MinecraftItem, question: str, answers: Mapping[str, str]) -> str:
        """The first key pressed that is in `answers` or `MOVES`; all other keys are handled here."""
        choices = "  ".join(f"{key} {word}" for key, word in answers.items())
        while True:
            self.console.print(Text.assemble("\n", (question, "bold"), f"  {choices}  ", ("h f r b s q  ? help", "dim")))
            key = self.read_key().lower()
            if word := answers.get(key) or MOVES.get(key):
                self.say(word)
                return key
            match key:
                case "h":
                    self.console.print(dialogue(item.history, "minecraft"))
                case "f":
                    self._follow(item)
                case "r":
                    self._ask_reason()
                case "?":
                    self.console.print(HELP)
                case "m" if len(item.before):
                    self.say("m is for items with an empty board; this one has blocks before")
                case _:
                    self.say(f"{printable(key) or 'that'} is not a key here; ? lists them")

    def _ask_reason(self) -> None:
        now = f" (now: {printable(self._reason)}; empty removes it)" if self._reason else ""
        self._reason = printable(self.read_line(f"Reason{now}: "))

    def _follow(self, item: MinecraftItem) -> None:
        turns = self.following(item)
        self.console.print(dialogue(turns[self._seen : self._seen + FOLD], "minecraft"))
        self._seen = min(self._seen + FOLD, len(turns))
        rest = len(turns) - self._seen
        self.say(f"{rest} more turns follow: f shows them" if rest else "the game ends here")

    def _show(self, place: int) -> None:
        item, console = self.items[place], self.console
        self.head(place)
        console.print()
        console.print(states_beside(item, console.width))
        console.print(f"The builder did {counted(item.actions)}: {written(item.task, item.actions)}")
        if earlier := self.file.found.get(item.id):
            reason = f" ({printable(earlier.reason)})" if earlier.reason else ""
            name = printable(earlier.annotator) or "no name"
            console.print(f"judged before: {name}: {earlier.label}{reason}", style="bold")
