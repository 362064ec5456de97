"""From the file of an experiment to its rows: the commands of each, checked as the commands themselves check their options."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from eval.paper_table import Place, find_table, places
from eval.published import Table
from eval.score_run import Benchmark
from harness.corpora.records import load_items
from harness.errors import FaultsError, HarnessError
from harness.experiments.file import ANSWERS, OF_THE_TRAINING, TRAININGS, Differing, ExperimentStep, Options, Scale, read_file
from harness.experiments.grid import Answered, Command, Row
from harness.experiments.words import DataSets, Words, attempt
from harness.runs.folder import RUNS
from harness.util.registry import choose
from harness.util.settings import flat, takes_list

if TYPE_CHECKING:
    from harness.training.job import Job

Cell = dict[str, Options]
"""The options of a row, by step."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the command line says of the rows."""

    overrides: Sequence[str] = ()
    """Keys of the file with values, as in prompt.limit=20."""
    only: Collection[str] = ()
    """The rows to run; empty: all."""
    checkpoints: Mapping[str, str] = field(default_factory=dict)
    """By row, a trained model in place of its training."""
    scale: Scale | None = None


@dataclass(frozen=True)
class Plan:
    """The rows of a file, those that only make files first, and the table of a paper that they fill."""

    rows: Sequence[Row]
    table: Table | None

    def parts(self) -> dict[str, tuple[str, list[Row]]]:
        """By title, a test and the rows that have it, for each task."""
        made: dict[str, tuple[str, list[Row]]] = {}
        for row in self.rows:
            for test in row.tests:
                made.setdefault(", ".join(filter(None, (row.task, test))), (test, []))[1].append(row)
        return made


Look = Callable[[str, "Job", int], None]


def read_experiment(
    path: Path,
    name: str,
    steps: Mapping[str, ExperimentStep],
    asked: Asked | None = None,
    look: Look = lambda row, job, items: None,
) -> Plan:
    """The rows of a file, whose runs go to runs/`name`. `look` is called with the name of each row that trains, its training, and
    the number of train items, of which the training has only a sample if they are yet to be made.

    Raises FaultsError for what is wrong in the file, and UsageError if the file is not a mapping in YAML.
    """
    try:
        with TemporaryDirectory() as samples:
            return _Reader(path, name, Words(steps), asked or Asked(), Path(samples), look).read()
    except FaultsError as error:
        told = (fault.replace(f"{samples}/", "") for fault in error.faults)
        raise FaultsError(fault if fault.startswith(str(path)) else f"{path}: {fault}" for fault in told) from None


@dataclass(frozen=True, kw_only=True)
class _Source:
    """What a row is made of."""

    name: str
    of: str
    """The name in the file, without the values chosen from lists."""
    differing: Differing
    cell: Cell
    tests: Mapping[str, Options]
    place: Place | None

    @property
    def named(self) -> str:
        return f"row {self.of}: "


