"""Attributes of a run's items beyond their states, and the run's scores grouped by them."""

from collections.abc import Iterable, Sequence
from typing import Any

from eval.annotation import our_annotation, read_levels
from eval.answers import Answers
from eval.breakdown import GROUPINGS, Breakdown, break_down
from eval.items import ItemScore
from eval.score_run import Benchmark, score_items
from harness.corpora import SPLITS, locate
from harness.corpora.held_out import target, train_targets
from harness.tasks.registry import TASKS, world_of

_INTERPRETATIONS = {"unique": "U", "multiple": "M", "unclear": "unclear"}


def group_scores(
    answers: Answers,
    benchmark: Benchmark,
    scores: Sequence[ItemScore] | None = None,
    *,
    by: Iterable[str] | None = None,
) -> Breakdown:
    """The scores of the items that a benchmark scores, in groups (`eval.breakdown`). `scores` are those of `score_items`, if they
    are known. Raises UsageError as `break_down` does."""
    attributes, scores = item_attributes(answers, benchmark), scores or score_items(answers, benchmark)
    return break_down(answers.task, scores, attributes, by=by)


def item_attributes(answers: Answers, benchmark: Benchmark) -> dict[str, dict[str, str]]:
    """By item id, the known labels for `eval.breakdown.GROUPINGS`.

    Levels are known for the official dev split; interpretations for the items in the benchmark's annotation or, if it has none,
    in ours.
    """
    if TASKS[answers.task].judged:
        return {item.id: {"kind": item.meta["kind"]} for item in answers.items}
    if world_of(answers.task) == "hexagons":
        # The sample's ids look like the official ones, to which the levels belong.
        has_levels = answers.split == "dev" and locate(answers.task).kind == "official"
        levels = read_levels() if has_levels else {}
        labels_of = {item.id: {**_step(item.meta), "level": levels.get(item.id)} for item in answers.items}
    else:
        judgments = (benchmark.of(answers)[1] or our_annotation()).judgments
        contexts = {item_id: _INTERPRETATIONS[judgment.context] for item_id, judgment in judgments.items()}
        # Of a corpus's items: does the target occur in what the run's model, or the task's, is trained on?
        of_corpus = answers.split in SPLITS[answers.task]
        known = train_targets(answers.settings.get("trained_on") or (answers.task,)) if of_corpus else frozenset()
        labels_of = {
            item.id: {
                "board": "NEB" if len(item.before) else "EB",
                "yaw": GROUPINGS["minecraft"]["yaw"].labels[item.pose.quarter],
                "interpretations": contexts.get(item.id),
                "seen": ("seen" if target(item) in known else "new") if of_corpus else None,
            }
            for item in answers.items
        }
    return {item_id: {key: label for key, label in labels.items() if label} for item_id, labels in labels_of.items()}


def _step(meta: Any) -> dict[str, str | None]:
    step, steps = meta.get("step"), meta.get("steps")
    place = "only" if steps == 1 else "first" if step == 1 else "last" if step == steps else "middle"
    # A simulated procedure has no image, hence no category and no round.
    number = meta.get("annotation_round")
    return {
        "category": meta.get("category"),
        "round": None if number is None else GROUPINGS["hexagons"]["round"].labels[number],
        "position": place if step else None,
    }
