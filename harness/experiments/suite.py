"""Suites: models by contexts, formats, templates, examples and their choice, as a grid of `harness prompt`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import click
from pydantic import Field, model_validator

from harness.experiments.grid import Facts, Row, answer_costs
from harness.experiments.grid_file import NAME, GridFile, options
from harness.prompting.shots import RANDOM, SELECTIONS
from harness.runs.folder import RUNS
from harness.util.settings import Strict, checked, described_schema, read_values, settings_file
from harness.worlds.tasks import TaskName
from prompts.spec import PromptSpec

SUITES = Path(__file__).parent / "suites"
SCHEMA = SUITES / "suite.schema.json"
"""Lets editors complete keys and mark faults; `tools/recipe_schema.py` writes it."""

NOT_OF_A_CELL = ("name", "json", "preview", "task", "context", "format", "template", "shots", "select")
"""Options of `harness prompt` that the axes say."""
OF_MODELS = ("model", "adapter", "base-url", "engine")
"""Those that a model says."""

Names = Annotated[list[str], Field(min_length=1)]
ByTask = Names | dict[TaskName, Names]


class Model(Strict):
    """Who answers: one of `base`, `adapter`, `base_url` and `scripted`."""

    base: str | None = None
    """A base model: smollm2-135m, a hub name or a local folder."""
    adapter: str | None = None
    """A LoRA adapter, by name or folder. It is asked in its own task, context, format and template."""
    base_url: str | None = None
    """Where an OpenAI-compatible endpoint listens; `model` names what it serves."""
    model: str | None = None
    """The model's name at the endpoint; for an adapter, another base."""
    scripted: str | None = None
    """A file of answers, JSON Lines of an id and a text."""
    engine: Literal["vllm", "transformers"] | None = None
    """What loads a base or an adapter; null: vllm."""
    tasks: Annotated[list[TaskName], Field(min_length=1)] | None = None
    """The tasks that it is asked; null: all, for an adapter its own."""
    prompt: dict[str, Any] = {}
    """Options of harness prompt for this model alone."""

    @model_validator(mode="after")
    def _is_one(self) -> Model:
        if [self.base, self.adapter, self.base_url, self.scripted].count(None) != 3:
            raise ValueError("give one of base, adapter, base_url and scripted")
        if self.base_url and not self.model:
            raise ValueError("base_url needs the model's name there: add model")
        if self.model and not (self.base_url or self.adapter):
            raise ValueError("model is for base_url and adapter")
        if self.engine and (self.base_url or self.scripted):
            raise ValueError("engine is for base and adapter")
        return self

    def words(self) -> list[str]:
        """Its words on the command line of `harness prompt`."""
        if self.scripted:
            return ["--engine", "scripted", "--model", self.scripted]
        if self.base_url:
            return ["--engine", "openai", "--base-url", self.base_url, "--model", str(self.model)]
        words = ["--engine", self.engine] if self.engine else []
        if self.adapter:
            return [*words, "--adapter", self.adapter, *(["--model", self.model] if self.model else [])]
        return [*words, "--model", str(self.base)]


class Suite(Strict):
    """A grid of prompting: every model on every task, in every context, format and template, with all numbers and choices of
    examples. What an axis leaves out is the task's or the template's default."""

    tasks: Annotated[list[TaskName], Field(min_length=1)] = ["hexagons"]
    """What is asked. Each task has a table of its own."""
    models: Annotated[dict[str, Model], Field(min_length=1)]
    """Who answers, by the names that stand in the tables."""
    contexts: ByTask | None = None
    """What the models see, as in --context; a list, or one for each task."""
    formats: ByTask | None = None
    """How they answer, as in --format; a list, or one for each task."""
    templates: ByTask | None = None
    """The wording, as in --template; a list, or one for each task."""
    shots: Annotated[list[Annotated[int, Field(ge=0, le=100)]], Field(min_length=1)] = [0]
    """Numbers of examples."""
    select: Annotated[list[Literal["random", "fixed", "bm25", "embedding", "structure", "diverse"]], Field(min_length=1)] = [
        "random"
    ]
    """How examples are chosen, as in --select. Without examples there is nothing to choose, and one row."""
    prompt: dict[str, Any] = {}
    """Further options of harness prompt, without dashes, for all rows: split, limit, seed."""


@dataclass(frozen=True)
class Cell:
    """One combination; None is a default."""

    task: str
    model: str
    context: str | None
    format: str | None
    template: str | None
    shots: int
    select: str

    def words(self) -> list[str]:
        given = {"--context": self.context, "--format": self.format, "--template": self.template}
        words = ["--task", self.task, *(word for key, value in given.items() if value for word in (key, value))]
        words += ["--shots", str(self.shots)] if self.shots else []
        return words + (["--select", self.select] if self.select != RANDOM else [])

    @property
    def parts(self) -> list[str]:
        """Its values as the names of rows say them."""
        template = Path(self.template).name if self.template else ""
        values = [self.task, self.model, self.context or "", self.format or "", template, f"{self.shots}-shot"]
        return [*values, self.select if self.shots else ""]


