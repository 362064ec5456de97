"""The scores of answers by a benchmark, of all items together and of each."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.annotation import Annotation, clean_set, our_annotation, read_annotation
from eval.answers import Answers
from eval.items import ItemScore, item_scores
from eval.metrics.minecraft import empty_boards
from eval.samples import sample_scores
from eval.score import BENCHMARKS, Chosen, score
from harness import corpora
from harness.errors import UsageError
from harness.tasks.registry import TASKS
from harness.util.registry import choose
from serialization.formats.answer import losses


@dataclass(frozen=True, slots=True)
class Benchmark:
    """How to score Minecraft: legacy, fair or v2 with an annotation file (the one that ships with the harness if None).

    Without a name: fair (the paper's fairer F1) for simulated games, whose empty-board items all have several right answers
    (BAP v2, footnote 6), and legacy for others.
    """

    name: str | None = None
    annotation: Path | None = None

    def __post_init__(self) -> None:
        if self.annotation and self.name != "v2":
            raise UsageError("--annotation is for --benchmark v2 only")

    def of(self, answers: Answers) -> tuple[str, Annotation | None]:
        """The benchmark's name and annotation for these answers. Raises UsageError as `check` does."""
        self.check(answers.task, answers.split)
        name = self.name or ("fair" if answers.simulated else "legacy")
        if name != "v2":
            return name, None
        return name, read_annotation(self.annotation, answers.items) if self.annotation else our_annotation(answers.items)

    def check(self, task: str, split: str) -> None:
        """Raises UsageError for an unknown benchmark, and for what is not for the task or the split."""
        if self.name and TASKS[task].scoring != "minecraft":
            raise UsageError(f"--benchmark is for minecraft; {task} has one set of scores")
        choose("benchmark", self.name or "legacy", BENCHMARKS)
        if self.name == "v2" and not self.annotation and (split != "test" or corpora.locate(task).kind != "official"):
            raise UsageError(
                "--benchmark v2: the annotation that ships covers the official test split only, which HARNESS_DATA must have; "
                "give --annotation FILE for other items"
            )

    def select(self, answers: Answers) -> Chosen:
        """What the benchmark scores."""
        name, annotation = self.of(answers)
        items, multiple = answers.items, frozenset[str]()
        if annotation:
            # Before the selection: the repair of an item looks at those after it.
            items, multiple = clean_set(items, annotation)
        elif name == "fair":
            multiple = empty_boards(items)
        kept = [item for item in items if answers.only is None or item.id in answers.only]
        return Chosen(kept, multiple, name, annotation.name if annotation else None)


def score_answers(answers: Answers, benchmark: Benchmark | None = None, *, rollout: bool = False) -> dict[str, Any]:
    """The scores that `harness score --json` prints. For simulated games, "simulated" names the simulators; for several answers
    an item, "samples" has what `eval.samples.sample_scores` returns.

    `rollout` adds HEXAGONS boards drawn on predicted boards.
    """
    chosen = (benchmark or Benchmark()).select(answers)
    scores = score(answers.task, answers.split, chosen, answers.predictions, rollout=rollout)
    if samples := sample_scores(chosen, answers.records, answers.settings):
        scores["samples"] = samples
    if answers.simulated:
        scores["simulated"] = list(answers.simulated)
    return scores


def score_items(answers: Answers, benchmark: Benchmark | None = None) -> list[ItemScore]:
    """The scores of each item that the benchmark has, with the classes of its errors."""
    chosen = (benchmark or Benchmark()).select(answers)
    reasons = {item_id: losses(pieces) for item_id, pieces in answers.predictions.discarded.items()}
    return item_scores(answers.task, chosen.items, answers.predictions, multiple=chosen.multiple, discarded=reasons)
