"""Every command on a page parses; commands without a model or the authors' data also run on the sample, page by page."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
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
from tests.helpers.documented import Shown, all_shown, commands, shown
from tools import cli_page

Parse = Callable[[list[str]], click.Context]

PLACEHOLDERS = {"COMMAND": "data", "T": "hexagons", "TASK": "hexagons", "N": "1"}
"""Replacements for placeholders in capitals whose values the command line checks."""

NOT_RUN = {
    "asks a language model": r"prompt|serve|experiment|adapters check|check",
    "trains": r"finetune|baseline train",
    "asks a trained network": r"baseline predict (?!parser|rules)",
    "is about a trained run": r"adapters (export|import|merge)|export deberta-400|program collect",
    "is about items of the authors' corpora": r".*\b(hexagons|minecraft)/(train|dev|test)/|program check",
    "runs until it is stopped": r"app\b",
    "takes minutes": r"simulate (--preset paper|level)|play",
}
"""Commands of code blocks that are parsed but not run, by the reason."""

ITEMS = "8"
"""The number of items to make if a command makes more."""


PAGES = list(dict.fromkeys(one.page for one in all_shown()))
RUN = [page for page in PAGES if page.parent != ROOT / "docs" / "results" and page.name != "cli.md"]
"""The pages whose commands run here: the examples in cli.md use files that do not exist, and results need long runs."""


@pytest.fixture
def parse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Parse:
    """A function that lets the command line check the words of a command without running it."""
    contexts: list[click.Context] = []
    monkeypatch.setattr(click.Command, "invoke", lambda self, context: contexts.append(context))
    monkeypatch.chdir(tmp_path)
    Path("FILE").touch()

    def parsed(words: list[str]) -> click.Context:
        contexts.clear()
        cli.main(words, prog_name="harness", standalone_mode=False)
        return contexts[-1] if contexts else click.Context(cli)

    return parsed


def check_names(context: click.Context) -> None:
    """Checks the recipes, their keys, the prompt format and the engine that a command names. Raises UsageError."""
    values, path = context.params, context.command_path.split()[1:]
    match path:
        case ["finetune"]:
            load_recipe(values["recipe"], values["overrides"])
        case ["baseline", "train"]:
            kind = resolve("baseline", values["baseline"], BASELINES)()
            kind.recipe(values["overrides"])
        case ["baseline", "predict"]:
            choose("baseline", values["baseline"], BASELINES)
        case ["prompt"]:
            choose("engine", values["engine"], ENGINES)
    if path in (["finetune"], ["prompt"]):
        PromptSpec.make(values["task"] or "hexagons", values["context"], values["format"], values["frame"])


def check(one: Shown, parse: Parse) -> None:
    """Parses the commands of a block, or the command of a sentence, which may leave out required options."""
    if not one.in_text:
        for command in commands(one.text):
            if command.words[0] == "harness":
                check_names(parse(list(command.words[1:])))
        return
    words = re.sub(r"\[|\]|\.\.\.", "", one.text).split()[1:]
    with suppress(click.MissingParameter, click.exceptions.NoArgsIsHelpError):
        parse([PLACEHOLDERS.get(word, word) for word in words])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_parse(page: Path, parse: Parse) -> None:
    for one in shown(page, page.read_text()):
        try:
            check(one, parse)
        except (click.UsageError, HarnessError) as error:
            pytest.fail(f"{one}\n{error}")


def reason(words: tuple[str, ...]) -> str | None:
    """The reason why a command is not run; None if it is."""
    return next((why for why, pattern in NOT_RUN.items() if re.match(pattern, " ".join(words))), None)


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_commands_run_on_the_sample(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for one in shown(page, page.read_text()):
        for command in () if one.in_text else commands(one.text):
            if command.words[0] == "echo" and command.out:
                Path(command.out).write_text(" ".join(command.words[1:]) + "\n")
            if command.words[0] != "harness" or reason(command.words[1:]):
                continue
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(command.typed.encode())))
            code = main([ITEMS if word.isdigit() and before == "--items" else word for before, word in pairwise(command.words)])
            assert code == 0, f"{one}\n{capfd.readouterr().err}"


def test_targets_of_make_and_tools_exist() -> None:
    """Checks every `make TARGET` and `python tools/FILE --option` on a page."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        text = page.read_text()
        for target in re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE):
            assert target in targets, f"{page.name}: make {target}"
        for tool, options in re.findall(r"(?<!/)\b(tools/\w+\.py)((?: [^`#\n]+)?)", text):
            source = (ROOT / tool).read_text()
            for option in re.findall(r"--[a-z-]+", options):
                assert f'"{option}"' in source, f"{page.name}: {tool} {option}"


def test_the_page_of_the_command_line_is_up_to_date() -> None:
    assert cli_page.PAGE.read_text() == cli_page.page(), "if the change is meant: make docs"
