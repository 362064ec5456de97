"""Ablations: a grid of the trainings in a YAML file, each a `harness finetune` and a `harness prompt` with its adapter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from harness.errors import HarnessError, UsageError
from harness.runs.folder import RUNS
from harness.runs.grid import Facts, Row, answer_costs
from harness.util.registry import choose

T = TypeVar("T")

NOT_OF_TRAININGS = ("name", "set", "dry-run")
"""Options of `harness finetune` that a file may not set, or sets in another way."""
NOT_OF_ANSWERS = ("name", "json", "preview", "adapter", "model", "task", "items", "context", "format", "frame", "template")
"""Those of `harness prompt`: its adapter says the rest."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+-]*")


@dataclass(frozen=True)
class Commands:
    """The two commands of a row, and what checks a training before it begins."""

    finetune: click.Command
    prompt: click.Command
    check: Callable[[Sequence[str]], str]
    """What `harness finetune WORDS` makes, "adapter" or "model"; raises what it would raise before it trains."""
    check_prompt: Callable[[Sequence[str]], None]


@dataclass
class _Reader:
    """Reads a file and collects all that is wrong with it."""

    path: Path
    name: str
    base: str | None
    commands: Commands
    problems: list[str] = field(default_factory=list)

    def rows(self) -> list[Row]:
        values = self._values()
        rows, answers = values.pop("rows", None), values.pop("prompt", None) or {}
        values |= {"base": self.base} if self.base else {}
        if not isinstance(answers, dict):
            self._problem("", f"prompt: give options of harness prompt, not {answers!r}")
            answers = {}
        self._check_keys("", values, self.commands.finetune, NOT_OF_TRAININGS, ("recipe", "set"))
        self._check_keys("prompt: ", answers, self.commands.prompt, NOT_OF_ANSWERS)
        if not isinstance(rows, list) or not rows:
            self._problem("", "rows: give a list of trainings, each with a name")
            rows = []
        names = [row.get("name") if isinstance(row, dict) else None for row in rows]
        made = []
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, dict) or not isinstance(row.get("name"), str) or not _NAME.fullmatch(row["name"]):
                self._problem(f"row {number}: ", "it needs a name of letters, digits, _, + and -")
            elif names.index(row["name"]) < number - 1:
                self._problem(f"row {number}: ", f"the name {row['name']} is taken by row {names.index(row['name']) + 1}")
            else:
                made.append(self._row(values, dict(row), answers))
        return made

    def _values(self) -> dict[str, Any]:
        try:
            values = yaml.safe_load(self.path.read_text())
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise UsageError(f"{self.path} is not an ablation in YAML: {error}") from None
        if not isinstance(values, dict):
            raise UsageError(f"{self.path} is not an ablation: it must hold a mapping with rows")
        return values

    def _row(self, shared: Mapping[str, Any], row: dict[str, Any], answers: Mapping[str, Any]) -> Row:
        name = row.pop("name")
        where, run = f"row {name}: ", RUNS / self.name / name
        self._check_keys(where, row, self.commands.finetune, NOT_OF_TRAININGS, ("recipe", "set"))
        values = {**shared, **row}
        changes = {**self._changes("", shared.get("set")), **self._changes(where, row.get("set"))}
        recipe, base = values.get("recipe"), values.get("base")
        training = [*self._words(where, values, self.commands.finetune, NOT_OF_TRAININGS)]
        training += [word for key, value in changes.items() for word in ("--set", f"{key}={json.dumps(value)}")]
        made: str | None = None
        if not isinstance(recipe, str):
            self._problem(where, "recipe: name one, such as llama-lora")
        else:
            training = [recipe, *training, "--name", f"{self.name}/{name}"]
            made = self._attempt(where, lambda: self.commands.check(training))
        part = str(answers.get("split") or "dev")
        trained = ["--adapter", str(run), *(("--model", str(base)) if base else ())]
        asked = ["--model", str(run / "model")] if made == "model" else trained
        asked += [*self._words("prompt: ", answers, self.commands.prompt, NOT_OF_ANSWERS), "--name", f"{self.name}/{name}/{part}"]
        self._attempt("prompt: ", lambda: self.commands.check_prompt(asked))
        files = [Path(word) for word in training if Path(word).is_file()]
        return Row(name, (("finetune", *training), ("prompt", *asked)), run / part, tuple(files))

    def _check_keys(
        self, where: str, values: Mapping[str, Any], command: click.Command, left_out: Sequence[str], more: Sequence[str] = ()
    ) -> None:
        for key in values:
            self._attempt(where, lambda key=key: choose("key", str(key), [*options(command, left_out), *more]))  # type: ignore[misc]

    def _changes(self, where: str, values: Any) -> dict[str, Any]:
        """What `set` holds, nested or not, by dotted keys."""
        if values is not None and not isinstance(values, dict):
            self._problem(where, "set: give keys of the recipe with their values, as in training.max_steps: 30")
            return {}
        return dict(_flat(values or {}))

    def _words(self, where: str, values: Mapping[str, Any], command: click.Command, left_out: Sequence[str]) -> Iterator[str]:
        return option_words(values, options(command, left_out), lambda what: self._problem(where, what))

    def _attempt(self, where: str, check: Callable[[], T]) -> T | None:
        """What `check` returns; what it refuses is a problem."""
        try:
            return check()
        except click.ClickException as error:
            self._problem(where, error.format_message())
        except HarnessError as error:
            for fault in getattr(error, "faults", (error,)):
                self._problem(where, str(fault))
        return None

    def _problem(self, where: str, what: str) -> None:
        if (problem := f"{where}{' '.join(what.split())}") not in self.problems:
            self.problems.append(problem)


