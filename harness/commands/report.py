"""`harness report`: one HTML file with the scores of runs, what is wrong with them, and every item with its pictures."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The file. [default: report.html in the first run's folder]")
@click.option("--benchmark", help="Minecraft: legacy (default), fair or v2.")
@click.option("--annotation", type=click.Path(path_type=Path), help="Annotation file for v2. [default: ours, for test]")
@click.option("--intersect", is_flag=True, help="Report only the items that all runs share.")
@click.option("--limit", type=click.IntRange(1), help="Most items in the item browser; the tables cover all.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of the resampling.")
def report(
    runs: tuple[Path, ...],
    out: Path | None,
    benchmark: str | None,
    annotation: Path | None,
    intersect: bool,
    limit: int | None,
    seed: int,
) -> None:
    """Write an HTML report of runs (names, folders or predictions files), with pictures of every item.

    The file needs no network and no other file. A run in progress is reported as far as it goes.
    """
    from eval.report.collect import collect, read
    from eval.report.html import render
    from eval.score_run import Benchmark
    from harness.util.files import write_atomically
    from harness.util.terminal import bar

    how = Benchmark(benchmark, annotation)
    answers = read(runs, intersect=intersect)
    first = next(iter(answers.values()))
    with bar("items", min(limit or len(first.items), len(first.items))) as update:
        collected = collect(answers, how, limit=limit, seed=seed, step=lambda done, total: update(done))
    page = render(collected)
    path = out or first.file.with_name("report.html")
    write_atomically(path, page)
    click.echo(f"{path}: {len(page) / 1e6:.1f} MB, {len(collected.listed):,} items")
