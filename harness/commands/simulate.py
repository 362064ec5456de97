"""`harness simulate`: simulated building games as training data."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from harness.errors import UsageError
from harness.tasks import SIMULATORS
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.corpora.item import Item
    from harness.simulators.card import File
    from harness.simulators.outputs import GameChunk, GameSource


class Simulate(Strict):
    simulator: str | None = argument(None)
    items: int | None = option(None, "How many items; the last game may be cut short.", ge=1)
    seed: int = option(0, ge=0)
    out: Path = option(..., "The file: .jsonl, .jsonl.gz or .parquet; a folder for presets.")
    split: str | None = option()
    """train, val or test; no two splits share a target. [default: train; levels: test]"""
    settings: tuple[str, ...] = option((), "turns=N (random); figures=N, longest=N (blocks, shapes).", names=("--set",))
    preset: Literal["paper"] | None = option(None, "Write all data sets of BAP v2's Table 3, in their published sizes.")
    workers: int = option(1, "Worker processes; the output stays the same.", ge=1, le=256)
    card: bool = option(False, "Also write a data card: README.md in the file's folder.")
    overwrite: bool = option(False, "Replace existing output.")


@click.command(cls=ModelCommand, model=Simulate)
def simulate(options: Simulate) -> None:
    """Generate items with SIMULATOR: random, blocks or shapes (building games), level-1 or -2 (single orders).

    \b
    harness simulate random --items 10000 --out random.jsonl
    harness simulate shapes --items 1000 --split test --out shapes.test.parquet --card
    harness simulate --preset paper --out simulated
    """
    from harness import __version__
    from harness.simulators.card import File, data_card
    from harness.simulators.outputs import check_free
    from harness.util.files import write_atomically

    wanted, out, overwrite = _wanted(options), options.out, options.overwrite
    readme = (out if options.preset else out.parent) / "README.md"
    for path, _, _ in wanted:
        check_free(path, overwrite)
    if options.card and readme.exists() and not overwrite:
        raise UsageError(f"{readme} exists: leave out --card, or --overwrite it")
    files: list[File] = []
    for path, source, count in wanted:
        written, rate = _make(path, source, count, options.workers, overwrite)
        click.echo(f"{path}: {written.items:,} items of {written.games:,} games, {rate:,.0f} items/s")
        files.append(File(path.name, source, written))
    if options.card:
        write_atomically(readme, data_card(files, _command(options), __version__))
        click.echo(str(readme))


def check(options: Simulate, untrained: bool) -> tuple[int, Iterator[Item]]:
    """The number of items that `harness simulate` makes, and the items. Raises the errors that it would raise before them."""
    from itertools import chain, count

    from harness.simulators.games import game

    ((_, source, size),) = _wanted(options)
    games = (game(source.simulator, source.seed, source.split, n, source.parameters) for n in count())
    return size, chain.from_iterable(games)


def _make(path: Path, source: GameSource, count: int, workers: int, overwrite: bool) -> tuple[GameChunk, float]:
    """Writes a file of items; returns their counts and the items per second."""
    from harness.simulators.outputs import simulate
    from harness.util.terminal import bar

    began = time.perf_counter()
    with bar(path.name, count) as update:
        done = simulate(source, count, path, workers=workers, overwrite=overwrite, report=lambda made: update(made.items))
    return done, done.items / (time.perf_counter() - began)


def _wanted(options: Simulate) -> list[tuple[Path, GameSource, int]]:
    """The files to make, each with its source and number of items."""
    from harness.corpora import split_name
    from harness.simulators.games import PAPER, simulator_splits, simulator_task
    from harness.simulators.outputs import GameSource, output_form
    from harness.util.registry import choose

    simulator, items = options.simulator, options.items
    if options.preset:
        if simulator or items or options.split or options.settings:
            raise UsageError("--preset has its own simulators, splits and sizes: leave out SIMULATOR, --items, --split, --set")
        return [
            (options.out / f"{simulator_task(name)}-{name}.{part}.jsonl", GameSource(name, options.seed, part, "jsonl"), count)
            for name, parts in PAPER.items()
            for part, count in parts.items()
        ]
    if simulator is None or items is None:
        raise UsageError("give a SIMULATOR and --items, as in: harness simulate random --items 1000 --out random.jsonl")
    choose("simulator", simulator, SIMULATORS)
    world, splits = simulator_task(simulator), simulator_splits(simulator)
    part = choose(f"split of {simulator}", split_name(world, options.split or splits[0]), splits)
    parameters = _parameters(simulator, options.settings)
    return [(options.out, GameSource(simulator, options.seed, part, output_form(options.out), parameters), items)]


def _parameters(simulator: str, settings: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """The settings by name, each within its range."""
    allowed = SIMULATORS[simulator].parameters
    parameters = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        if name not in allowed:
            raise UsageError(f"--set {setting}: {simulator} takes {' and '.join(f'{key}=N' for key in allowed) or 'no settings'}")
        low, high = allowed[name]
        if not (value.isascii() and value.isdigit() and low <= int(value) <= high):
            raise UsageError(f"--set {setting}: {name} is a whole number from {low} to {high}")
        parameters[name] = int(value)
    return tuple(sorted(parameters.items()))


def _command(options: Simulate) -> str:
    """The command that makes the files again."""
    given = {key: getattr(options, key) for key in ("items", "split", "preset")}
    words = [f"--{key} {value}" for key, value in given.items() if value]
    words += [f"--set {setting}" for setting in options.settings]
    start = ["harness simulate", *([options.simulator] if options.simulator else [])]
    return " ".join([*start, *words, f"--seed {options.seed}", f"--out {shlex.quote(options.out.name)}"])