def ablation_path(name: str) -> Path:
    """The file of an ablation, by path or by the name of a shipped one. Raises UsageError if there is none."""
    if name.endswith((".yaml", ".yml")) or "/" in name:
        if not Path(name).is_file():
            raise UsageError(f"no file at {name}")
        return Path(name)
    shipped = {path.stem: path for path in Path(str(files("adapters"))).glob("ablations/*.yaml")}
    return shipped[choose("ablation", name, shipped)]


def read_ablation(path: Path, name: str, base: str | None, commands: Commands) -> tuple[list[Row], list[str]]:
    """The rows of a file whose runs go to runs/`name`, and all that is wrong with it: nothing may be run if anything is.

    `base` is put over the shared one. Raises UsageError for a file that is not a mapping in YAML and a name that is no folder's.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"--name {name}: use letters, digits, _, + and -")
    reader = _Reader(path, name, base, commands)
    return reader.rows(), reader.problems


def options(command: click.Command, left_out: Sequence[str]) -> dict[str, click.Option]:
    """The options of a command by their names in a file: those on the command line without the dashes."""
    own = [param for param in command.params if isinstance(param, click.Option)]
    named = {option.opts[0].removeprefix("--"): option for option in own}
    return {name: option for name, option in named.items() if name not in left_out}


def option_words(values: Mapping[str, Any], known: Mapping[str, click.Option], problem: Callable[[str], None]) -> Iterator[str]:
    """The values of options, by their names in a file, as words of the command line; `problem` is told of those that are none."""
    for key, option in known.items():
        value = values.get(key)
        if value is None:
            continue
        given = value if isinstance(value, list) and option.multiple else [value]
        if option.is_flag:
            flags = option.opts if value is True else option.secondary_opts if value is False else None
            if flags is None:
                problem(f"{key}: true or false, not {value!r}")
            yield from flags[:1] if flags else ()
        elif any(isinstance(one, dict | list | bool) for one in given):
            problem(f"{key}: {value!r} is not a value of this option")
        else:
            yield from (word for one in given for word in (option.opts[0], str(one)))


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def facts(row: Row) -> Facts:
    """What a finished row cost: the seconds and tokens of its training and of its answers."""
    from adapters.catalog import read_about

    run = row.answers.parent
    about = read_about(next(folder for folder in (run / "adapter", run / "model") if folder.is_dir()))
    seconds, tokens = answer_costs(row)
    return {"seconds": [about.seconds, seconds], "tokens": [about.tokens, tokens]}
