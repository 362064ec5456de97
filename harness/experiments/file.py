"""The YAML files of experiments: options of our own commands that all rows share, and options that differ in each row."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any, TypeVar

import click
from pydantic import Field

from harness.errors import FaultsError, HarnessError, UsageError
from harness.experiments.grid import Row
from harness.runs.folder import RUNS
from harness.util.options import ModelCommand
from harness.util.registry import choose
from harness.util.settings import Strict, checked, described_schema, flat, read_values

T = TypeVar("T")

SHIPPED = Path(__file__).parent / "shipped"
SCHEMA = SHIPPED / "experiment.schema.json"
"""The schema by which editors complete keys and mark faults; `tools/recipe_schema.py` writes it."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
"""A row's name, which is also the name of its folder."""

NOT_OF_ROWS = ("name", "set", "json", "dry-run", "preview", "diff", "checkpoint")
"""Options of commands that a file gives in another way, or that produce no answers."""
OF_THE_TRAINING = ("adapter", "model", "task", "items", "context", "format", "frame", "template")
"""Options of the answering command that the row's own training determines."""

Options = dict[str, Any]


class Differing(Strict):
    """What differs in a row. A list of values for an option that takes one value stands for a row with each of them."""

    name: Annotated[str, Field(pattern=f"^{NAME.pattern}$")] | None = None
    """The beginning of the row's name; the values chosen from lists follow."""
    finetune: Options = {}
    """Options of harness finetune, without dashes, with `recipe` and `set`: the row trains an adapter or a model, and asks it."""
    train: Options = {}
    """Options of harness baseline train, with `baseline` and `set`: the row trains a baseline, and asks it."""
    prompt: Options = {}
    """Options of harness prompt. null removes a shared value."""
    predict: Options = {}
    """Options of harness baseline predict, with `baseline`."""


class Experiment(Strict):
    """Rows that are run, scored, and compared with the first row of their task. A list of values for an option that takes one
    value stands for a row with each of them."""

    finetune: Options = {}
    """Options of harness finetune, without dashes, with `recipe` and `set`: rows train adapters or models, and ask them."""
    train: Options = {}
    """Options of harness baseline train, with `baseline` and `set`: rows train baselines, and ask them."""
    prompt: Options = {}
    """Options of harness prompt, for all rows."""
    predict: Options = {}
    """Options of harness baseline predict, with `baseline`, for all rows."""
    rows: Annotated[list[Differing], Field(min_length=1)] = [Differing()]
    """What differs in each row."""


@dataclass(frozen=True)
class ExperimentStep:
    """A command that rows are made of."""

    words: tuple[str, ...]
    command: click.Command
    check: Callable[[Any, bool], str]
    """For a training, what it makes: "adapter" or "model". For an answering command, its task; "" if only the training tells.
    Raises the errors that the command would raise before it loads a model. The second argument says whether the model is yet to
    be trained."""
    subject: str | None = None
    """The key whose value follows the words on the command line."""

    @property
    def options(self) -> dict[str, click.Option]:
        """The options by their keys in a file, which are their names without the dashes."""
        own = [param for param in self.command.params if isinstance(param, click.Option)]
        named = {option.opts[0].removeprefix("--"): option for option in own}
        return {name: option for name, option in named.items() if name not in NOT_OF_ROWS}


Cell = dict[str, Options]
"""The options of a row, by step."""


