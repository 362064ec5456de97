"""`harness mix`: how much synthetic data helps a baseline, set by set or in all combinations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.worlds.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.corpora.item import Item


@click.command()
@click.argument("name")
@click.option(
    "--data", multiple=True, required=True, type=click.Path(path_type=Path), help="A synthetic set from harness simulate."
)
@click.option("--fractions", default="0,0.25,0.5,1", show_default=True, help="Fractions of each set; 0 is the corpus alone.")
@click.option("--grid", is_flag=True, help="All combinations of the sets' fractions. [default: one set at a time]")
@click.option("--task", help=f"{TASKS}. [default: the model's own]")
@click.option("--name", "run_name", help="Name of the folder under runs/; mix-NAME-TASK if not given.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a key of the recipe, as in variant=B.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first items of train and of dev.")
@click.option("--max-epochs", type=click.IntRange(min=1), help="Train for at most N epochs instead of the recipe's.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def mix(name: str, as_json: bool, **options: Any) -> None:
    """Train the baseline NAME on the train split and some of each synthetic set, and score each model on dev.

    \b
    harness mix cnn-gru --data blocks.jsonl --data shapes.jsonl
    harness mix cnn-gru --data blocks.jsonl --data shapes.jsonl --grid --fractions 0,0.5,1

    To resume a killed mix, give the same command again.
    """
    import json
    from functools import partial

    from harness.baselines import BASELINES, Baseline, Ruled, choose_decoding
    from harness.baselines.job import BaselineJob
    from harness.baselines.mixing import Mix, cells, parse_fractions
    from harness.corpora import load
    from harness.errors import UsageError
    from harness.runs.folder import RUNS
    from harness.util.files import write_atomically
    from harness.util.registry import choose, resolve

    chosen: Baseline | Ruled = resolve("baseline", name, BASELINES)()
    if isinstance(chosen, Ruled):
        raise UsageError(f"{name} has nothing to train")
    task = choose(f"task of {name}", options["task"] or chosen.tasks[0], chosen.tasks)
    fractions = parse_fractions(options["fractions"])
    limit = [f"training.epochs={options['max_epochs']}"] if options["max_epochs"] else []
    recipe = chosen.recipe([*options["overrides"], *limit])
    own, dev = load(task, "train"), load(task, "dev")
    sets = _sets(options["data"], task, [*own, *dev])
    items, dev = own[: options["limit"]], dev[: options["limit"]]
    base = BaselineJob(name=name, baseline=chosen, task=task, recipe=recipe, items=items, dev=dev)
    folder = RUNS / (options["run_name"] or f"mix-{name}-{task}")
    planned = cells(list(sets), fractions, grid=options["grid"])
    counts = ", ".join(f"{len(items)} of {file}" for file, items in sets.items())
    say = partial(click.echo, err=as_json)
    say(f"{base}; {counts}; {len(planned)} cells; {folder}")
    done = Mix(base, sets, choose_decoding(name, chosen, {}), folder)
    lines = done.run(planned, say)
    write_atomically(folder / "mix.svg", _chart(lines))
    if as_json:
        click.echo(json.dumps(lines))
    else:
        _print(lines)
    say(f"{done.results}, {folder / 'mix.svg'}")


def _sets(files: Sequence[Path], task: str, there: list[Item]) -> dict[str, list[Item]]:
    """The synthetic items by their files' names without what follows the first dot."""
    from harness.baselines.mixing import CORPUS
    from harness.corpora.records import load_more
    from harness.errors import UsageError

    sets = {file.partition(".")[0]: items for file, items in load_more(files, task, there).items()}
    if len(sets) < len(files) or CORPUS in sets:
        raise UsageError(f"--data: a set is named after its file, so no two may have the same name, nor may one be {CORPUS}")
    return sets


def _print(lines: list[dict[str, Any]]) -> None:
    from rich.console import Console

    from eval.export import headline, named
    from eval.tables import numbers_table

    labels = [number.label for number in headline(lines[0]["scores"])[:2]]
    table = numbers_table(*lines[0]["items"], "dev loss", *labels, caption="Percent, with 95% intervals")
    for line in lines:
        numbers = map(str, headline(line["scores"])[:2])
        counts = (f"{count:,}" for count in line["items"].values())
        table.add_row(*counts, f"{line['dev_loss']:.3f}", *numbers)
    console = Console()
    console.print(named(lines[0]["scores"]))
    console.print(table)


def _chart(lines: list[dict[str, Any]]) -> str:
    """A learning curve for each set, with as few items of the other sets as there are."""
    from eval.export import headline, named
    from eval.report.curves import picture
    from harness.baselines.mixing import CORPUS

    sets = [name for name in lines[0]["items"] if name != CORPUS]
    least = {name: min(line["items"][name] for line in lines) for name in sets}
    series = {
        name: sorted(
            (
                (line["items"][name], headline(line["scores"])[0])
                for line in lines
                if all(line["items"][other] == least[other] for other in sets if other != name)
            ),
            key=lambda point: point[0],
        )
        for name in sets
    }
    label = headline(lines[0]["scores"])[0].label
    return picture(f"{named(lines[0]['scores'])}: {label}", series, "synthetic items")
