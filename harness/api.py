"""The Python API: items, their prompts, the actions of an answer, and its score.

    import harness

    item = harness.load("minecraft", "dev")[0]
    messages = harness.render(item)                 # for any chat model
    actions = harness.parse("place red 0 1 0", item).actions
    structure = harness.apply(item, actions)        # after the actions
    counts = harness.score(item, "place red 0 1 0")
    harness.total([counts])                         # {"f1": ..., "em": ...}

The functions keep no state and run the same code as the commands. Items are independent of each other here: a format that shows
a model's earlier answers shows the gold ones instead.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from eval.answers import answer_size
from eval.items import Counts
from harness.corpora import load
from harness.corpora.item import HexagonsItem, Item
from harness.errors import UsageError
from harness.tasks.registry import world_of
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Structure
from prompts.messages import conversation, gold_answer, read_answer
from prompts.rendered import Message
from prompts.spec import PromptSpec
from serialization.formats.answer import Parsed

__all__ = ["Counts", "PromptSpec", "apply", "gold", "load", "parse", "render", "score", "total"]


def render(item: Item, spec: PromptSpec | None = None, shots: Sequence[Item] = ()) -> list[Message]:
    """The chat messages that ask a model to answer the item, after the examples `shots`: {"role": ..., "content": ...}.

    `spec` says what is shown and how the answer is written; None stands for the task's default.
    """
    return conversation(item, spec or PromptSpec.make(item.task), shots)


def gold(item: Item, spec: PromptSpec | None = None) -> str:
    """The text that answers the item with its gold actions."""
    return gold_answer(item, spec or PromptSpec.make(item.task))


def parse(text: str, item: Item, spec: PromptSpec | None = None) -> Parsed:
    """The actions of an answer to the item, and the parts of the text that were discarded, with reasons. Takes any text."""
    return read_answer(text, item, spec or PromptSpec.make(item.task))


def apply(item: Item, actions: Sequence[Any]) -> Board | Structure:
    """The board or structure after the actions; infeasible actions change nothing."""
    return item.before.apply(actions).board if isinstance(item, HexagonsItem) else item.before.apply(actions).structure


def score(item: Item, answer: str | Sequence[Any], spec: PromptSpec | None = None) -> Counts:
    """The counts of what an answer, given as text or as actions, got right."""
    actions = parse(answer, item, spec).actions if isinstance(answer, str) else answer
    return answer_size(item, actions)


def total(counts: Iterable[Counts]) -> dict[str, float]:
    """The task's two scores over all answers, 0..1: `f1`, and `em`, the share of exact answers.

    As in `harness score`, `f1` is the mean over steps in HEXAGONS (action F1), and is computed over all changes together in
    Minecraft (micro F1). Raises UsageError if there are no answers, or if they belong to several tasks.
    """
    rows = list(counts)
    worlds = {world_of(row.task) for row in rows}
    if len(tasks := {row.task for row in rows}) != 1:
        raise UsageError(f"answers to one task are needed, not to {' and '.join(sorted(tasks)) or 'none'}")
    if worlds == {"hexagons"}:
        f1 = sum(row.f1 for row in rows) / len(rows)
    else:
        changes = sum(row.wanted + row.made for row in rows)
        f1 = 2 * sum(row.hits for row in rows) / changes if changes else 0.0
    return {"f1": f1, "em": sum(row.exact for row in rows) / len(rows)}
