"""`harness simulate`: simulated games and drawings as training data."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from harness.errors import UsageError
from harness.tasks import SIMULATORS, listed
from harness.worlds import World

if TYPE_CHECKING:
    from harness.simulators.card import File
    from harness.simulators.outputs import Made
    from harness.simulators.stream import Piece, Source

FORMS = ("jsonl", "jsonl.gz", "parquet", "logs")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("simulator", required=False)
@click.option("--task", type=click.Choice(get_args(World)), help="everyday: the world of the requests.")
@click.option("--items", type=click.IntRange(min=1), help="How many items; the last game may be cut short.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file; a folder for logs and presets.")
@click.option("--split", help="train, val (HEXAGONS: dev) or test: no two share a target. [default: train; levels: test]")
@click.option("--as", "form", type=click.Choice(FORMS), help="What to write. [default: by the file's name]")
@click.option("--set", "settings", multiple=True, help="turns=N (random); figures=N, longest=N (blocks, shapes).")
@click.option("--preset", type=click.Choice(["paper"]), help="Write all files of BAP v2's Table 3, in their sizes.")
@click.option(
    "--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Worker processes; the output stays the same."
)
@click.option("--card", is_flag=True, help="Also write a data card: README.md in the file's folder.")
@click.option("--overwrite", is_flag=True, help="Replace existing output.")
def simulate(out: Path, seed: int, workers: int, card: bool, overwrite: bool, **flags: Any) -> None:
    """Generate items with SIMULATOR: random, blocks or shapes (building games), hexagons (drawings), everyday
    (ordinary requests, with --task), level-1 or -2.

    \b
    harness simulate random --items 10000 --out random.jsonl
    harness simulate shapes --items 1000 --split test --out shapes.test.parquet --card
    harness simulate everyday --task minecraft --items 10000 --out everyday.jsonl
    harness simulate random --items 500 --as logs --out games/minecraft
    harness simulate --preset paper --out simulated
    """
    from harness import __version__
    from harness.simulators.card import File, data_card
    from harness.simulators.outputs import check_free
    from harness.util.files import write_atomically

    wanted = _wanted(out, seed, **flags)
    readme = (out if flags["preset"] or wanted[0][1].form == "logs" else out.parent) / "README.md"
    for path, source, _ in wanted:
        check_free(path, source.form, overwrite)
    if card and readme.exists() and not overwrite:
        raise UsageError(f"{readme} exists: leave out --card, or --overwrite it")
    files: list[File] = []
    for path, source, count in wanted:
        written, rate = _make(path, source, count, workers, overwrite)
        click.echo(f"{path}: {written.items:,} items of {written.games:,} games, {rate:,.0f} items/s")
        files.append(File(path.name, source, written))
    if card:
        write_atomically(readme, data_card(files, _command(out, seed, **flags), __version__))
        click.echo(str(readme))


def _make(path: Path, source: Source, count: int, workers: int, overwrite: bool) -> tuple[Made, float]:
    """Writes a file of items; returns their counts and the items per second."""
    from harness.simulators.outputs import simulate
    from harness.util.terminal import bar

    sizes, began = [0], time.perf_counter()
    with bar(path.name, count) as update:

        def report(piece: Piece) -> None:
            sizes.append(piece.items)
            update(sum(sizes))

        written = simulate(source, count, path, workers=workers, overwrite=overwrite, report=report)
    return written, sum(sizes) / (time.perf_counter() - began)


def _wanted(
    out: Path,
    seed: int,
    *,
    simulator: str | None,
    task: str | None,
    items: int | None,
    split: str | None,
    form: str | None,
    preset: str | None,
    settings: tuple[str, ...],
) -> list[tuple[Path, Source, int]]:
    """The files to make, each with what goes into it and how many items."""
    from harness.corpora import split_name
    from harness.simulators.games import PAPER, simulator_splits, simulator_task
    from harness.simulators.outputs import output_form
    from harness.simulators.stream import Source
    from harness.util.registry import choose

    if preset:
        if simulator or task or items or split or settings:
            raise UsageError(
                "--preset has its own simulators, splits and sizes: leave out SIMULATOR, --task, --items, --split, --set"
            )
        if form == "logs":
            raise UsageError("--preset makes files: --as jsonl, jsonl.gz or parquet")
        kind = form or "jsonl"
        return [
            (out / f"{simulator_task(name)}-{name}.{part}.{kind}", Source(name, seed, part, kind), count)
            for name, parts in PAPER.items()
            for part, count in parts.items()
        ]
    if simulator is None or items is None:
        raise UsageError("give a SIMULATOR and --items, as in: harness simulate random --items 1000 --out random.jsonl")
    simulator = _in_world(simulator, task)
    choose("simulator", simulator, SIMULATORS)
    world, splits = simulator_task(simulator), simulator_splits(simulator)
    part = choose(f"split of {simulator}", split_name(world, split or splits[0]), splits)
    return [(out, Source(simulator, seed, part, output_form(out, form), _parameters(simulator, settings)), items)]


def _in_world(simulator: str, task: str | None) -> str:
    """The simulator's name: there is an `everyday` for each world."""
    if simulator != "everyday":
        if task:
            raise UsageError(f"--task goes with everyday: {simulator} has one world only")
        return simulator
    if task is None:
        raise UsageError(f"everyday needs --task {listed(get_args(World))}")
    return f"everyday-{task}"


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


def _command(out: Path, seed: int, **flags: Any) -> str:
    """The command that makes the files again."""
    names = {"form": "--as"}
    settings = [f"--set {setting}" for setting in flags.pop("settings")]
    words = [flags.pop("simulator"), *(f"{names.get(key, f'--{key}')} {value}" for key, value in flags.items() if value)]
    return " ".join(["harness simulate", *filter(None, words), *settings, f"--seed {seed}", f"--out {shlex.quote(out.name)}"])
