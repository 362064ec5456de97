"""Regenerates the drawn examples and the surface table of docs/simulators.md between its markers.

An utterance counts for the item in which it is new. Tokens are words in lower case and single punctuation marks; distinct tokens
are counted in parts of equal length, so that their number does not depend on the number of items.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, count, islice, pairwise
from pathlib import Path
from statistics import fmean

from harness.corpora import load
from harness.corpora.item import Item, new_turns
from harness.drawing.items import item_pictures
from harness.simulators.games import ARCHITECTS, LEVELS, game, simulator_splits
from harness.tasks import SIMULATORS

PAGE = Path("docs/simulators.md")
PICTURES = Path("docs/images/simulators")
EXAMPLES = 10
SAMPLE = 3_000
PART = 10_000
"""Tokens of a part."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_ENDS = (0, 1, 5, 10, 20, 50, 100)
"""The largest number of actions of each bin but the last."""


def items(simulator: str) -> Iterable[Item]:
    """The first items of a simulator's first split, seed 0. Unlike games, the levels' sets of single orders are finite."""
    split = simulator_splits(simulator)[0]
    games = (game(simulator, 0, split, n) for n in (range(2_000) if simulator.startswith("level") else count()))
    return islice(chain.from_iterable(games), SAMPLE)


def examples(simulator: str, items: Sequence[Item]) -> str:
    """Ten items spread over `items`, each with what is said and a picture of what is done."""
    parts = [f"### {simulator}\n"]
    for number in range(EXAMPLES):
        item = items[number * len(items) // EXAMPLES + number % 3]
        path = PICTURES / f"{simulator}-{number + 1}.svg"
        path.write_text(item_pictures(item)["gold"])
        lines = "  \n".join(orders(item))
        parts.append(f"{number + 1}. {lines}\n\n    ![{item.id}](images/simulators/{path.name})\n")
    return "\n".join(parts)


def orders(item: Item) -> list[str]:
    """What was said since the builder acted last, small talk included."""
    return [f"**{turn.speaker}:** {turn.text}" for turn in new_turns(item)]


def quantiles(counts: Iterable[int], *shares: float) -> str:
    """`2 / 5 (2.4)`: some quantiles and the mean."""
    ordered = sorted(counts)
    ends = " / ".join(str(ordered[int(len(ordered) * share)]) for share in shares)
    return f"{ends} ({fmean(ordered):.1f})"


def row(name: str, items: Sequence[Item]) -> str:
    texts = [turn.text for item in items for turn in new_turns(item)]
    tokens = [token for text in texts for token in _TOKEN.findall(text.lower())]
    parts = [tokens[start : start + PART] for start in range(0, len(tokens) - PART + 1, PART)]
    actions = [len(item.actions) for item in items]
    bins = Counter(bisect_left(_ENDS, number) for number in actions)
    cells = [
        name,
        f"{len(items):,}",
        quantiles((len(text.split()) for text in texts), 0.5, 0.9, 0.99),
        f"{fmean(len(set(part)) / PART for part in parts):.3f}" if parts else "",
        f"{fmean(actions):.1f}",
        " ".join(f"{100 * bins[number] / len(items):.0f}" for number in range(len(_ENDS) + 1)),
        quantiles(Counter(item.cluster for item in items).values(), 0.5, 0.9),
    ]
    return f"| {' | '.join(cells)} |"


def table(sets: dict[str, list[Item]]) -> str:
    head = ["items", "number", "words an utterance: p50 / p90 / p99 (mean)", "types per 10,000 tokens", "actions, mean"]
    names = " ".join(["0", "1", *(f"{low + 1}-{high}" for low, high in pairwise(_ENDS[1:])), f"{_ENDS[-1] + 1}+"])
    head += [f"share of items in percent with {names} actions", "items a game: p50 / p90 (mean)"]
    rows = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    rows.append(row("**minecraft, real train**", load("minecraft", "train")))
    rows += [row(name, sets[name]) for name in ARCHITECTS]
    return "\n".join(rows)


def between(page: str, name: str, content: str) -> str:
    """The page with the text between the markers of a part replaced."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n\n{content}\n\n{end}", page, flags=re.DOTALL)


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    sets = {name: list(items(name)) for name in SIMULATORS}
    page = between(PAGE.read_text(), "surface", table(sets))
    page = between(page, "examples", "\n".join(examples(name, sets[name]) for name in (*ARCHITECTS, *LEVELS)))
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
