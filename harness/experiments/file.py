"""The YAML files of experiments: options of our own commands that all rows share, and options that differ in each row.

A scale is declared once for all files: it lets every experiment run to its end on a small machine."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

import click
from pydantic import BaseModel, Field, model_validator

from harness.engines.models.bases import load_config, load_tokenizer, resolve_base
from harness.engines.shared import quiet_transformers
from harness.errors import UsageError
from harness.util.files import cache_folder, made_once
from harness.util.settings import Positive, Strict, checked, merged, read_values

SHIPPED = Path(__file__).parent / "shipped"

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
"""A row's name, which is also the name of its folder."""
Name = Annotated[str, Field(pattern=f"^{NAME.pattern}$")]

TRAININGS, ANSWERS, SOURCES = ("finetune", "train"), ("prompt", "predict"), ("simulate", "augment")
"""The steps that train, that answer items, and that make items."""
NOT_OF_ROWS = ("name", "set", "json", "dry-run", "preview", "out", "overwrite", "preset")
"""Options of commands that a file gives in another way, or that produce no answers."""
OF_THE_TRAINING = ("adapter", "model", "task", "context", "format", "frame", "template", "checkpoint")
"""Options of the answering command that the row's own training determines."""

Options = dict[str, Any]


class TableOf(Strict):
    """A table or a figure of a paper, by its number in `eval/published.yaml`."""

    paper: str
    table: Positive | None = None
    figure: Positive | None = None


class DataSet(Strict):
    """A file of items that rows read: the options of one command."""

    simulate: Options = {}
    """Options of harness simulate, with `simulator`."""
    augment: Options = {}
    """Options of harness augment."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.simulate) == bool(self.augment):
            raise ValueError("give either simulate or augment, with its options")
        return self


class Steps(Strict):
    """Options of our commands, without dashes. A list of values for an option or a key of `set` that takes one value stands for a
    row with each of them."""

    finetune: Options = {}
    """Options of harness finetune, with `recipe` and `set`: rows train adapters or models, and ask them."""
    train: Options = {}
    """Options of harness baseline train, with `baseline` and `set`: rows train baselines, and ask them."""
    prompt: Options = {}
    """Options of harness prompt."""
    predict: Options = {}
    """Options of harness baseline predict, with `baseline`."""


class Differing(Steps):
    """What differs in a row; null removes a shared value."""

    name: Name | None = None
    """The beginning of the row's name; the values chosen from lists follow. null: `system`."""
    system: str | None = None
    """The row's name in the paper's tables (`systems` in `eval/published.yaml`)."""
    reason: str = ""
    """Why the row cannot be run; it then has no commands."""
    choose: Name | None = None
    """A test. Of the rows that lists make, the paper's table has the one with the highest score on it."""


class Experiment(Steps):
    """Rows that are run, scored, and compared with the first row of their task."""

    base: str | None = None
    """Another file, whose keys this one adds to or replaces, and whose runs it shares."""
    table: TableOf | None = None
    """The table of a paper to print, with the rows and tests that it has."""
    data: dict[Name, DataSet] = {}
    """Files of items, by the names that `data`, `dev-data` and `items` of the rows and tests give them."""
    tests: dict[Name, Options] = {}
    """By name, options of the answering command, with `benchmark` and `annotation` of harness score, for all rows."""
    rows: Annotated[list[Differing], Field(min_length=1)] = [Differing()]
    """What differs in each row."""


@dataclass(frozen=True)
class ExperimentStep:
    """A command that rows are made of."""

    words: tuple[str, ...]
    command: click.Command
    check: Callable[[Any, bool], Any]
    """For a training, its job. For an answering command, its task; "" if only the training tells. For a command that makes items,
    their number and an iterator over them. Raises the errors that the command would raise before it loads a model. The second
    argument says whether the model is yet to be trained."""
    subject: str | None = None
    """The key whose value follows the words on the command line."""
    schema: Callable[[str], type[BaseModel]] | None = None
    """The schema of the recipe that a training with this subject has."""

    @property
    def options(self) -> dict[str, click.Option]:
        """The options by their keys in a file, which are their names without the dashes."""
        own = [param for param in self.command.params if isinstance(param, click.Option)]
        named = {option.opts[0].removeprefix("--"): option for option in own}
        return {name: option for name, option in named.items() if name not in NOT_OF_ROWS}


def read_file(path: Path, overrides: Sequence[str]) -> Experiment:
    """A file with its base and the overrides, checked. Raises UsageError if it, or its base, is not a mapping in YAML, and
    FaultsError for keys and values that do not fit."""
    values = read_values(path, "experiment")
    if base := base_of(path, values):
        values = merged(read_values(base, "experiment"), values)
    return checked(Experiment, path, values, overrides)


def base_of(path: Path, values: Options) -> Path | None:
    """The file that another, with these values, adds to. Raises UsageError if it is not there."""
    name = values.get("base")
    if name is None:
        return None
    base = path.parent / str(name)
    if not base.is_file():
        raise UsageError(f"{path}: base: there is no file {base}")
    return base


def folder_name(path: Path) -> str:
    """The default name of the folder of the rows, which files with the same base share."""
    owner = base_of(path, read_values(path, "experiment")) or path
    return (owner.relative_to(SHIPPED).with_suffix("") if owner.is_relative_to(SHIPPED) else Path(owner.stem)).as_posix()


SCALES = Path(__file__).parent / "scales"


class Scale(Strict):
    """Options that replace those of every row. The items are the shipped samples'."""

    grid: Positive
    """The most values that a list keeps."""
    options: dict[str, Options]
    """By step: see `Experiment`."""
    trainings: dict[str, Options]
    """By baseline or recipe, options of its training, with `set`."""
    tests: Options
    """Options of tests that have them."""

    def training(self, subject: str, values: Options) -> Options:
        """The options of a training in this scale."""
        over = self.trainings.get(subject, {})
        return values | over | {"set": {**values.get("set", {}), **over.get("set", {})}}


def load_scale(name: str) -> Scale:
    """A scale; the base "random" in its options becomes the folder of `random_base`."""
    path = SCALES / f"{name}.yaml"
    values = read_values(path, "scale")
    for block in values["trainings"].values():
        if block.get("base") == "random":
            block["base"] = str(random_base())
    return checked(Scale, path, values)


def random_base() -> Path:
    """The folder of a miniature of the default base with random weights, made in a second."""
    folder = cache_folder() / "random" / "miniature-1"
    made_once(folder, _make)
    return folder


def _make(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    from adapters.base_check import miniature

    base = resolve_base(None)
    with torch.random.fork_rng(), quiet_transformers():
        torch.manual_seed(0)
        AutoModelForCausalLM.from_config(miniature(load_config(base))).save_pretrained(folder)
    load_tokenizer(base).save_pretrained(folder)