class _File:
    """Reads a file into the rows of a grid, whose runs go to runs/`name`."""

    def __init__(self, path: Path, name: str, steps: Mapping[str, ExperimentStep]) -> None:
        if not NAME.fullmatch(name):
            raise UsageError(f"--name {name}: use letters, digits, ., _, + and -")
        self.path, self.name, self.steps = path, name, steps
        self.faults: list[str] = []

    def read(self, overrides: Sequence[str]) -> dict[str, list[Row]]:
        experiment = checked(Experiment, self.path, read_values(self.path, "experiment"), overrides)
        parts: dict[str, list[Row]] = {}
        names: set[str] = set()
        for number, row in enumerate(experiment.rows, start=1):
            named = f"row {row.name or number}: "
            # A fault in what all rows share is reported once.
            where = {step: named if getattr(row, step) else "" for step in self.steps}
            blocks = {step: self._merged(where[step], getattr(row, step), getattr(experiment, step)) for step in self.steps}
            if not (cells := self._cells(row.name, blocks)):
                self._fault(f"{named}a list is empty")
            for name, cell in cells.items():
                if name in names:
                    self._fault(f"{named}the name {name} is taken by another row")
                elif made := self._row(where, named, name, cell):
                    parts.setdefault(made[0], []).append(made[1])
                names.add(name)
        if self.faults:
            raise FaultsError(f"{self.path}: {fault}" for fault in self.faults)
        return parts

    def _attempt(self, where: str, step: Callable[[], T]) -> T | None:
        """The result of `step`; None if it raises an error, which is kept as a fault."""
        try:
            return step()
        except click.ClickException as error:
            self._fault(where + error.format_message())
        except HarnessError as error:
            for fault in getattr(error, "faults", (error,)):
                self._fault(f"{where}{fault}")
        return None

    def _fault(self, what: str) -> None:
        if (line := " ".join(what.split())) not in self.faults:
            self.faults.append(line)

    def _merged(self, where: str, own: Options, shared: Options) -> Options:
        """A row's options, completed by the shared ones."""
        values = own | {key: value for key, value in shared.items() if key not in own}
        changes = [block.get("set") or {} for block in (shared, own)]
        if all(isinstance(one, dict) for one in changes):
            return values | ({"set": flat(changes[0]) | flat(changes[1])} if any(changes) else {})
        self._fault(f"{where}set: give keys of the recipe with their values, as in training.max_steps: 30")
        return {key: value for key, value in values.items() if key != "set"}

    def _cells(self, own: str | None, blocks: Cell) -> dict[str, Cell]:
        """A cell for every combination of the values in lists, by the row's name."""
        given = [(step, key, value) for step, block in blocks.items() for key, value in block.items()]
        axes = [one for one in given if self._lists(*one)]
        cells: dict[str, Cell] = {}
        for chosen in product(*(values for *_, values in axes)):
            cell = {step: dict(block) for step, block in blocks.items()}
            for (step, key, _), value in zip(axes, chosen, strict=True):
                cell[step][key] = value
            cell["prompt"] = _with_examples(cell["prompt"])
            labels = [_label(key, cell[step][key]) for step, key, _ in axes if key in cell[step]]
            # Without examples, the ways to choose them make no difference: they give the same row again.
            cells["_".join([*([own] if own else []), *labels]) or "row"] = cell
        return cells

    def _lists(self, step: str, key: str, value: Any) -> bool:
        option = self.steps[step].options.get(key)
        several = option is not None and option.multiple
        return isinstance(value, list) and (not several or any(isinstance(one, list) for one in value))

    def _row(self, where: Mapping[str, str], named: str, name: str, cell: Cell) -> tuple[str, Row] | None:
        """The task and the row; None if the row is faulty."""
        used = [step for step in self.steps if cell[step]]
        training = next((step for step in ("finetune", "train") if step in used), None)
        answer = "predict" if training == "train" or "predict" in used else "prompt"
        if not used or {*used} - {training, answer}:
            has = " and ".join(used) or "nothing to run"
            self._fault(f"{named}it has {has}: give finetune and prompt, train and predict, or only prompt or predict")
            return None
        known, run, commands = len(self.faults), RUNS / self.name / name, []
        subject: list[str] = []
        if training:
            trained = [*self._words(where[training], training, cell[training]), "--name", f"{self.name}/{name}"]
            made = self._checked(where[training], training, trained, known, untrained=False)
            commands.append((*self.steps[training].words, *trained))
            subject = _asked(training, made, run, cell[training])
            run /= str(cell[answer].get("split") or "dev")
        known = len(self.faults)
        asked = [*subject, *self._words(where[answer], answer, cell[answer], OF_THE_TRAINING if training else ())]
        asked += ["--name", run.relative_to(RUNS).as_posix()]
        task = self._checked(where[answer], answer, asked, known, untrained=training is not None)
        commands.append((*self.steps[answer].words, *asked))
        files = dict.fromkeys(Path(word) for words in commands for word in words if Path(word).is_file())
        return task or "", Row(name, tuple(commands), run, tuple(files))

    def _checked(self, where: str, step: str, words: Sequence[str], known: int, *, untrained: bool) -> str | None:
        """What a step's check returns; None if it refuses the words, or if there are already more than `known` faults."""
        if len(self.faults) > known:
            return None
        command = self.steps[step].command
        assert isinstance(command, ModelCommand)
        return self._attempt(where, lambda: self.steps[step].check(command.parsed(words), untrained))

    def _words(self, where: str, name: str, values: Options, left_out: Sequence[str] = ()) -> Iterator[str]:
        """The options of a step as words of the command line."""
        step = self.steps[name]
        known = {key: option for key, option in step.options.items() if key not in left_out}
        subject = [step.subject] if step.subject and not left_out else []
        more = ["set"] if any(param.name == "overrides" for param in step.command.params) else []
        for key in values:
            self._attempt(f"{where}{name}: ", partial(choose, "key", str(key), [*known, *subject, *more]))
        for key in subject:
            if not isinstance(values.get(key), str):
                self._fault(f"{where}{name}: {key}: give its name")
            yield str(values.get(key))
        for key, option in known.items():
            if values.get(key) is not None:
                yield from self._option(f"{where}{name}: {key}: ", option, values[key])
        for key, value in values.get("set", {}).items():
            yield from ("--set", f"{key}={json.dumps(value)}")

    def _option(self, where: str, option: click.Option, value: Any) -> Iterator[str]:
        given = value if isinstance(value, list) and option.multiple else [value]
        if option.is_flag:
            flags = option.opts if value is True else option.secondary_opts if value is False else None
            if flags is None:
                self._fault(f"{where}true or false, not {value!r}")
            yield from flags[:1] if flags else ()
        elif any(isinstance(one, dict | list | bool) for one in given):
            self._fault(f"{where}{value!r} is not a value of this option")
        else:
            yield from (word for one in given for word in (option.opts[0], str(one)))


