"""The train items of a recipe: the corpus's split, simulated items, files, and augmented copies of any of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from adapters.options import Finetune
from adapters.preferences import Pair, pairs_of
from adapters.recipe import PAIRED, DataSource, FinetuneRecipe
from eval.answers import read_answers
from eval.items import sizes
from harness.augmentation.paraphrase import lexicon
from harness.augmentation.variants import augment
from harness.corpora import load
from harness.corpora.held_out import HeldOut
from harness.corpora.item import Item, items_hash, own_thought
from harness.corpora.records import load_items
from harness.corpora.rollout import as_met
from harness.errors import DataError, Faults, UsageError
from harness.runs.folder import find_run
from harness.simulators.games import simulated
from harness.tasks.registry import world_of
from harness.training.plan import subset
from prompts.messages import read_answer
from prompts.spec import PromptSpec
from serialization.annotations import ProgramAnswers, given_annotations


@dataclass
class TrainData:
    """The items of all sources, in their order."""

    items: list[Item] = field(default_factory=list)
    added: dict[str, str] = field(default_factory=dict)
    """The hashes of the sources besides the split, by their names."""
    left_out: int = 0
    """The number of simulated and augmented items that were left out because they match items of dev or test."""
    gold: list[Item] = field(default_factory=list)
    """The split's items as the corpus has them."""
    pairs: dict[str, list[str]] = field(default_factory=dict)
    """By item id, the better and the worse answer to learn from."""
    learned: str = ""
    """From how many items the model learns programs, and how many were left out, why; in words."""

    @property
    def note(self) -> str:
        """A line about the items that were left out; empty if none were."""
        return f"{self.left_out} simulated or augmented items are also in dev or test, and are left out" if self.left_out else ""


def chosen(sources: Sequence[DataSource], files: Sequence[Path], limit: int | None) -> list[DataSource]:
    """A recipe's sources; the files of --data, if there are any, replace all but the split. Of a simulated one, at most `limit`
    items are made."""
    if files:
        sources = [*(source for source in sources if source.split), *(DataSource(file=str(path)) for path in files)]
    return [
        source.model_copy(update={"items": min(source.items, limit)}) if limit and source.items else source for source in sources
    ]


def train_data(
    options: Finetune, recipe: FinetuneRecipe, task: str, spec: PromptSpec | None, held: HeldOut, faults: Faults
) -> TrainData:
    """What a training learns from. Raises what `faults` holds in the end."""
    training, sources = recipe.training, chosen(recipe.data, options.data, options.limit)
    pairs = faults.attempt(partial(_pairs, options, recipe.method, spec)) or []
    known = [item for item, *_ in pairs] or load(task, "train")
    gold = faults.attempt(partial(subset, known[: options.limit], training.train_items, training.seed)) or []
    gold = (faults.attempt(partial(with_thoughts, gold, options.thoughts, held)) or gold) if options.thoughts else gold
    programs = faults.attempt(partial(_programs, options.programs, spec, training.cells)) if spec and not pairs else None
    train = faults.attempt(partial(_as_met, gold, spec, options.history, held, programs)) or []
    data = faults.attempt(partial(gather, sources, task, train, held, programs))
    faults.report()
    assert data is not None
    answers = {item.id: answers for item, *answers in pairs}
    data = replace(data, gold=gold, pairs=answers, learned=str(programs or ""))
    return with_thought(data) if spec and spec.thinks and recipe.method != "grpo" else data


def _pairs(options: Finetune, method: str, spec: PromptSpec | None) -> list[Pair]:
    """The pairs that a method learns from, if it does. Raises UsageError if the method, other options or `spec` do not go with
    --pairs, and as `pairs_of` does."""
    name = options.pairs
    if method in PAIRED and name is None:
        raise UsageError(f"method {method} needs --pairs RUN, a run on the train split with --samples")
    if method not in PAIRED and name is not None:
        raise UsageError(f"--pairs {name}: for the methods {' and '.join(PAIRED)}; the recipe's is {method}")
    if name is None or spec is None:
        return []
    if given := [key for key in ("data", "history", "programs", "thoughts") if getattr(options, key)]:
        raise UsageError(f"--{given[0]}: method {method} learns from --pairs only: leave it out")
    asked, pairs = pairs_of(name, spec.template_name)
    if asked.world != spec.world or replace(asked, task=spec.task) != spec or asked.thinks:
        raise UsageError(
            f"--pairs {name}: its prompts are {asked.name}, the training's {spec.name}: give a run without thoughts on a task of "
            "the same world, and the same --context, --format, --frame and --template, or another --from"
        )
    return pairs