class _SuiteFile(GridFile):
    def __init__(self, path: Path, name: str, command: click.Command, check: Callable[[Sequence[str]], str]) -> None:
        super().__init__(path, name)
        self.command, self.check = command, check

    def read(self) -> dict[str, list[Row]]:
        suite = checked(Suite, self.path, read_values(self.path, "suite"))
        for name in suite.models:
            if not NAME.fullmatch(name):
                self.fault(f"models.{name}: use letters, digits, ., _, + and -")
        for axis in ("contexts", "formats", "templates"):
            known = getattr(suite, axis)
            if isinstance(known, dict) and (more := known.keys() - set(suite.tasks)):
                self.fault(f"{axis}: {min(more)} is not one of the tasks")
        cells = list(dict.fromkeys(self._cells(suite)))
        varied = [len({cell.parts[n] for cell in cells} - {""}) > 1 for n in range(len(SHOWN))]
        rows: dict[str, list[Row]] = {}
        names: set[str] = set()
        for cell in cells:
            shown = [part for part, told in zip(cell.parts, varied, strict=True) if told and part]
            name = "_".join(shown) or cell.model
            if name in names:
                self.fault(f"two rows are named {name}: two templates' folders, or a value that is there twice")
            names.add(name)
            rows.setdefault(cell.task, []).append(self._row(suite, cell, name))
        if not cells and not self.faults:
            self.fault("no model is asked any of the tasks")
        self.report()
        return rows

    def _cells(self, suite: Suite) -> Iterator[Cell]:
        """The rows, task by task and model by model."""
        for task, (name, model) in product(suite.tasks, suite.models.items()):
            if task not in (self._tasks(name, model, suite)):
                continue
            # An adapter has a prompt format of its own.
            axes = [[None] if model.adapter else _of_task(a, task) for a in (suite.contexts, suite.formats, suite.templates)]
            for (context, fmt, template), shots, select in product(product(*axes), suite.shots, suite.select):
                yield Cell(task, name, context, fmt, template, shots, select if shots else RANDOM)

    def _tasks(self, name: str, model: Model, suite: Suite) -> Sequence[str]:
        if model.tasks is not None or not model.adapter:
            return model.tasks or suite.tasks
        own = self.attempt(f"models.{name}: ", partial(self.check, model.words()))
        return [own] if own else []

    def _row(self, suite: Suite, cell: Cell, name: str) -> Row:
        model = suite.models[cell.model]
        values = {**suite.prompt, **model.prompt}
        known = options(self.command, (*NOT_OF_A_CELL, *OF_MODELS))
        self.check_keys(f"models.{cell.model}.prompt: ", model.prompt, [*known])
        self.check_keys("prompt: ", suite.prompt, [*known])
        values = {key: value for key, value in values.items() if cell.shots or key not in ("encoder", "shot-order", "shot-ids")}
        if cell.select not in ("embedding", "diverse"):
            values.pop("encoder", None)
        if cell.select != "fixed":
            values.pop("shot-ids", None)
        if cell.select in SELECTIONS[:2] and str(values.get("shot-order", "")).startswith("best"):
            values.pop("shot-order")
        words = [*cell.words(), *model.words(), *self.words("prompt: ", values, known)]
        words += ["--name", f"{self.name}/{name}"]
        for axis in ("context", "format", "template"):  # One by one, so that a fault hides no other.
            self.attempt("", partial(PromptSpec.make, cell.task, **{axis: getattr(cell, axis)}))
        self.attempt("", partial(self.check, words))
        files = [Path(word) for word in words if Path(word).is_file()]
        return Row(name, (("prompt", *words),), RUNS / self.name / name, tuple(files))


SHOWN = ("task", "model", "context", "format", "template", "shots", "select")
"""What a cell's parts are."""


def _of_task(axis: list[str] | dict[TaskName, list[str]] | None, task: str) -> Sequence[str | None]:
    named: Mapping[Any, Sequence[str]] = axis if isinstance(axis, dict) else {task: axis or ()}
    return named.get(task) or (None,)


def suite_path(name: str) -> Path:
    """See `settings_file`."""
    return settings_file("suite", name, SUITES.glob("*.yaml"))


def read_suite(path: Path, name: str, command: click.Command, check: Callable[[Sequence[str]], str]) -> dict[str, list[Row]]:
    """The rows of a file by task, whose runs go to runs/`name`.

    `command` is `harness prompt`; `check` returns the task that its words ask, and raises what it would raise before it loads a
    model. Raises FaultsError with all that is wrong with the file, and UsageError for one that is not a mapping in YAML.
    """
    return _SuiteFile(path, name, command, check).read()


def facts(row: Row) -> Facts:
    """What a finished row's answers took."""
    seconds, tokens = answer_costs(row)
    return {"seconds": [seconds], "tokens": [tokens]}


def suite_schema() -> dict[str, Any]:
    """The JSON Schema of a suite's file, with the keys' docstrings as descriptions."""
    return described_schema(Suite)
