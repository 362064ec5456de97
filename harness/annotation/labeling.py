"""The loop in which a person gives drawing steps the labels of a scheme (`eval.schemes`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text

from eval.schemes import Scheme, StepLabels, in_words
from harness.annotation.loop import MOVES, Loop, dialogue
from harness.corpora.item import HexagonsItem
from harness.drawing.items import states_text
from harness.drawing.terminal import counted, printable, written


@dataclass
class LabelingLoop(Loop[HexagonsItem, StepLabels]):
    """The loop over steps to label."""

    scheme: Scheme
    done: ClassVar[str] = "labeled"
    unit: ClassVar[str] = "procedure"

    def ask(self, place: int) -> StepLabels | str:
        item, exclusive = self.items[place], self.scheme.exclusive
        by_key = {about.key: label for label, about in self.scheme.labels.items()}
        earlier = self.file.found.get(item.id)
        counts = Counter(earlier.labels if earlier else {})
        self._show(item, place, earlier)
        choices = "  ".join(f"{key} {label}" for key, label in by_key.items())
        others = "h b s q  ? help" if exclusive else "Enter done  x none  h b s q  ? help"
        while True:
            self.console.print(Text.assemble("\n", choices, "  ", (others, "dim")))
            key = self.read_key().lower()
            label = by_key.get(key)
            if key in MOVES:
                self.say(MOVES[key])
                return key
            if label and exclusive:
                return StepLabels(item.id, {label: 1}, self.annotator)
            if key in ("\r", "\n") and not exclusive:
                return StepLabels(item.id, self._ordered(counts), self.annotator)
            if label:
                counts[label] += 1
            elif key == "x" and not exclusive:
                counts.clear()
            else:
                self._help(key, item)
                continue
            self.say(in_words(self._ordered(counts)))

    def _ordered(self, counts: Mapping[str, int]) -> dict[str, int]:
        return {label: counts[label] for label in self.scheme.labels if counts[label]}

    def _help(self, key: str, item: HexagonsItem) -> None:
        if key == "h":
            self.console.print(dialogue(item.history, "hexagons"))
        elif key == "?":
            for label, about in self.scheme.labels.items():
                self.console.print(Text.assemble((f"{about.key} {label}: ", "bold"), about.means))
            several = (
                "" if self.scheme.exclusive else "A key adds one occurrence; Enter ends the step, x removes all its labels. "
            )
            self.console.print(f"{several}h the whole history, b back, s skip the step, q quit (or Ctrl-D)")
        else:
            self.say(f"{printable(key) or 'that'} is not a key here; ? lists them")

    def _show(self, item: HexagonsItem, place: int, earlier: StepLabels | None) -> None:
        self.head(place)
        self.console.print(Text(f"\nInstruction: {printable(item.instruction)}\n", "bold"))
        self.console.print(states_text(item))
        self.console.print(f"The Instructor did {counted(item.actions)}: {written(item.task, item.actions)}")
        if earlier:
            self.console.print(
                f"labeled before: {printable(earlier.annotator) or 'no name'}: {in_words(earlier.labels)}", style="bold"
            )
