"""Scores of a HEXAGONS run without the longest procedures of its split, which are few, long and alike.

python tools/score_without.py RUN [--longest 4]
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from pathlib import Path

from eval.export import headline
from harness.scoring import read_answers, score_answers


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("run", type=Path)
    options.add_argument("--longest", type=int, default=4)
    args = options.parse_args()
    answers = read_answers(args.run)
    steps = Counter(item.id.rpartition("/")[0] for item in answers.items)
    long = dict(steps.most_common(args.longest))
    kept = {item.id for item in answers.items if item.id.rpartition("/")[0] not in long}
    print(f"without {', '.join(f'{name} ({count} steps)' for name, count in long.items())}: {len(kept)} steps")
    for number in headline(score_answers(replace(answers, only=kept)))[:2]:
        print(f"{number.label} {number}")


if __name__ == "__main__":
    main()