class _Reader:
    """Reads a file into rows."""

    def __init__(self, path: Path, name: str, words: Words, asked: Asked, samples: Path, look: Look) -> None:
        self.name, self.words, self.asked, self.look = name, words, asked, look
        self.file = read_file(path, asked.overrides)
        self.data = DataSets(self.file.data, words, asked.scale, RUNS / name / "data", samples)

    def read(self) -> Plan:
        of = self.file.table
        table = attempt("table: ", lambda: find_table(of.paper, of.table, of.figure)) if of else None
        sources: dict[str, _Source] = {}
        for number, row in enumerate(self.file.rows, start=1):
            for one in self._sources(number, row, table):
                if one.name in sources:
                    raise FaultsError([f"{one.named}the name {one.name} is taken by another row"])
                sources[one.name] = one
        known = {name for one in sources.values() for name in (one.name, one.of)}
        for word in (*self.asked.only, *self.asked.checkpoints):
            attempt("", partial(choose, "row", word, sorted(known)))
        if not sources:
            raise FaultsError(["table: none of the rows is in it: give them the key system"])
        rows = [self._row(one) for one in sources.values()]
        return Plan([*self.data.rows(), *rows], table)

    def _sources(self, number: int, row: Differing, table: Table | None) -> Iterator[_Source]:
        """The rows that one of the file stands for, as far as they are in the table."""
        own = row.name or re.sub(r"[^A-Za-z0-9._+-]+", "-", row.system or "") or None
        named = f"row {own or number}: "
        blocks = {step: _merged(named, getattr(row, step), getattr(self.file, step)) for step in (*TRAININGS, *ANSWERS)}
        if not (cells := self._cells(own, blocks)):
            raise FaultsError([f"{named}a list is empty"])
        for name, cell in cells.items():
            place = _place(row.system, cell)
            sets = [one.set for one in places(table) if one._replace(set="") == place] if table else list(self.file.tests)
            if table and not sets:
                continue
            tests = dict.fromkeys([*sets, *([row.choose] if row.choose else [])])
            if lacking := [test for test in tests if test not in self.file.tests]:
                raise FaultsError([f"{named}the file has no test {lacking[0]}: add it to tests"])
            options = {test: self.file.tests[test] for test in tests} or {"": {}}
            yield _Source(name=name, of=own or str(number), differing=row, cell=cell, tests=options, place=place)

    def _cells(self, own: str | None, blocks: Cell) -> dict[str, Cell]:
        """A cell for every combination of the values in lists, by the row's name."""
        sets = [(step, True, key, value) for step, block in blocks.items() for key, value in block.get("set", {}).items()]
        given = [(step, False, key, value) for step, block in blocks.items() for key, value in block.items() if key != "set"]
        axes = [axis for axis in (*given, *sets) if isinstance(axis[3], list) and self._stands_for_one(blocks, *axis)]
        most = self.asked.scale.grid if self.asked.scale else None
        cells: dict[str, Cell] = {}
        for chosen in product(*(values[:most] for *_, values in axes)):
            cell = {step: {**block, **({"set": {**block["set"]}} if "set" in block else {})} for step, block in blocks.items()}
            for (step, of_set, key, _), value in zip(axes, chosen, strict=True):
                (cell[step]["set"] if of_set else cell[step])[key] = value
            cell["prompt"] = left = _with_examples(cell["prompt"])
            labels = [
                _label(key, value)
                for (step, _, key, _), value in zip(axes, chosen, strict=True)
                if step != "prompt" or key in left
            ]
            # Without examples, the ways to choose them make no difference: they give the same row again.
            cells["_".join([*([own] if own else []), *labels]) or "row"] = cell
        return cells

    def _stands_for_one(self, blocks: Cell, step: str, of_set: bool, key: str, values: Sequence[Any]) -> bool:
        """Whether a list holds the values of several rows: what it is given for takes one value, or it is a list of lists."""
        its = self.words.steps[step]
        if any(isinstance(one, list) for one in values):
            return True
        if not of_set:
            return key not in its.options or not its.options[key].multiple
        with suppress(HarnessError):  # An unknown baseline or recipe is reported where its training is checked.
            return its.schema is not None and not takes_list(its.schema(str(blocks[step].get(its.subject or ""))), key)
        return False

    def _row(self, one: _Source) -> Row:
        asked, row = self.asked, one.differing
        about: dict[str, Any] = {"name": one.name, "of": one.of, "place": one.place, "choose": row.choose}
        if row.reason:
            return Row(**about, reason=row.reason)
        used = [step for step, values in one.cell.items() if values]
        training = next((step for step in TRAININGS if step in used), None)
        answer = "predict" if training == "train" or "predict" in used else "prompt"
        if not used or {*used} - {training, answer}:
            has = " and ".join(used) or "nothing to run"
            raise FaultsError(
                [f"{one.named}it has {has}: give finetune and prompt, train and predict, or only prompt or predict"]
            )
        check = not asked.only or bool({one.name, one.of} & {*asked.only})
        tests = dict[str, Answered]()
        commands, subject, task = self._training(one, training, check=check) if training else ([], [], "")
        for name in one.tests:
            command, tests[name], task = self._test(one, name, answer, subject, task, trained=bool(commands), check=check)
            commands.append(command)
        reason = "" if check else "left out by --only"
        return Row(**about, commands=tuple(commands), tests=tests, task=task, reason=reason)

    def _training(self, one: _Source, training: str, *, check: bool) -> tuple[list[Command], list[str], str]:
        """The command that trains, unless there is a checkpoint; the words that name the model; and its task, if it is known."""
        values, scale = one.cell[training], self.asked.scale
        values = scale.training(str(values.get(self.words.steps[training].subject or "")), values) if scale else values
        run = RUNS / self.name / one.name
        if checkpoint := self.asked.checkpoints.get(one.name) or self.asked.checkpoints.get(one.of):
            return [], _model(training, None, checkpoint, values), ""
        name, job = ["--name", f"{self.name}/{one.name}"], None
        words = [*self.words.of(one.named, training, self.data.named(values)), *name]
        if check:
            sample = self.words.of(one.named, training, self.data.named(values, sample=True))
            job = self.words.checked(one.named, training, [*sample, *name])
            self.look(one.name, job, len(job.items) + self.data.missing_items(values.get("data", [])))
        command = Command((*self.words.steps[training].words, *words))
        return [command], _model(training, job, str(run), values), job.task if job else ""

    def _test(
        self, one: _Source, name: str, answer: str, subject: Sequence[str], task: str, *, trained: bool, check: bool
    ) -> tuple[Command, Answered, str]:
        """The command that answers a test's items, where its answers are, and the task."""
        scale, options = self.asked.scale, dict(one.tests[name])
        options |= {key: value for key, value in scale.tests.items() if key in options} if scale else {}
        kind, annotation = (options.pop(key, None) for key in ("benchmark", "annotation"))
        values = one.cell[answer] | options | (scale.options.get(answer, {}) if scale else {})
        where = f"{one.named}test {name}: " if name else one.named
        part = [name] if name else [str(values.get("split") or "dev")] if subject else []
        run = Path(self.name, one.name, *part)

        def words(*, sample: bool) -> list[str]:
            left_out = OF_THE_TRAINING if subject else ()
            own = self.words.of(where, answer, self.data.named(values, sample=sample), left_out)
            return [*subject, *own, "--name", run.as_posix()]

        command, file = words(sample=False), Path(annotation) if annotation else None
        benchmark = attempt(where, lambda: Benchmark(kind, file))
        if check:
            found = self.words.checked(where, answer, words(sample=True), untrained=trained)
            task = task or found
            items = self.data.named(values, sample=True).get("items")
            if task:
                split = Path(items).name if items else str(values.get("split") or "dev")
                attempt(where, lambda: benchmark.check(task, split))
                attempt(f"{where}items: ", lambda: load_items(Path(items), task) if items else None)
        makes = RUNS / run / "predictions.jsonl"
        return Command((*self.words.steps[answer].words, *command), makes), Answered(RUNS / run, benchmark), task


