"""Ablations: a grid of the trainings in a YAML file, each a `harness finetune` and a `harness prompt` with its adapter."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from harness.experiments.grid import Facts, Row, answer_costs
from harness.experiments.grid_file import NAME, GridFile, options
from harness.runs.folder import RUNS
from harness.util.settings import flat, read_values, settings_file

NOT_OF_TRAININGS = ("name", "set", "dry-run")
"""Options of `harness finetune` that a file may not set, or sets in another way."""
NOT_OF_ANSWERS = ("name", "json", "preview", "adapter", "model", "task", "items", "context", "format", "frame", "template")
"""Those of `harness prompt`: its adapter says the rest."""


@dataclass(frozen=True)
class Commands:
    """The two commands of a row, and what checks a training before it begins."""

    finetune: click.Command
    prompt: click.Command
    check: Callable[[Sequence[str]], str]
    """What `harness finetune WORDS` makes, "adapter" or "model"; raises what it would raise before it trains."""
    check_prompt: Callable[[Sequence[str]], None]


class _AblationFile(GridFile):
    def __init__(self, path: Path, name: str, base: str | None, commands: Commands) -> None:
        super().__init__(path, name)
        self.base, self.commands = base, commands
        self.trained_with = options(commands.finetune, NOT_OF_TRAININGS)
        self.asked_with = options(commands.prompt, NOT_OF_ANSWERS)

    def read(self) -> list[Row]:
        values = read_values(self.path, "ablation")
        rows, answers = values.pop("rows", None), values.pop("prompt", None) or {}
        values |= {"base": self.base} if self.base else {}
        if not isinstance(answers, dict):
            self.fault(f"prompt: give options of harness prompt, not {answers!r}")
            answers = {}
        self.check_keys("", values, [*self.trained_with, "recipe", "set"])
        self.check_keys("prompt: ", answers, [*self.asked_with])
        if not isinstance(rows, list) or not rows:
            self.fault("rows: give a list of trainings, each with a name")
            rows = []
        names = [row.get("name") if isinstance(row, dict) else None for row in rows]
        made = []
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, dict) or not isinstance(row.get("name"), str) or not NAME.fullmatch(row["name"]):
                self.fault(f"row {number}: it needs a name of letters, digits, ., _, + and -")
            elif names.index(row["name"]) < number - 1:
                self.fault(f"row {number}: the name {row['name']} is taken by row {names.index(row['name']) + 1}")
            else:
                made.append(self._row(values, dict(row), answers))
        self.report()
        return made

    def _row(self, shared: Mapping[str, Any], row: dict[str, Any], answers: Mapping[str, Any]) -> Row:
        name = row.pop("name")
        where, run = f"row {name}: ", RUNS / self.name / name
        self.check_keys(where, row, [*self.trained_with, "recipe", "set"])
        values = {**shared, **row}
        changes = {**self._changes("", shared.get("set")), **self._changes(where, row.get("set"))}
        recipe, base = values.get("recipe"), values.get("base")
        training = [*self.words(where, values, self.trained_with)]
        training += [word for key, value in changes.items() for word in ("--set", f"{key}={json.dumps(value)}")]
        made: str | None = None
        if not isinstance(recipe, str):
            self.fault(f"{where}recipe: name one, such as llama-lora")
        else:
            training = [recipe, *training, "--name", f"{self.name}/{name}"]
            made = self.attempt(where, lambda: self.commands.check(training))
        part = str(answers.get("split") or "dev")
        trained = ["--adapter", str(run), *(("--model", str(base)) if base else ())]
        asked = ["--model", str(run / "model")] if made == "model" else trained
        asked += [*self.words("prompt: ", answers, self.asked_with), "--name", f"{self.name}/{name}/{part}"]
        self.attempt("prompt: ", lambda: self.commands.check_prompt(asked))
        files = [Path(word) for word in training if Path(word).is_file()]
        return Row(name, (("finetune", *training), ("prompt", *asked)), run / part, tuple(files))

    def _changes(self, where: str, values: Any) -> dict[str, Any]:
        """What `set` holds, nested or not, by dotted keys."""
        if values is not None and not isinstance(values, dict):
            self.fault(f"{where}set: give keys of the recipe with their values, as in training.max_steps: 30")
            return {}
        return flat(values or {})


def ablation_path(name: str) -> Path:
    """See `settings_file`."""
    return settings_file("ablation", name, Path(str(files("adapters"))).glob("ablations/*.yaml"))


def read_ablation(path: Path, name: str, base: str | None, commands: Commands) -> list[Row]:
    """The rows of a file whose runs go to runs/`name`; `base` replaces the shared one.

    Raises FaultsError with all that is wrong with the file, and UsageError for one that is not a mapping in YAML.
    """
    return _AblationFile(path, name, base, commands).read()


def facts(row: Row) -> Facts:
    """What a finished row cost: the seconds and tokens of its training and of its answers."""
    from adapters.catalog import read_about

    run = row.answers.parent
    about = read_about(next(folder for folder in (run / "adapter", run / "model") if folder.is_dir()))
    seconds, tokens = answer_costs(row)
    return {"seconds": [about.seconds, seconds], "tokens": [about.tokens, tokens]}
