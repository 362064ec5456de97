"""Requests that are read as a whole: bar charts, letters that are described stroke by stroke."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.baselines.parser.everyday.hexagons.lexicon import Token
from harness.baselines.parser.everyday.hexagons.meaning import Clause, Phrase


def bar_chart(tokens: Sequence[Sequence[Token]]) -> Clause | None:
    """A bar chart: `the first column has 2 tiles, the second one 4`; the heights by column."""
    told = [token for sentence in tokens for token in sentence]
    if not any(token["NOUN"] == "bars" for token in told):
        return None
    heights: dict[str, int] = {}
    column = ""
    for token in told:
        column = token["ORDINAL"] or column
        if token["NUMBER"] and column:
            heights[column] = int(token["NUMBER"])
    if not heights:
        heights = {str(k + 1): int(number) for k, number in enumerate([t["NUMBER"] for t in told if t["NUMBER"]])}
    return Clause(verb="bars", colors=[(token["COLOR"], 1) for token in told if token["COLOR"]][:1], sizes=heights)


def lettered(sentences: list[list[Clause]]) -> list[list[Clause]]:
    """A letter that is described stroke by stroke is one drawing: `an L, 5 tiles down and 3 more to the right`."""
    clauses = [clause for sentence in sentences for clause in sentence]
    phrases = [phrase for clause in clauses for target in clause.targets for phrase in within(target)]
    letter = next((phrase for phrase in phrases if phrase.head.startswith("letter")), None)
    if letter is None or len(phrases) == 1:
        return sentences
    colors = [color for clause in clauses for color, _ in clause.colors] + [
        color for phrase in phrases for color in phrase.colors
    ]
    counts = [count for phrase in phrases for count in (phrase.count or phrase.sizes.get("tiles"),) if count]
    sizes = dict(zip(("first", "second"), counts, strict=False)) if len(counts) == 2 else {}
    drawing = replace(letter, det="a", colors=colors[:1], sizes={**letter.sizes, **sizes}, links=[])
    return [[Clause(verb="draw", targets=[drawing])]]


def within(phrase: Phrase) -> list[Phrase]:
    """A phrase and those in its places."""
    inner = [link.target for link in phrase.links if link.target is not None]
    return [phrase, *(one for target in inner for one in within(target))]