def _merged(where: str, own: Options, shared: Options) -> Options:
    """A row's options, completed by the shared ones."""
    values = own | {key: value for key, value in shared.items() if key not in own}
    changes = [block.get("set") or {} for block in (shared, own)]
    if not all(isinstance(one, dict) for one in changes):
        raise FaultsError([f"{where}set: give keys of the recipe with their values, as in training.max_steps: 30"])
    return values | ({"set": flat(changes[0]) | flat(changes[1])} if any(changes) else {})


def _model(training: str, job: Any, run: str, values: Options) -> list[str]:
    """The words of the command line that name a trained model: of a run, or any checkpoint."""
    if training == "train":
        task = ["--task", str(values["task"])] if values.get("task") else []
        return [str(values.get("baseline")), *task, "--checkpoint", run]
    if job and job.result(Path(run)).name == "model":
        return ["--model", str(job.result(Path(run)))]
    return ["--adapter", run, *(["--model", str(values["base"])] if values.get("base") else [])]


def _place(system: str | None, cell: Cell) -> Place | None:
    """The place of a row in a paper's table, whatever the set."""
    if system is None:
        return None
    trained = cell["train"] or cell["finetune"]
    context = trained.get("context") or trained.get("set", {}).get("context")
    return Place("", system, context, trained.get("train-items"))


def _with_examples(values: Options) -> Options:
    """The options of a prompt without the ways to choose examples if there are none."""
    idle = ("select", "shot-ids") if values.get("shots") == 0 else ()
    return {key: value for key, value in values.items() if key not in idle}


def _label(key: str, value: Any) -> str:
    """A value as it appears in the names of rows."""
    key = key.rpartition(".")[2]
    if value in (None, []):
        return f"{key}-default" if value is None else f"no-{key}"
    several = value if isinstance(value, list) else [value] if isinstance(value, str) else [f"{key}-{value}"]
    text = "+".join(Path(str(one)).name for one in several)
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text)
