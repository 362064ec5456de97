"""The tasks for Inspect, which finds them by this package's entry point.

inspect eval harness/minecraft --model openai-api/local/smollm2-135m -T split=dev -T context=no-history
"""

import math
from collections.abc import Callable
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState, generate

from harness.api import Counts, total
from harness.plugins.rows import ItemRow, rows, score_row
from harness.tasks.registry import TASKS

_ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


def _add(name: str) -> Callable[..., Task]:
    @task(name=name.replace("-", "_"))
    def made(split: str = "test", limit: int | None = None, **names: Any) -> Task:
        samples = [_sample(row) for row in rows(name, split, limit, **names)]
        config = GenerateConfig(temperature=0.0, max_tokens=1024)
        return Task(dataset=MemoryDataset(samples, name=f"{name}-{split}"), solver=generate(), scorer=counts(), config=config)

    return made  # type: ignore[no-any-return]


globals().update({name.replace("-", "_"): _add(name) for name in TASKS})


def _sample(row: ItemRow) -> Sample:
    messages = [_ROLES[message["role"]](content=message["content"]) for message in row["messages"]]
    return Sample(id=row["id"], input=messages, target=row["answer"], metadata={"spec": row["spec"]})


@metric
def f1() -> Metric:
    """The task's F1 over all samples: micro in Minecraft, the mean over steps in HEXAGONS."""
    return _total("f1")


@metric
def em() -> Metric:
    """The share of exact answers."""
    return _total("em")


def _total(name: str) -> Metric:
    def compute(scores: list[SampleScore]) -> float:
        if not scores:
            return math.nan
        return total(Counts(*(score.score.metadata or {})["counts"]) for score in scores)[name]

    return compute


@scorer(metrics=[f1(), em()])
def counts() -> Scorer:
    """The counts of what an answer got right."""

    async def compute(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        row = score_row(str(state.sample_id), state.metadata["spec"], text)
        return Score(value=row.f1, answer=text, metadata={"counts": list(row)})

    return compute
