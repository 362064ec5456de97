"""`harness import`: predictions made elsewhere become a run."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("import", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--name", required=True, help="The run's folder under runs/.")
@click.option("--task", help="Checked against the ids in the file.")
@click.option("--split", help="Checked against the ids in the file.")
@click.option("--format", "action_format", help="How the texts write actions, e.g. grouped or lines.")
def import_run(file: Path, name: str, task: str | None, split: str | None, action_format: str | None) -> None:
    """Turn the predictions in FILE into a run for score, compare, report and show.

    \b
    CSV (*.csv)   a header id,text and one row an item
    JSON Lines    {"id": "...", "text": "..."} or {"id": "...", "actions": [...]} a line

    Actions are in the world's frame.
    """
    from harness.experiments.importing import import_predictions

    imported = import_predictions(file, name, task=task, split=split, action_format=action_format)
    click.echo(
        f"{imported.folder}: {imported.items:,} predictions for the {imported.of:,} items of {imported.task}/{imported.split}"
    )
    if imported.unread:
        click.echo(
            f"Texts with parts that are not actions: {imported.unread:,} (harness show ITEM --run {name} prints them)", err=True
        )
