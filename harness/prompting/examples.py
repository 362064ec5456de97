"""From --select and its flags to the examples of every item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError
from prompts.shots import FIXED, RANDOM, RETRIEVED, ChosenShots, LiveShots, ShotPool, Shots, may_show

if TYPE_CHECKING:
    from harness.corpora.item import Item
    from prompts.spec import PromptSpec


def check_choice(shots: int, select: str | None, ids: str | None) -> None:
    """Raises UsageError for flags that do not go together."""
    if not shots:
        for flag, value in (("select", select), ("shot-ids", ids)):
            if value is not None:
                raise UsageError(f"--{flag} {value}: there are no examples to choose; add --shots, e.g. 5")
    if select == FIXED and ids is None:
        raise UsageError("--select fixed needs --shot-ids: ids of train items separated by commas, or a file of them")
    if ids is not None and select != FIXED:
        raise UsageError("--shot-ids are for --select fixed; add it, or leave the ids out")


def read_ids(text: str) -> list[str]:
    """The ids in the file `text` or in `text` itself, one a line or separated by commas. Raises UsageError if there are none."""
    path = Path(text)
    try:
        if path.is_file():
            text = path.read_text()
        elif "," not in text and "/" in text and path.suffix:
            raise UsageError(f"--shot-ids {text}: no such file")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--shot-ids {path}: cannot be read: {error}") from None
    ids = [part.strip() for line in text.splitlines() for part in line.split(",") if part.strip()]
    if not ids:
        raise UsageError("--shot-ids: it holds no ids; give ids of train items separated by commas, or a file of them")
    return ids


def choose_shots(options: Any, items: Sequence[Item] | None, train: Sequence[Item]) -> Shots:
    """The examples that a `ShotChoice`, or the flags of `harness prompt`, choose from the train split: for all items at once or,
    if `items` is None, for each item when it is asked.

    Raises UsageError for ids that are not in the train split and for fewer ids than --shots, and EngineError if the sentence
    encoder is not installed.
    """
    seed, select = options.seed, options.select or RANDOM
    pool = ShotPool(train, seed)
    if not options.shots or select == RANDOM:
        return pool
    best_last = select in RETRIEVED
    if items is None:
        return LiveShots(lambda item: _chosen(options, [item], train)[item.id], pool.hash, best_last)
    chosen = _chosen(options, items, train)
    return ChosenShots(chosen, best_last)


def live_shots(options: Any, spec: PromptSpec) -> Shots:
    """The examples of items that are not known before they are asked, from the train split of this machine's corpus.

    Raises DataError if the corpus cannot be read, and otherwise as `choose_shots` does.
    """
    return choose_shots(options, None, example_pool(spec, spec.task) if options.shots else [])


def example_pool(
    spec: PromptSpec, task: str, programs: Sequence[Path] = (), say: Callable[[str], None] = lambda line: None
) -> list[Item]:
    """The train items from which a task's examples are chosen. If answers are programs, these are the items with a program of
    their own, if there are any: the shipped ones and those of the files `programs`. `say` receives their number.

    Raises DataError if the corpus cannot be read and as `given_annotations` does, and UsageError for files if answers are not.
    """
    from harness.corpora import load_examples
    from serialization.annotations import ProgramAnswers, given_annotations

    items = load_examples(task)
    if not spec.format.is_program:
        if programs:
            raise UsageError(f"--programs {programs[0]}: answers are written as {spec.format_name}; use --format program")
        return items
    answers = ProgramAnswers(spec.format.read, given_annotations(programs, task))
    pool = [item for item in answers.of_split(items, items[0].task) if answers.takes(item, checked=True)]
    say(f"examples: {answers}")
    return pool


def _chosen(options: Any, items: Sequence[Item], train: Sequence[Item]) -> Mapping[str, Sequence[Item]]:
    """The examples of each item by its id, the best first."""
    orders: Iterable[Iterable[Item]]
    if options.select == FIXED:
        orders = repeat(_given(options, train), len(items))
    else:
        from harness.engines.models.encoding import embedded
        from prompts.similarity import ranked

        orders = ranked(train, items, options.seed, embedded if options.select == "embedding" else None)
    pairs = zip(items, orders, strict=True)
    return {item.id: list(islice((shot for shot in order if may_show(shot, item)), options.shots)) for item, order in pairs}


def _given(options: Any, train: Sequence[Item]) -> list[Item]:
    """The train items that --shot-ids names, as many as --shots. Raises UsageError for too few ids, for an id that is not a train
    item's, and for a repeated id."""
    ids, known = read_ids(options.shot_ids), {item.id: item for item in train}
    if len(ids) < options.shots:
        raise UsageError(f"--shots {options.shots}, but --shot-ids has {len(ids)}")
    ids = ids[: options.shots]
    if unknown := [name for name in ids if name not in known]:
        others = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise UsageError(f"--shot-ids: {unknown[0]}{others}: no such item in the train split, from which all examples come")
    if len(set(ids)) < len(ids):
        raise UsageError(f"--shot-ids: {next(name for name in ids if ids.count(name) > 1)} is given twice")
    return [known[name] for name in ids]
