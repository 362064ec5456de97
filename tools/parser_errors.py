"""What the baseline `parser` gets wrong on a split, by the constructions that an instruction's words show, for its developers.

python tools/parser_errors.py                          # a table: how many, how good, what is lost
python tools/parser_errors.py --kind line --show 20    # some errors of a kind, with reading, program and gold
python tools/parser_errors.py --hand-set               # the scores that were set by hand, in place of the learned weights
python tools/parser_errors.py --readings 16            # what the best of 16 readings would give, last in the table
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from harness.baselines.parser import Parser
from harness.baselines.parser.hexagons.ranker import RankedReading, RankReader, shipped_weights
from harness.corpora import load
from harness.corpora.item import HexagonsItem, Utterance, drawing_steps
from harness.worlds.hexagons import Paint
from serialization.program.literal import drawing_program
from serialization.program.written import write

KINDS = {
    "mirror": r"mirror|reflect|symmetr|opposite|invert|upside",
    "repeat": r"repeat|cop(y|ies)|recreat|duplicat|replicat|same (shape|pattern|way|thing)|again|another|identical",
    "alternation": r"alternat|pattern|sequence|in (this|the following) order",
    "triangle": r"triang|pyramid",
    "named shape": r"shape|bow|bone|caterp|diamond|arrow|letter|\bx\b|\bv\b|cross",
    "ring": r"flower|ring\b|rings\b|circle|oval|surround|touching|adjacent|around",
    "line": r"line|diagonal|connect|between",
    "rest": r"remaining|rest of|blank|empty|white|inside|middle of",
    "cursor": r"next|below|above|under|skip|beneath|directly|beside",
    "coordinates": r"",
}
"""The kinds in the order in which they are tried; the last one takes the rest."""

BEAM = 3
"""Beam margin for `--readings`; `tools/fit_parser.py` learns with the same one."""


def f1(predicted: Iterable[Paint], gold: Iterable[Paint]) -> float:
    one, two = set(predicted), set(gold)
    return 2 * len(one & two) / (len(one) + len(two)) if one or two else 1.0


def instruction_kind(instruction: str) -> str:
    return next(kind for kind, pattern in KINDS.items() if re.search(pattern, instruction.lower()))


def best_scores(items: Sequence[HexagonsItem], parser: Parser, readings: RankReader) -> list[float]:
    """The F1 of the best reading of each instruction, on the boards that the parser's own answers drew."""
    scores = []
    for item in items:
        memory = parser.memory(tuple(turn.text for turn in item.history if isinstance(turn, Utterance)))
        scores.append(max(f1(one.actions, item.actions) for one in readings.candidates(item.instruction, memory)))
    return scores


def row(name: str, scores: Sequence[float], steps: int) -> str:
    mean, part = 100 * sum(scores) / len(scores), 100 * sum(score == 1 for score in scores) / len(scores)
    return f"{name:<12} {len(scores):>6} {mean:>7.2f} {part:>7.2f} {100 * sum(1 - score for score in scores) / steps:>8.2f}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--split", default="train", choices=["train", "dev"])
    options.add_argument("--kind", choices=list(KINDS))
    options.add_argument("--show", type=int, default=0, metavar="N", help="print N errors drawn by --seed")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--hand-set", action="store_true", help="without the learned weights")
    options.add_argument("--readings", type=int, default=0, metavar="N", help="also the best of N readings of each instruction")
    args = options.parse_args()
    weights = {} if args.hand_set else shipped_weights()
    parser, items = Parser(RankReader(weights)), drawing_steps(load("hexagons", args.split))
    by_kind: dict[str, list[tuple[float, HexagonsItem, RankedReading]]] = defaultdict(list)
    for item in items:
        understood = parser.understand(item)
        by_kind[instruction_kind(item.instruction)].append((f1(understood.actions, item.actions), item, understood))
    print(f"{'kind':<12} {'steps':>6} {'F1':>7} {'EM':>7} {'lost F1':>8}   (of {args.split}, on its own boards)")
    everything = [scored for group in by_kind.values() for scored in group]
    for kind, group in [*((kind, by_kind[kind]) for kind in KINDS), ("all", everything)]:
        if group:
            print(row(kind, [score for score, _, _ in group], len(items)))
    if args.readings:
        print(row(f"best of {args.readings}", best_scores(items, parser, RankReader(weights, BEAM, args.readings)), len(items)))
    group = by_kind[args.kind] if args.kind else everything
    wrong = [scored for scored in group if scored[0] < 1]
    for score, item, understood in random.Random(args.seed).sample(wrong, min(args.show, len(wrong))):
        print(f"\n{item.id}  F1 {score:.2f}\n  {item.instruction.strip()}")
        for action in understood.reading.actions:
            print(f"    {action}")
        print(
            f"  predicted: {write(drawing_program(understood.actions))!r}\n  gold:      {write(drawing_program(item.actions))!r}"
        )


if __name__ == "__main__":
    main()
