"""The options of `harness finetune`, each declared once; some of them are also keys of recipes (`adapters/recipe.py`)."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from harness.tasks.registry import DEFAULT_TASK, TASK_NAMES
from harness.util.options import argument, option
from harness.util.settings import Strict
from prompts.rendered import EFFORTS, OFF, ON
from prompts.shots import RANDOM, RETRIEVED

OVER = partial(option, group="Instead of what the recipe says")

BASE = OVER(None, "Base model: a hub name or a local folder. [default: the recipe's, that of --from, or smollm2-135m]")
MAX_STEPS = OVER(None, "Train for N steps instead of the recipe's epochs.", ge=1)


if TYPE_CHECKING:
    Selection = str
    Think = str
else:
    # As for `harness.tasks.registry.TaskName`.
    Selection = Literal[(RANDOM, *RETRIEVED)]
    Think = Literal[(OFF, ON, *EFFORTS)]


class Prompt(Strict):
    """The prompt format. A key that is null or missing takes the task's default."""

    context: str | None = OVER(None, "What the model sees of an item.")
    format: str | None = OVER(None, "How actions are written.")
    frame: str | None = OVER(None, "Minecraft: world, builder or pose.")
    template: str | None = OVER(None, "The prompts' wording: a shipped template or a folder.")
    think: Think | None = OVER(None, "Whether the model thinks before it answers, or how hard: on, low, medium or high.")
    shots: int | None = OVER(None, "Examples before every item, in training and on dev.", ge=0)
    select: Selection | None = None
    """How examples are chosen, as in --select; null: random, the same for all items."""


class Subject(Strict):
    """What is trained. These come first: experiments identify their rows by the order of a command's options."""

    recipe: str = argument()
    task: str | None = OVER(None, f"{TASK_NAMES}. [default: the recipe's, else {DEFAULT_TASK}]")
    base: str | None = BASE
    name: str | None = option(None, "Name of the run folder under runs/; RECIPE-TASK if not given.")
    max_steps: int | None = MAX_STEPS


class Finetune(Prompt, Subject):
    limit: int | None = option(None, "Train on the first N items of the train split, and of each simulated set.", ge=1)
    data: tuple[Path, ...] = OVER(())
    """Also train on this file from harness simulate. It replaces the recipe's additional data. Repeatable."""
    start: str | None = option(
        None, "Start from the weights of this adapter: a folder or a name.", names=("--from",), metavar="ADAPTER"
    )
    history: str | None = option(metavar="RUN")
    """HEXAGONS: the history holds the answers of RUN, a run on the train split, instead of gold."""
    programs: tuple[Path, ...] = option((), metavar="FILE")
    """If answers are programs: the programs of train items, beside the shipped ones; see docs/annotating.md. Repeatable."""
    thoughts: str | None = option(metavar="RUN")
    """With --think: train items get the thoughts of RUN, a run on the train split, from which it came to the right answers."""
    pairs: str | None = option(metavar="RUN")
    """With method dpo or kto: the best against the worst answer to each item of RUN, a run on the train split with --samples."""
    overrides: tuple[str, ...] = OVER((), "Change a key of the recipe, as in lora.r=8.", names=("--set",), metavar="KEY=VALUE")
    resume: bool = option(False, "Go on with a finished run of this name: with more training.epochs, or more --max-steps.")
    dry_run: bool = option(False)
    """Print counts, memory and some rows. Loads no weights, trains nothing and writes no run."""

    @property
    def given(self) -> dict[str, list[str]]:
        """The names of the training's other inputs, for the adapter's card; the settings hold hashes of their content."""
        named = {
            "from": [self.start or ""],
            "history": [self.history or ""],
            "thoughts": [self.thoughts or ""],
            "pairs": [self.pairs or ""],
            "programs": [path.name for path in self.programs],
        }
        named |= {"limit": [str(self.limit)]} if self.limit else {}
        return {flag: names for flag, names in named.items() if any(names)}
