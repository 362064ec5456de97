"""What the baseline `parser` gets wrong on a split, by the constructions that an instruction's words show: for its makers.

python tools/parser_errors.py                          # a table: how many, how good, what is lost
python tools/parser_errors.py --kind line --show 20    # some errors of a kind, with reading, program and gold
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Iterable

from harness.baselines.parser import Parser, Understood
from harness.corpora import load
from harness.corpora.item import HexagonsItem, drawing_steps
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
"""In the order in which they are tried; the last one takes what is left."""


def f1(predicted: Iterable[Paint], gold: Iterable[Paint]) -> float:
    one, two = set(predicted), set(gold)
    return 2 * len(one & two) / (len(one) + len(two)) if one or two else 1.0


def kind_of(instruction: str) -> str:
    return next(kind for kind, pattern in KINDS.items() if re.search(pattern, instruction.lower()))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--split", default="train", choices=["train", "dev"])
    options.add_argument("--kind", choices=list(KINDS))
    options.add_argument("--show", type=int, default=0, metavar="N", help="print N errors drawn by --seed")
    options.add_argument("--seed", type=int, default=0)
    args = options.parse_args()
    parser = Parser()
    by_kind: dict[str, list[tuple[float, HexagonsItem, Understood]]] = defaultdict(list)
    for item in drawing_steps(load("hexagons", args.split)):
        found = parser.understand(item)
        by_kind[kind_of(item.instruction)].append((f1(found.actions, item.actions), item, found))
    print(f"{'kind':<12} {'steps':>6} {'F1':>7} {'EM':>7} {'lost F1':>8}   (of {args.split}, on its own boards)")
    everything = [scored for group in by_kind.values() for scored in group]
    for kind, group in [*((kind, by_kind[kind]) for kind in KINDS), ("all", everything)]:
        scores = [score for score, _, _ in group] or [0.0]
        exact = sum(score == 1 for score in scores)
        lost = sum(1 - score for score in scores) / len(everything)
        mean, part = 100 * sum(scores) / len(scores), 100 * exact / len(scores)
        print(f"{kind:<12} {len(group):>6} {mean:>7.2f} {part:>7.2f} {100 * lost:>8.2f}")
    group = by_kind[args.kind] if args.kind else everything
    wrong = [scored for scored in group if scored[0] < 1]
    for score, item, found in random.Random(args.seed).sample(wrong, min(args.show, len(wrong))):
        print(f"\n{item.id}  F1 {score:.2f}\n  {item.instruction.strip()}")
        for action in found.reading.actions:
            print(f"    {action}")
        print(f"  predicted: {write(drawing_program(found.actions))!r}\n  gold:      {write(drawing_program(item.actions))!r}")


if __name__ == "__main__":
    main()