def _asked(training: str, made: str | None, run: Path, values: Options) -> list[str]:
    """The words of the command line that name the trained model."""
    if training == "train":
        task = ["--task", str(values["task"])] if values.get("task") else []
        return [str(values.get("baseline")), *task, "--checkpoint", str(run)]
    if made == "model":
        return ["--model", str(run / "model")]
    return ["--adapter", str(run), *(["--model", str(values["base"])] if values.get("base") else [])]


def _with_examples(values: Options) -> Options:
    """The options of a prompt without those that have no effect, such as the encoder if examples are chosen at random."""
    select, order = values.get("select"), str(values.get("shot-order"))
    idle = {
        "select": values.get("shots") == 0,
        "shot-ids": select not in ("fixed", None),
        "encoder": select not in ("embedding", None),
        "shot-order": select in ("random", "fixed") and order.startswith("best"),
    }
    return {key: value for key, value in values.items() if not (idle.get(key) or (key in idle and values.get("shots") == 0))}


def _label(key: str, value: Any) -> str:
    """A value as it appears in the names of rows."""
    if value in (None, []):
        return f"{key}-default" if value is None else f"no-{key}"
    several = value if isinstance(value, list) else [value] if isinstance(value, str) else [f"{key}-{value}"]
    text = "+".join(Path(str(one)).name for one in several)
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text)


def read_experiment(
    path: Path, name: str, steps: Mapping[str, ExperimentStep], overrides: Sequence[str] = ()
) -> dict[str, list[Row]]:
    """The rows of a file by task, whose runs go to runs/`name`; `overrides` are keys of the file with values, as in
    prompt.limit=20.

    Raises FaultsError with all faults of the file, and UsageError if the file is not a mapping in YAML.
    """
    return _File(path, name, steps).read(overrides)


def experiment_schema(steps: Mapping[str, ExperimentStep]) -> dict[str, Any]:
    """The JSON Schema of a file: its keys, and the commands' options with their types, ranges and help."""
    made = described_schema(Experiment)
    for name, step in steps.items():
        known = {key: _schema_of(option) for key, option in step.options.items()}
        known |= {step.subject: {"type": "string"}} if step.subject else {}
        known |= {"set": {"type": "object"}} if step.subject and name != "predict" else {}
        for part in (made, made["$defs"]["Differing"]):
            about = part["properties"][name]["description"]
            part["properties"][name] = {"description": about, "$ref": f"#/$defs/{name}"}
        made["$defs"][name] = {"additionalProperties": False, "properties": known}
    return made


def _schema_of(option: click.Option) -> dict[str, Any]:
    """The schema of an option's values. The values in a list are checked when the file is read."""
    kind = option.type
    made: dict[str, Any] = {"description": option.help or ""}
    if isinstance(kind, click.Choice):
        return made | {"anyOf": [{"enum": [*kind.choices, None]}, {"type": "array"}]}
    number = isinstance(kind, click.types.IntParamType | click.types.FloatParamType)
    limits = {"minimum": getattr(kind, "min", None), "maximum": getattr(kind, "max", None)} if number else {}
    made |= {key: value for key, value in limits.items() if value is not None}
    return made | {"type": ["boolean" if option.is_flag else "number" if number else "string", "null", "array"]}
