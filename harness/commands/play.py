"""`harness play`: let a model build or draw whole games with a simulated Architect or Instructor, and score what comes out."""

from __future__ import annotations

import functools
import json
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from typing import TYPE_CHECKING, Any

import click

from harness.errors import UsageError
from harness.prompting.options import FLAGS, Options
from harness.tasks import PLAYED, SIMULATORS, TASKS, listed
from harness.util.options import GroupedCommand, click_options

if TYPE_CHECKING:
    from harness.play.player import GamePlayer
    from harness.simulators.live import LiveGame

DEFAULT = "minecraft"
"""The task where none is named."""
_REQUESTS = [name for name, task in TASKS.items() if task.judged]
_LIVE = [name for name, simulator in SIMULATORS.items() if simulator.kind in ("game", "drawing")]

OF_THE_MODEL = [name for name, flag in FLAGS.items() if flag.shared]
"""The options of `harness prompt` that say how a language model is asked."""


@click.command(cls=GroupedCommand, params=click_options(Options, OF_THE_MODEL))
@click.option("--task", help=f"{listed([*PLAYED, *_REQUESTS])}. [default: the adapter's, else {DEFAULT}]")
@click.option(
    "--architect", type=click.Choice(["simulator"]), default="simulator", show_default=True, help="Who gives the instructions."
)
@click.option(
    "--model", "--base", help="parser, another baseline, an adapter, or a base or an endpoint's model. [default: smollm2-135m]"
)
@click.option("--games", "count", type=click.IntRange(1), help="How many games. [default: 20; all requests of an everyday task]")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of the games, and of what is said.")
@click.option("--split", default="dev", show_default=True, help="The split that targets come from: train, dev or test.")
@click.option(
    "--targets",
    "source",
    default="simulated",
    show_default=True,
    help="Where targets come from: simulated, or corpus (the real games).",
)
@click.option("--simulator", help=f"{listed(_LIVE)}. [default: the task's own]")
@click.option(
    "--corrections", default=3, show_default=True, type=click.IntRange(0, 100), help="Most corrections of a step; 0: none."
)
@click.option("--give-up", is_flag=True, help="End a game at the first step that stays wrong, instead of going on.")
@click.option("--pictures", default=12, show_default=True, type=click.IntRange(0), help="The games that report.html shows.")
@click.option("--name", help="The run's folder under runs/. [default: built from the settings]")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
def play(**flags: Any) -> int:
    """Let a model play whole games with a simulated Architect or Instructor, who corrects it when it builds or draws wrongly.

    \b
    harness play --task minecraft --model parser --games 100
    harness play --task hexagons --model hexagons --games 10 --engine transformers
    harness play --task minecraft --model cnn-gru --targets corpus --games 29
    harness play --task hexagons --model NAME --base-url http://127.0.0.1:8000/v1
    harness play --task everyday-hexagons --model parser --games 20

    The model builds on what it built itself, so its errors stay and add up. A game succeeds if it ends with the target; in
    Minecraft up to turns about the vertical axis and shifts along the ground. The requests of an everyday task are asked turn by
    turn and not corrected; one succeeds if all its turns do.
    """
    from harness.play.player import adapters_task

    flags["task"] = flags["task"] or adapters_task(flags["adapter"] or flags["model"]) or DEFAULT
    games = _requests(flags) if flags["task"] in _REQUESTS else _simulated(flags)
    with _player(flags) as player:
        return _play(flags, games, player)


def _simulated(flags: dict[str, Any]) -> list[LiveGame]:
    from harness.play.targets import live_games
    from harness.simulators.live import Manner

    flags["count"] = flags["count"] or 20
    manner = Manner(flags["corrections"], flags["give_up"])
    asked = {"source": flags["source"], "simulator": flags["simulator"]}
    return live_games(flags["task"], flags["count"], flags["seed"], flags["split"], manner, **asked)


def _requests(flags: dict[str, Any]) -> list[LiveGame]:
    """The requests of an everyday task. Raises UsageError for options of simulated games."""
    from click.core import ParameterSource

    from harness.play.targets import everyday_games

    source = click.get_current_context().get_parameter_source
    for name, option in (
        ("source", "targets"),
        ("simulator", "simulator"),
        ("corrections", "corrections"),
        ("give_up", "give-up"),
    ):
        if source(name) is not ParameterSource.DEFAULT:
            raise UsageError(f"--{option}: the requests of {flags['task']} are asked as they are; leave it out")
    games = everyday_games(flags["task"], flags["count"], flags["split"])
    flags |= {"count": len(games), "source": "requests", "corrections": 0}
    return games


