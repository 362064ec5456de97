"""Every command on a page runs on the sample, page by page, or parses if it needs a model or the authors' data."""

import io
import re
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import click
import pytest

from adapters.recipe import load_recipe
from harness.baselines import BASELINES
from harness.cli import cli, main
from harness.engines.engine import ENGINES
from harness.errors import HarnessError
from harness.util.registry import choose, resolve
from prompts.spec import PromptSpec
from tests.helpers import ROOT
from tests.helpers.documented import PAGES, Command, Shown, commands, shown
from tools import cli_page

PLACEHOLDERS = {"COMMAND": "data", "T": "hexagons", "TASK": "hexagons", "N": "1"}
"""Replacements for placeholders in capitals whose values the command line checks."""

NOT_RUN = {
    "asks a language model": r"prompt|serve|experiment|adapters check|check",
    "trains": r"finetune|baseline train",
    "asks a trained network": r"baseline predict (?!parser|rules)",
    "is about a trained run": r"adapters (export|import|merge|push)|export deberta-400|export sampled|program collect",
    "is about items of the authors' corpora": r".*\b(hexagons|minecraft)/(train|dev|test)/|program check",
    "runs until it is stopped": r"app\b",
    "takes minutes": r"simulate (--preset paper|level)|play",
}
"""Commands of code blocks that are parsed but not run, by the reason."""

ITEMS = "8"
"""The number of items to make if a command makes more."""


def parse(words: list[str]) -> click.Context:
    """Lets the command line check the words of a command without running it."""
    contexts = [click.Context(cli)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(click.Command, "invoke", lambda self, context: contexts.append(context))
        cli.main(words, prog_name="harness", standalone_mode=False)
    return contexts[-1]


def check_names(context: click.Context) -> None:
    """Checks the recipes, their keys, the prompt format and the engine that a command names. Raises UsageError."""
    values, path = context.params, context.command_path.split()[1:]
    match path:
        case ["finetune"]:
            load_recipe(values["recipe"], values["overrides"])
        case ["baseline", "train"]:
            resolve("baseline", values["baseline"], BASELINES)().recipe(values["overrides"])
        case ["baseline", "predict"]:
            choose("baseline", values["baseline"], BASELINES)
        case ["prompt"]:
            choose("engine", values["engine"], ENGINES)
    if path in (["finetune"], ["prompt"]):
        for task in (values["task"] or "hexagons").split(","):
            PromptSpec.make(task, values["context"], values["format"], values["frame"])


def run(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(command.typed.encode())))
    assert main([ITEMS if word.isdigit() and before == "--items" else word for before, word in pairwise(command.words)]) == 0


def check(one: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs or parses the commands of a block; parses the command of a sentence, which may leave out required options."""
    if one.in_text:
        words = re.sub(r"\[|\]|\.\.\.", "", one.text).split()[1:]
        with suppress(click.MissingParameter, click.exceptions.NoArgsIsHelpError):
            parse([PLACEHOLDERS.get(word, word) for word in words])
        return
    # The examples in cli.md use files that do not exist, and results need long runs.
    runs = one.page.parent != ROOT / "docs" / "results" and one.page.name != "cli.md"
    for command in commands(one.text):
        if command.words[0] == "echo" and command.out:
            Path(command.out).write_text(" ".join(command.words[1:]) + "\n")
        elif command.words[0] == "harness":
            if runs and not any(re.match(pattern, " ".join(command.words[1:])) for pattern in NOT_RUN.values()):
                run(command, monkeypatch)
            else:
                check_names(parse(list(command.words[1:])))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_run_on_the_sample_or_parse(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").touch()
    for one in shown(page, page.read_text()):
        try:
            check(one, monkeypatch)
        except (click.UsageError, HarnessError, AssertionError) as error:
            pytest.fail(f"{one}\n{error}")


def test_the_page_of_the_command_line_is_up_to_date() -> None:
    assert cli_page.PAGE.read_text() == cli_page.page(), "if the change is meant: make docs"
