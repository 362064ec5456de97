"""The answering loop for any predictor: fixed batches of items into a run folder."""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.corpora.item import Item
from harness.corpora.rollout import Rollout
from harness.runs.asked import Asked
from harness.runs.folder import Run
from harness.tasks.registry import TASKS
from harness.util.terminal import bar

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was predicted for an item."""

    actions: Sequence[Any]
    """In the world's frame."""
    stopped: bool = True
    """Whether the model ended the answer itself."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Further JSON fields of the record: how the answer came about."""
    error: str | None = None
    """Why there is no answer; if set, only the prompt among the other fields is meaningful."""
    prompt: str | None = None
    """The text that a language model was shown."""

    def record(self, item_id: str) -> dict[str, Any]:
        """The line of predictions.jsonl."""
        if self.error is not None:
            return {"id": item_id, "actions": [], "error": self.error}
        actions = [list(action) for action in self.actions]
        return {"id": item_id, "actions": actions, "finish_reason": "stop" if self.stopped else "length", **self.notes}


class Predictor(Protocol):
    """A model in memory, ready to answer: a prompted one (`harness.prompting.prompted`) or a baseline's."""

    batch_size: int
    """Items per batch; an answer's arithmetic may depend on its batch."""
    rolls_out: bool = False
    """HEXAGONS: whether it sees the board drawn by its own earlier answers instead of an item's `before`. If so, all first steps
    are asked before all second ones, and so on."""
    independent: bool = False
    """Whether answers are independent of their batch, so that a run may resume in the middle of one."""
    report: Callable[[int], None] = staticmethod(lambda answered: None)
    """Set by the loop; receives how many items of the batch are answered, if the model reports it."""
    note: Callable[[], str] = staticmethod(lambda: "")
    """What to show beside the rate while the run goes on."""

    def predict(self, items: Sequence[Item]) -> Iterable[Answer]:
        """One answer per item, in order, as they come."""


def batches(items: Sequence[Item], size: int, *, rolls_out: bool = False) -> list[list[Item]]:
    """The items in fixed batches. If answers build on earlier ones, all first steps come before all second ones, and so on."""
    waves: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        waves[len(item.history) if rolls_out else 0].append(item)
    return [wave[start : start + size] for _, wave in sorted(waves.items()) for start in range(0, len(wave), size)]


def rolls_out(predictor: Predictor, items: Sequence[Item]) -> bool:
    """Whether each item starts from the model's own earlier answers: its prompts show them, or the task is judged."""
    return predictor.rolls_out or any(TASKS[item.task].judged for item in items[:1])


def ask(batch: Sequence[Item], predictor: Predictor, rollout: Rollout) -> Iterator[tuple[Item, Answer]]:
    """The items of a batch with their answers, as they come. Answers that roll out start from `rollout` and are added to it."""
    own = rolls_out(predictor, batch)
    for item, answer in zip(batch, predictor.predict([rollout.before(item) for item in batch] if own else batch), strict=True):
        if own:
            rollout.add(item.id, () if answer.error is not None else answer.actions, answer.notes)
        yield item, answer


def answer_items(run: Run, items: Sequence[Item], predictor: Predictor, say: Callable[[str], None] = log.info) -> None:
    """Get the missing answers, each on disk before the next one is asked for, under a progress bar with rates.

    If answers do not depend on their batch, every answered item is kept and failed ones are asked again. Otherwise an
    interrupted batch is repeated as a whole. Either way the result is the same as without an interruption. `say` receives a
    line if a run resumes.
    """
    own = rolls_out(predictor, items)
    planned = batches(items, predictor.batch_size, rolls_out=own)
    kept, todo = _independent(run, planned, own) if predictor.independent else _whole_batches(run, planned)
    run.keep(kept)
    if run.records:
        say(f"{len(run.records)} items are already answered; continuing with the rest")
    log.info("%d items answered, %d batches to go", len(run.records), len(todo))
    rollout, total = Rollout(items, run.records if own else ()), Counter[str]()
    began = time.monotonic()
    with bar("items", sum(map(len, todo))) as update:

        def show(answered: int) -> None:
            rate = total["completion_tokens"] / max(1e-9, time.monotonic() - began)
            update(total["items"] + answered, f"{rate:.0f} tokens/s {predictor.note()}" if rate else predictor.note())

        predictor.report = show
        for batch in todo:
            total += _answer_batch(run, batch, predictor, rollout)
            show(0)
    run.sort([item.id for batch in planned for item in batch])


def _answer_batch(run: Run, batch: Sequence[Item], predictor: Predictor, rollout: Rollout) -> Counter[str]:
    """Get and keep the answers to a batch; returns their totals."""
    count = Counter[str](items=0)
    began = before = time.monotonic()
    for item, answer in ask(batch, predictor, rollout):
        now, record = time.monotonic(), answer.record(item.id)
        run.append(record, Asked(now - before, answer.prompt))
        before = now
        count.update(items=1, errors="error" in record)
        count.update({key: record.get(key, 0) for key in ("prompt_tokens", "completion_tokens")})
        predictor.report(count["items"])
    tokens = ", {prompt_tokens} + {completion_tokens} tokens".format_map(count) if count["prompt_tokens"] else ""
    log.info("%d items, %d errors%s in %.1f s", len(batch), count["errors"], tokens, time.monotonic() - began)
    return count


Kept = tuple[list[dict[str, Any]], list[list[Item]]]
"""The records that are kept, and the batches that are still to be done."""


def _independent(run: Run, planned: Sequence[Sequence[Item]], own: bool) -> Kept:
    """Keeps all records but failed ones, which are asked again. If answers build on earlier ones (`own`), keeps only the records
    before the first of these."""
    failed = {n for n, record in enumerate(run.records) if "error" in record}
    seen = run.records[: min(failed)] if failed and own else run.records
    kept = [record for n, record in enumerate(seen) if n not in failed]
    done = {record["id"] for record in kept}
    todo = [[item for item in batch if item.id not in done] for batch in planned]
    return kept, [batch for batch in todo if batch]


def _whole_batches(run: Run, planned: Sequence[Sequence[Item]]) -> Kept:
    complete, count = 0, 0
    for batch in planned:
        if count + len(batch) > len(run.records):
            break
        count += len(batch)
        complete += 1
    return run.records[:count], [list(batch) for batch in planned[complete:]]
