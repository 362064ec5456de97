"""`harness simulate`: simulated building games as training data."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from harness.errors import UsageError
from harness.simulators import LEVELS, SIMULATORS
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.corpora.item import Item


class Simulate(Strict):
    simulator: str | None = argument(None)
    items: int | None = option(None, "How many items; the last game may be cut short.", ge=1)
    seed: int = option(0, ge=0)
    out: Path = option(..., "The file: .jsonl or .jsonl.gz; a folder for presets.")
    split: str | None = option()
    """train, val or test; no two splits share a target. [default: train; levels: test]"""
    preset: Literal["paper"] | None = option(None, "Write all data sets of BAP v2's Table 3, in their published sizes.")
    overwrite: bool = option(False, "Replace existing output.")


class _Wanted(NamedTuple):
    """A file to make."""

    out: Path
    simulator: str
    split: str
    items: int


@click.command(cls=ModelCommand, model=Simulate)
def simulate(options: Simulate) -> None:
    """Generate items with SIMULATOR: random, blocks or shapes (building games), level-1 or -2 (single orders).

    \b
    harness simulate random --items 10000 --out random.jsonl
    harness simulate shapes --items 1000 --split test --out shapes.test.jsonl.gz
    harness simulate --preset paper --out simulated
    """
    from itertools import islice

    from harness.corpora.records import check_output, write_items
    from harness.simulators.games import simulated
    from harness.util.terminal import bar

    wanted = _wanted(options)
    for one in wanted:
        check_output(one.out, options.overwrite)
    for one in wanted:
        began = time.perf_counter()
        with bar(one.out.name, one.items) as update:
            made = islice(simulated(one.simulator, options.seed, one.split), one.items)
            items, games = write_items(made, one.out, update)
        rate = items / (time.perf_counter() - began)
        click.echo(f"{one.out}: {items:,} items of {games:,} games, {rate:,.0f} items/s")


def check(options: Simulate, untrained: bool) -> "tuple[int, Iterator[Item]]":
    """The number of items that `harness simulate` makes, and the items. Raises the errors that it would raise before them."""
    from harness.simulators.games import simulated

    (one,) = _wanted(options)
    return one.items, simulated(one.simulator, options.seed, one.split)


def _wanted(options: Simulate) -> list[_Wanted]:
    from harness.corpora import split_name
    from harness.simulators.games import PAPER, level, simulator_splits
    from harness.util.registry import choose

    simulator, items = options.simulator, options.items
    if options.preset:
        if simulator or items or options.split:
            raise UsageError("--preset has its own simulators, splits and sizes: leave out SIMULATOR, --items, --split")
        return [
            _Wanted(options.out / f"minecraft-{name}.{part}.jsonl", name, part, count)
            for name, parts in PAPER.items()
            for part, count in parts.items()
        ]
    if simulator is None or items is None:
        raise UsageError("give a SIMULATOR and --items, as in: harness simulate random --items 1000 --out random.jsonl")
    choose("simulator", simulator, SIMULATORS)
    splits = simulator_splits(simulator)
    part = choose(f"split of {simulator}", split_name("minecraft", options.split or splits[0]), splits)
    if simulator in LEVELS and items > (available := len(level(simulator, options.seed))):
        raise UsageError(f"--items {items:,}: {simulator} has {available:,}")
    return [_Wanted(options.out, simulator, part, items)]
