"""Regenerates the drawn examples and the surface table of docs/simulators.md between its markers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, count, islice
from pathlib import Path

from harness.corpora import load
from harness.corpora.item import HexagonsItem, Item
from harness.corpora.surface import Surface, new_turns, surface
from harness.drawing.items import item_svg
from harness.simulators.games import ARCHITECTS, CONVERSATIONS, DRAWINGS, LEVELS, game, simulator_splits, simulator_task
from harness.tasks import SIMULATORS
from harness.worlds.minecraft import Action
from serialization.formats.answer import NOTHING
from serialization.formats.program import write_building, write_drawing

PAGE = Path("docs/simulators.md")
PICTURES = Path("docs/images/simulators")
EXAMPLES = 10
SAMPLE = 3_000


def items(simulator: str) -> Iterable[Item]:
    """The first items of a simulator's first split, seed 0; the sets of single orders end."""
    split = simulator_splits(simulator)[0]
    games = (game(simulator, 0, split, n) for n in (range(2_000) if simulator.startswith("level") else count()))
    return islice(chain.from_iterable(games), SAMPLE)


def examples(simulator: str, items: Sequence[Item]) -> str:
    """Ten items spread over those made, each with what is said and the picture of what is done."""
    parts = [f"### {simulator}\n"]
    for number in range(EXAMPLES):
        item = items[number * len(items) // EXAMPLES + number % 3]
        path = PICTURES / f"{simulator}-{number + 1}.svg"
        path.write_text(item_svg(item))
        said = [item.instruction] if isinstance(item, HexagonsItem) else orders(item)
        lines = "  \n".join(said)
        parts.append(f"{number + 1}. {lines}\n\n    ![{item.id}](images/simulators/{path.name})\n")
    return "\n".join(parts)


def conversations(simulator: str) -> str:
    """The first ten conversations, each request with what was there before it and the program that answers it."""
    parts = [f"{'Drawing' if simulator_task(simulator) == 'hexagons' else 'Building'}:\n"]
    games = (game(simulator, 0, "train", n) for n in count())
    for number, talk in enumerate(islice(filter(None, games), EXAMPLES), start=1):
        turns = [_turn(item) for item in talk]
        parts.append(f"{number}. {_begun(talk[0])}" + "\n   ".join(turns))
    return "\n".join(parts)


def _begun(item: Item) -> str:
    """What the conversation begins with."""
    if isinstance(item, HexagonsItem):
        there = write_drawing(sorted(item.before.painted()))
    else:
        there = write_building([Action("place", color, *cell) for *cell, color in sorted(item.before.blocks())])
    return "" if there == NOTHING else f"*(there is {'; '.join(f'`{line}`' for line in there.splitlines())})*  \n   "


def _turn(item: Item) -> str:
    said = item.instruction if isinstance(item, HexagonsItem) else next(new_turns(item)).text
    return f"{said} → " + (f"`{item.meta['program']}`  " if item.actions else "nothing  ")


def orders(item: Item) -> list[str]:
    """What was said since the builder acted last, small talk included."""
    return [f"**{turn.speaker}:** {turn.text}" for turn in new_turns(item)]


def row(name: str, its: Surface) -> str:
    words, ratio = its.words, its.type_token_ratio
    shares = " ".join(f"{100 * share:.0f}" for share in its.actions.values())
    sequence = its.sequence
    cells = [
        name,
        f"{its.items:,}",
        f"{words.p50} / {words.p90} / {words.p99} ({words.mean:.1f})",
        "" if ratio is None else f"{ratio:.3f}",
        f"{its.mean_actions:.1f}",
        shares,
        f"{sequence.p50} / {sequence.p90} ({sequence.mean:.1f})",
    ]
    return f"| {' | '.join(cells)} |"


def table(sets: dict[str, list[Item]]) -> str:
    head = ["items", "number", "words an utterance: p50 / p90 / p99 (mean)", "types per 10,000 tokens", "actions, mean"]
    names = " ".join(surface(sets["random"][:1]).actions)
    head += [f"share of items in percent with {names} actions", "items a game: p50 / p90 (mean)"]
    rows = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for task in ("minecraft", "hexagons"):
        rows.append(row(f"**{task}, real train**", surface(load(task, "train"))))
        rows += [row(name, surface(sets[name])) for name in sets if simulator_task(name) == task and not name.startswith("level")]
    return "\n".join(rows)


def between(page: str, name: str, content: str) -> str:
    """The page with what stands between the markers of a part replaced."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n\n{content}\n\n{end}", page, flags=re.DOTALL)


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    sets = {name: list(items(name)) for name in SIMULATORS}
    page = between(PAGE.read_text(), "surface", table(sets))
    page = between(page, "examples", "\n".join(examples(name, sets[name]) for name in (*ARCHITECTS, *DRAWINGS, *LEVELS)))
    PAGE.write_text(with_conversations(page))


def with_conversations(page: str) -> str:
    return between(page, "everyday", "\n\n".join(map(conversations, CONVERSATIONS)))


if __name__ == "__main__":
    main()
