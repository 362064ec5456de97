"""`harness augment`: more training items from a corpus's own."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.tasks.registry import world_of
from harness.util.options import ModelCommand, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from harness.corpora.item import Item


class Augment(Strict):
    task: str = option(..., "minecraft, hexagons or iglu.")
    factor: int = option(4, "Size of the output, as a multiple of the train split.", ge=1)
    seed: int = option(0, ge=0)
    out: Path = option(..., "The file: .jsonl or .jsonl.gz.")
    changes: tuple[str, ...] = option(
        (), "colors; also words and turn (minecraft). Repeatable. [default: all]", names=("--change",)
    )
    overwrite: bool = option(False, "Replace existing output.")


@click.command(cls=ModelCommand, model=Augment)
def augment(options: Augment) -> None:
    """Write the train split and changed copies of its items: with other colors, with other words, or turned.

    \b
    harness augment --task minecraft --factor 4 --out minecraft.4x.jsonl
    harness augment --task hexagons --factor 2 --change colors --out hexagons.colors.jsonl
    """
    from harness.corpora import locate
    from harness.corpora.records import check_output, write_items

    size, changed = check(options, untrained=False)
    check_output(options.out, options.overwrite)
    written, _ = write_items(changed, options.out)
    own = f"{size // options.factor:,} of them unchanged from the {locate(options.task).kind} corpus"
    click.echo(f"{options.out}: {written:,} items, {own}")


def check(options: Augment, untrained: bool) -> "tuple[int, Iterator[Item]]":
    """The number of items that `harness augment` makes, and the items. Raises the errors that it would raise before them."""
    from harness.augmentation import variants as changing
    from harness.augmentation.paraphrase import lexicon
    from harness.corpora import load

    items = load(options.task, "train")
    words = lexicon() if world_of(options.task) == "minecraft" else None
    made = changing.augment(items, options.seed, options.factor, changes=options.changes, lexicon=words)
    return options.factor * len(items), made
