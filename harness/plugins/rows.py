"""Items as rows of text and numbers, which other harnesses carry from a prompt to its score."""

import json
from functools import lru_cache
from typing import Any, TypedDict

from harness.api import Counts, gold, load, render, score
from harness.corpora.item import Item
from harness.errors import UsageError
from prompts.rendered import Message
from prompts.spec import PromptSpec


class ItemRow(TypedDict):
    """An item as text."""

    id: str
    spec: str
    """The prompt format as JSON: task, context, format, and other fields that are not the default."""
    messages: list[Message]
    answer: str
    """The gold answer."""


def spec_of(
    task: str, context: str | None = None, format: str | None = None, frame: str | None = None, template: str | None = None
) -> PromptSpec:
    """The prompt format of these names; None stands for the task's default. Raises UsageError for a format that shows the model's
    earlier answers: other harnesses ask every item by itself."""
    spec = PromptSpec.make(task, context, format, frame, template)
    if spec.rolls_out:
        raise UsageError(
            f"{spec.name} shows a model's earlier answers, and items are asked one by one here: choose another context"
        )
    return spec


def rows(task: str, split: str = "test", limit: int | None = None, **names: Any) -> list[ItemRow]:
    """The items of a split as rows; `names` are keyword arguments of `spec_of`. Raises UsageError for unknown names."""
    spec = spec_of(task, **names)
    named = json.dumps(spec.fields)
    return [
        {"id": item.id, "spec": named, "messages": render(item, spec), "answer": gold(item, spec)}
        for item in load(task, split)[:limit]
    ]


def two_messages(row: ItemRow) -> tuple[str, str]:
    """The system's message, "" if there is none, and the user's. Raises UsageError for a row with earlier turns."""
    roles = [message["role"] for message in row["messages"]]
    if roles not in (["user"], ["system", "user"]):
        raise UsageError(f"{row['spec']} makes a chat of several turns, and only one question fits here: choose another context")
    *system, question = (message["content"] for message in row["messages"])
    return "".join(system), question


def dataset(task: str, split: str = "test", limit: int | None = None, **names: Any) -> Any:
    """A `datasets.Dataset` of prompts, as TRL's SFTTrainer and GRPOTrainer take it. `names` are keyword arguments of `spec_of`.

    The columns: `prompt` (messages), `completion` (the gold answer as a message), `id` and `spec`.
    """
    from datasets import Dataset

    return Dataset.from_list(
        [
            {
                "prompt": row["messages"],
                "completion": [{"role": "assistant", "content": row["answer"]}],
                "id": row["id"],
                "spec": row["spec"],
            }
            for row in rows(task, split, limit, **names)
        ]
    )


def score_row(item_id: str, spec: str, text: str) -> Counts:
    """The counts of what an answer to a row got right, by the row's id and spec. Raises UsageError for an id that no item has."""
    prompt = PromptSpec.make(**json.loads(spec))
    items = _items(prompt.task)
    if item_id not in items:
        raise UsageError(f"no item {item_id}: set HARNESS_DATA as it was when the rows were made")
    return score(items[item_id], text, prompt)


@lru_cache
def _items(task: str) -> dict[str, Item]:
    return {item.id: item for item in load(task)}
