"""Regenerates the drawn examples of docs/simulators.md below their marker."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from harness.corpora.item import new_turns
from harness.drawing.items import item_pictures
from harness.simulators import ARCHITECTS, LEVELS
from harness.simulators.games import simulated, simulator_splits

PAGE = Path("docs/simulators.md")
PICTURES = Path("docs/images/simulators")
MARKER = "<!-- examples -->"
EXAMPLES, SAMPLE = 10, 3_000
"""Examples of each simulator, and the number of items over which they are spread."""


def examples(simulator: str) -> Iterator[str]:
    """Items of the simulator's first split, seed 0, each with what is said and a picture of what is done."""
    # Unlike games, the levels' sets of single orders are finite.
    items = list(islice(simulated(simulator, 0, simulator_splits(simulator)[0]), 2_000 if simulator in LEVELS else SAMPLE))
    yield f"### {simulator}\n"
    for number in range(EXAMPLES):
        item = items[number * len(items) // EXAMPLES + number % 3]
        path = PICTURES / f"{simulator}-{number + 1}.svg"
        path.write_text(item_pictures(item)["gold"])
        lines = "  \n".join(f"**{turn.speaker}:** {turn.text}" for turn in new_turns(item))
        yield f"{number + 1}. {lines}\n\n    ![{item.id}](images/simulators/{path.name})\n"


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    parts = chain.from_iterable(map(examples, (*ARCHITECTS, *LEVELS)))
    PAGE.write_text("\n".join([PAGE.read_text().partition(MARKER)[0] + MARKER + "\n", *parts]))


if __name__ == "__main__":
    main()