def gather(
    sources: Sequence[DataSource], task: str, split: Sequence[Item], held: HeldOut, programs: ProgramAnswers | None = None
) -> TrainData:
    """The items of the sources; `split` holds the items taken from the train split, `held` those of dev and test. `programs`, if
    answers are programs, says from which items a model learns.

    Raises, for all sources at once, UsageError for items of another world, for an item that occurs twice and for a file with
    items of dev or test, and DataError for a file that cannot be read.
    """
    faults, data, known = Faults(), TrainData(), set[str]()

    def take(source: DataSource, where: str) -> None:
        items = _items(source, task, split, held, programs, where)
        made, whole = source.simulate is not None or source.augment > 1, source.split is not None and source.augment == 1
        own = [item for item in items if not (made and held.match(item))]
        learned = [item for item in own if programs is None or programs.takes(item, checked=whole)]
        if twice := known & {item.id for item in learned}:
            raise UsageError(f"{source.name}: {min(twice)} is among the train items twice; give every item once")
        if not source.split or source.task not in (None, task):
            data.added[source.name] = items_hash(learned)
        data.items += learned
        data.left_out += len(items) - len(own)
        known.update(item.id for item in learned)

    for number, source in enumerate(sources):
        faults.attempt(partial(take, source, f"data.{number}"))
    faults.report()
    return data


def _items(
    source: DataSource, task: str, split: Sequence[Item], held: HeldOut, programs: ProgramAnswers | None, where: str
) -> list[Item]:
    if source.simulate:
        if world_of(task) != "minecraft":
            raise UsageError(f"{where}.simulate: {source.simulate} makes items of minecraft, not {task}")
        items: list[Item] = list(islice(simulated(source.simulate, source.seed, "train"), source.items or 0))
    elif source.file:
        if not Path(source.file).exists():
            raise DataError(f"{source.file}: no such file; `harness simulate` and `harness augment` make such files")
        items = load_items(Path(source.file), task)
        held.refuse(source.name, items)
    elif source.task in (None, task):
        items = list(split)
    else:
        if world_of(source.task) != world_of(task):
            raise UsageError(f"{where}.task: {source.task} is of another world than {task}")
        items = load(source.task, "train")
        items = list(programs.of_split(items, source.task)) if programs else items
    if source.augment == 1:
        return items
    words = lexicon() if world_of(task) == "minecraft" else None
    return list(augment(items, source.seed, source.augment, lexicon=words, whole=True))


def _programs(paths: tuple[Path, ...], spec: PromptSpec, cells: bool) -> ProgramAnswers | None:
    """The programs that the model learns to answer, if it answers in programs. Raises UsageError for files if it does not, and as
    `given_annotations` does."""
    if not spec.format.is_program:
        if paths:
            written = f"answers are written as {spec.format_name}"
            raise UsageError(f"--programs {paths[0]}: {written}; use --format bare-program or program")
        return None
    return ProgramAnswers(lambda text, item: read_answer(text, item, spec), given_annotations(paths, spec.task), cells)


def _as_met(
    items: list[Item], spec: PromptSpec | None, name: str | None, held: HeldOut, programs: ProgramAnswers | None
) -> list[Item]:
    """The split's items with their programs, as they follow the answers of the run `name`, if there is one. Raises UsageError if
    prompts do not show earlier answers, if the run answered none of the items, and if it answered items of dev or test."""
    items = list(programs.of_split(items, spec.task)) if programs and spec else items
    if spec is None or name is None:
        return items
    if not spec.rolls_out:
        raise UsageError(f"--history {name}: {spec.name} shows no earlier answers; use --context conversation or predicted-board")
    answers = read_answers(find_run(name))
    held.refuse(f"--history {name}", (item for item in answers.items if item.id in answers.records))
    records = [answers.records[item.id] for item in items if item.id in answers.records]
    if not records:
        raise UsageError(f"--history {name}: it answered none of the {len(items)} train items")
    return list(as_met(items, records))


def with_thoughts(items: Sequence[Item], run: str, held: HeldOut) -> list[Item]:
    """The items; those that the run `run` answered exactly have the thought before that answer. Raises UsageError if the run
    answered items of dev or test."""
    answers = read_answers(find_run(run))
    held.refuse(f"--thoughts {run}", (item for item in answers.items if item.id in answers.records))
    actions, records = answers.predictions.actions, answers.records
    own = [item for item in items if item.id in actions and records[item.id].get("reasoning")]
    right = sizes(answers.task, own, [actions[item.id] for item in own])
    thoughts = {item.id: records[item.id]["reasoning"] for item, size in zip(own, right, strict=True) if size.exact}
    return [replace(i, meta={**i.meta, "thought": thoughts[i.id]}) if i.id in thoughts else i for i in items]


def with_thought(data: TrainData) -> TrainData:
    """The data with only the items from which a model learns to think, and a line about their number. Raises UsageError if there
    are none."""
    own, known = [item for item in data.items if own_thought(item)], len(data.items)
    if not own:
        raise UsageError("no train item has a thought: give --thoughts RUN, or items with meta.thought in --data")
    return replace(data, items=own, learned=f"{len(own):,} items with a thought, {known - len(own):,} left out without one")
