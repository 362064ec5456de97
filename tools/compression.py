"""How short programs are against the other formats, over all items of HEXAGONS and Minecraft: the table of docs/mining.md.

    python tools/compression.py > table.md      # some minutes

Every item's program is run on the item; `exact` counts those that leave the board or structure that the plain program leaves.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from harness.corpora import load
from harness.corpora.item import Item
from serialization.formats import get_format
from serialization.formats.answer import Parsed

FORMATS = {"hexagons": ("triplets", "grouped"), "minecraft": ("lines", "calls")}


def row(task: str, name: str, texts: list[str], rest: str = " | ") -> str:
    lengths = [len(text) for text in texts]
    return f"| {task} | {name} | {statistics.median(lengths):g} | {statistics.mean(lengths):.1f} | {rest} |"


def left(parsed: Parsed, item: Item) -> object:
    """What an answer makes of the board or the structure, and whether all of it was read and could be done."""
    return item.before.apply(parsed.actions), parsed.discarded


def table(task: str, items: list[Item]) -> list[str]:
    formats: dict[str, Callable[[Item], str]] = {
        name: lambda item, name=name: get_format(task, name).write(item.actions)  # type: ignore[misc]
        for name in FORMATS[task]
    }
    program = get_format(task, "program")
    rows = [row(task, name, [write(item) for item in items]) for name, write in formats.items()]
    plain = [program.write(item.actions) for item in items]
    seconds, short = [], []
    for item in items:
        start = time.process_time()
        short.append(program.answer(item.actions, item))
        seconds.append(time.process_time() - start)
    same = sum(
        left(program.read(a, item), item) == left(program.read(b, item), item)
        for a, b, item in zip(short, plain, items, strict=True)
    )
    longer = sum(len(a) > len(b) for a, b in zip(short, plain, strict=True))
    exactness = f"{same:,} of {len(items):,}" + (f", {longer} longer" if longer else "")
    time_spent = f"{1000 * statistics.median(seconds):.0f} ms ({sum(seconds):.0f} s)"
    return [*rows, row(task, "program, plain", plain), row(task, "program, compressed", short, f"{exactness} | {time_spent}")]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--limit", type=int, help="the first items of each task only")
    args = options.parse_args()
    print("| task | format | median characters | mean | exact | time per item (all) |")
    print("|---|---|---:|---:|---:|---:|")
    for task in FORMATS:
        print("\n".join(table(task, load(task)[: args.limit])), flush=True)


if __name__ == "__main__":
    main()
