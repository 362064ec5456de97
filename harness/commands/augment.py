"""`harness augment`: more training items from a corpus's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.tasks import world_of

if TYPE_CHECKING:
    from harness.corpora.item import Item
    from harness.simulators.outputs import GameChunk

_PIECE = 500


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--task", required=True, help="minecraft, hexagons or iglu.")
@click.option(
    "--factor", type=click.IntRange(1), default=4, show_default=True, help="Size of the output, as a multiple of the train split."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file: .jsonl, .jsonl.gz or .parquet.")
@click.option("--change", "changes", multiple=True, help="colors, words (minecraft) or turn. Repeatable. [default: all]")
@click.option("--whole", is_flag=True, help="Change whole games and procedures, not items drawn from many variants of them.")
@click.option("--overwrite", is_flag=True, help="Replace existing output.")
def augment(task: str, factor: int, seed: int, out: Path, changes: tuple[str, ...], whole: bool, overwrite: bool) -> None:
    """Write the train split and changed copies of its items: other colors, other words, turned.

    \b
    harness augment --task minecraft --factor 4 --out minecraft.4x.jsonl
    harness augment --task hexagons --factor 2 --change colors --out hexagons.colors.jsonl
    """
    from harness.augmentation import variants as changing
    from harness.augmentation.paraphrase import lexicon
    from harness.corpora import load, locate
    from harness.simulators.outputs import check_free, output_form, write

    form = output_form(out)
    items = load(task, "train")
    words = lexicon() if world_of(task) == "minecraft" else None
    changed = changing.augment(items, seed, factor, changes=changes, lexicon=words, whole=whole)
    check_free(out, overwrite)
    written = write(_pieces(changed, task, form), factor * len(items), out, form, task)
    click.echo(f"{out}: {written.items:,} items, {len(items):,} of them unchanged from the {locate(task).kind} corpus")


def _pieces(changed: Iterator[Item], task: str, form: str) -> Iterator[GameChunk]:
    from itertools import islice

    from harness.simulators.outputs import FORMS, GameChunk

    while items := tuple(islice(changed, _PIECE)):
        yield GameChunk(0, len(items), FORMS[form](items, task))