def _player(flags: dict[str, Any]) -> AbstractContextManager[GamePlayer]:
    """Who plays. Raises UsageError for an unknown name, and for options of language models with another player."""
    from click.core import ParameterSource

    from harness.baselines import BASELINES
    from harness.play.player import as_known, baseline_player, prompted_player

    source = click.get_current_context().get_parameter_source
    given = [name for name in OF_THE_MODEL if source(name) is not ParameterSource.DEFAULT]
    if flags["model"] in BASELINES and not flags["base_url"]:
        if given:
            raise UsageError(f"--{given[0].replace('_', '-')} is for language models; {flags['model']} does not take it")
        return nullcontext(baseline_player(flags["model"], flags["task"]))
    own = {name: flags[name] for name in OF_THE_MODEL}
    if flags["base_url"] and "engine" not in given:
        own["engine"] = "openai"
    options = Options(**own, task=flags["task"], seed=flags["seed"])
    return prompted_player(as_known(flags["model"], options), functools.partial(click.echo, err=True))


def _play(flags: dict[str, Any], games: list[LiveGame], player: GamePlayer) -> int:
    from harness.play.games import TURNS, play_games
    from harness.runs.folder import RUNS, Run, log_to

    name = flags["name"] or _default_name(flags)
    asked = (
        "requests"
        if flags["source"] == "requests"
        else f"games, {flags['source']} targets, {flags['corrections']} corrections a step"
    )
    what = f"{flags['task']} {flags['split']}: {len(games)} {asked}"
    click.echo(f"{what}; {player.title}; {RUNS / name}", err=flags["as_json"])
    own = {
        key: flags[key]
        for key in ("task", "architect", "source", "simulator", "split", "count", "seed", "corrections", "give_up")
    }
    with ExitStack() as stack:
        run = stack.enter_context(closing(Run(RUNS / name, {"command": "play", **own, **player.settings}, TURNS)))
        log_to(run.folder)
        lines = play_games(run, games, player.predictor, functools.partial(click.echo, err=True))
        return _finish(run, flags, lines, f"{what}; {player.title}")


def _finish(run: Any, flags: dict[str, Any], lines: list[dict[str, Any]], title: str) -> int:
    """Write play.jsonl, scores.json and report.html, and print the numbers. Returns the exit code: 1 if games were cut short."""
    from eval.live import print_games, score_games
    from harness.play.report import render
    from harness.util.files import json_line, write_atomically

    scores = {**score_games(flags["task"], lines), "targets": flags["source"], "split": flags["split"]}
    write_atomically(run.folder / "play.jsonl", "".join(json_line(line) for line in lines))
    write_atomically(run.folder / "scores.json", json.dumps(scores, indent=1) + "\n")
    write_atomically(run.folder / "report.html", render(title, scores, lines[: flags["pictures"]]))
    if flags["as_json"]:
        click.echo(json.dumps(scores))
    else:
        print_games(scores)
        _say_unchanged(lines)
        click.echo(f"{run.folder / 'play.jsonl'}, {run.folder / 'report.html'}")
    if not scores["errors"]:
        return 0
    first = next(line for line in lines if line["error"] is not None)
    click.echo(
        f"Error: {scores['errors']} of {len(lines)} games were cut short and count nowhere; run the command again to go on with "
        f"them. First: {first['id']}: {first['error']}",
        err=True,
    )
    return 1


def _say_unchanged(lines: list[dict[str, Any]]) -> None:
    """A line about the answers that did nothing, if there are any."""
    answers = [turn for line in lines for turn in line["dialogue"] if "actions" in turn]
    if nothing := sum(not turn["actions"] for turn in answers):
        click.echo(f"{nothing} of {len(answers)} answers did nothing; play.jsonl and report.html say why, a turn each.")


def _default_name(flags: dict[str, Any]) -> str:
    """The run's name, built from its settings."""
    from pathlib import Path

    from harness.engines.models.bases import DEFAULT_BASE

    player = Path(flags["adapter"] or flags["model"] or DEFAULT_BASE)
    model = player.parent.name if player.name in ("adapter", "model") else player.name
    parts = ["play", flags["task"], flags["split"], model, flags["simulator"] or flags["source"], f"{flags['count']}-games"]
    parts += [f"{flags['shots']}-shot"] if flags["shots"] else []
    parts += [f"{flags['corrections']}-corrections"] if flags["corrections"] != 3 and flags["source"] != "requests" else []
    parts += ["give-up"] if flags["give_up"] else []
    parts += {"format": ["constrained"], "feasible": ["feasible"]}.get(flags["constrain"] or "", [])
    parts += [f"seed-{flags['seed']}"] if flags["seed"] else []
    return "_".join(parts).replace("/", "-")
