"""`harness play`: let a model build or draw whole games with a simulated Architect or Instructor, and score the results."""

import functools
import json
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from harness.errors import UsageError
from harness.prompting.options import FLAGS, Options
from harness.simulators import ARCHITECTS
from harness.tasks.registry import PLAYED, listed
from harness.util.options import ModelCommand, click_options, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from harness.play.player import GamePlayer
    from harness.simulators.live import LiveGame

DEFAULT = "minecraft"
"""The task if none is named."""
OF_THE_MODEL = [name for name, flag in FLAGS.items() if flag.shared]
"""The options of `harness prompt` that say how a language model is asked."""


class Play(Strict):
    """The options of `harness play` in addition to `OF_THE_MODEL`."""

    task: str | None = option(None, f"{listed(PLAYED)}. [default: the adapter's, otherwise {DEFAULT}]")
    model: str | None = option(names=("--model", "--base"))
    """parser, another baseline, an adapter, a base, or a model of the endpoint. [default: smollm2-135m]"""
    count: int | None = option(names=("--games",), ge=1)
    """The number of games. [default: 20, or as many as there are]"""
    seed: int = option(0, "Seed of the games, and of what the simulator says.", ge=0)
    split: str = option("dev", "The split that targets come from: train, dev or test.")
    source: str | None = option(None, names=("--targets",))
    """Where targets come from: simulated, or corpus (the real games). [default: simulated; hexagons: corpus, its only one]"""
    simulator: str | None = option(None, f"{listed(ARCHITECTS)}. [default: the task's own]")
    corrections: int = option(3, "Correct a step at most N times.", ge=0, le=100)
    pictures: int = option(12, "Show the first N games in report.html.", ge=0)
    name: str | None = option(None, "The run's folder under runs/. [default: built from the settings]")
    as_json: bool = option(False, "Print the scores as JSON.", names=("--json",))


@click.command(cls=ModelCommand, model=Play, params=click_options(Options, OF_THE_MODEL))
def play(options: Play, **asked: Any) -> int:
    """Let a model play whole games with a simulated Architect or Instructor, who corrects it when it builds or draws wrongly.

    \b
    harness play --task minecraft --model parser --games 100
    harness play --task hexagons --model hexagons --games 10 --engine transformers
    harness play --task minecraft --model cnn-gru --targets corpus --games 29
    harness play --task hexagons --model NAME --base-url http://127.0.0.1:8000/v1

    The model builds on its own earlier work, so its errors stay and add up. A game succeeds if it ends with the target, which in
    Minecraft may be turned about the vertical axis and shifted along the ground.
    """
    from harness.play.player import adapters_task
    from harness.play.targets import live_games, sources

    task = options.task or adapters_task(asked["adapter"] or options.model) or DEFAULT
    where = {"source": options.source, "simulator": options.simulator}
    games = live_games(task, options.count, options.seed, options.split, options.corrections, **where)
    options = options.model_copy(update={"task": task, "count": len(games), "source": options.source or sources(task)[0]})
    with _player(options, task, asked) as player:
        return _play(options, task, games, player, asked)


def _player(options: Play, task: str, asked: dict[str, Any]) -> "AbstractContextManager[GamePlayer]":
    """The player. Raises UsageError for an unknown name, and for options of language models if the player is a baseline."""
    from harness.baselines import BASELINES
    from harness.play.player import as_known, baseline_player, prompted_player

    source = click.get_current_context().get_parameter_source
    given = [name for name in OF_THE_MODEL if source(name) is not ParameterSource.DEFAULT]
    if options.model in BASELINES and not asked["base_url"]:
        if given:
            raise UsageError(f"--{given[0].replace('_', '-')} is for language models; {options.model} does not take it")
        return nullcontext(baseline_player(options.model, task))
    if asked["base_url"] and "engine" not in given:
        asked = asked | {"engine": "openai"}
    prompted = as_known(options.model, Options(**asked, task=task, seed=options.seed))
    return prompted_player(prompted, functools.partial(click.echo, err=True))


def _play(options: Play, task: str, games: "list[LiveGame]", player: "GamePlayer", asked: dict[str, Any]) -> int:
    from harness.play.games import TURNS, play_games
    from harness.runs.folder import RUNS, Run, log_to

    folder = RUNS / (options.name or _default_name(options, asked))
    kind = f"{options.source} targets, {options.corrections} corrections a step"
    title = f"{task} {options.split}: {len(games)} games, {kind}; {player.title}"
    click.echo(f"{title}; {folder}", err=options.as_json)
    own = options.model_dump(exclude={"model", "pictures", "name", "as_json"})
    with closing(Run(folder, {"command": "play", **own, **player.settings}, TURNS)) as run:
        log_to(run.folder)
        lines = play_games(run, games, player.predictor, functools.partial(click.echo, err=True))
        return _finish(run.folder, options, lines, title)


def _finish(folder: Path, options: Play, lines: list[dict[str, Any]], title: str) -> int:
    """Write play.jsonl, scores.json and report.html, and print the numbers. Returns the exit code: 1 if games were cut short."""
    from eval.live import print_games, score_games
    from harness.play.report import render
    from harness.util.files import json_line, write_atomically

    scores = {**score_games(str(options.task), lines), "targets": options.source, "split": options.split}
    write_atomically(folder / "play.jsonl", "".join(json_line(line) for line in lines))
    write_atomically(folder / "scores.json", json.dumps(scores, indent=1) + "\n")
    write_atomically(folder / "report.html", render(title, scores, lines[: options.pictures]))
    if options.as_json:
        click.echo(json.dumps(scores))
    else:
        print_games(scores)
        answers = [turn for line in lines for turn in line["dialogue"] if "actions" in turn]
        if nothing := sum(not turn["actions"] for turn in answers):
            click.echo(f"{nothing} of {len(answers)} answers did nothing; play.jsonl and report.html say why, turn by turn.")
        click.echo(f"{folder / 'play.jsonl'}, {folder / 'report.html'}")
    if not scores["errors"]:
        return 0
    first = next(line for line in lines if line["error"] is not None)
    click.echo(
        f"Error: {scores['errors']} of {len(lines)} games were cut short and are not scored; run the command again to continue "
        f"them. First: {first['id']}: {first['error']}",
        err=True,
    )
    return 1


def _default_name(options: Play, asked: dict[str, Any]) -> str:
    """The run's name, built from its settings."""
    from harness.engines.models.bases import DEFAULT_BASE
    from harness.runs.folder import trained_name

    player = Path(asked["adapter"] or options.model or DEFAULT_BASE)
    parts = [
        "play",
        str(options.task),
        options.split,
        trained_name(player),
        str(options.simulator or options.source),
        f"{options.count}-games",
    ]
    parts += [f"{asked['shots']}-shot"] if asked["shots"] else []
    parts += [f"{options.corrections}-corrections"] if options.corrections != 3 else []
    parts += {"format": ["constrained"], "feasible": ["feasible"]}.get(asked["constrain"] or "", [])
    parts += [f"seed-{options.seed}"] if options.seed else []
    return "_".join(parts).replace("/", "-")
