"""The run loop: items in fixed batches through renderer, engine and parser into a run folder."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from harness.corpora.item import Executed, HexagonsItem, Item
from harness.engines.base import Completion, Engine, Report, Sampling, silent
from harness.runs.folder import Run
from harness.runs.voting import changes, most_agreed, vote
from harness.worlds.hexagons import Board, Paint
from prompts.messages import read_answer
from prompts.render import PromptTooLongError, Renderer
from prompts.rendered import Rendered
from prompts.shots import ShotPool


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of the engine. Equal plans over equal items give equal predictions when decoding is greedy."""

    renderer: Renderer
    sampling: Sampling
    pool: ShotPool
    shots: int
    batch_size: int
    samples: int = 1
    """Answers drawn for each item; of several, one is made as `harness.runs.voting` says."""
    share: float | None = None
    """The share of the answers that a change needs, 0..1; None for the answer that the others agree with most."""

    @property
    def rolls_out(self) -> bool:
        """Whether an item's prompt, or what its answer means, depends on what the earlier answers drew."""
        return self.renderer.spec.rolls_out


def batches(items: Sequence[Item], size: int, *, rolls_out: bool = False) -> list[list[Item]]:
    """The items in fixed batches. Where answers build on earlier ones, all first steps come before all second ones, and so on."""
    waves: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        waves[len(item.history) if rolls_out else 0].append(item)
    return [wave[start : start + size] for _, wave in sorted(waves.items()) for start in range(0, len(wave), size)]


class Rollout:
    """What a model's own answers have drawn so far, by drawing procedure."""

    def __init__(self, records: Sequence[dict[str, Any]]) -> None:
        self._boards: dict[str, Board] = defaultdict(Board)
        self._steps: dict[str, list[tuple[Paint, ...]]] = defaultdict(list)
        for record in records:
            self.draw(record)

    def draw(self, record: dict[str, Any]) -> None:
        """Take in the answer to the next step of a procedure."""
        procedure = record["id"].rpartition("/")[0]
        actions = tuple(Paint(*action) for action in record["actions"])
        self._steps[procedure].append(actions)
        self._boards[procedure] = self._boards[procedure].apply(actions).board

    def before(self, item: Item) -> Item:
        """The item with what was drawn in place of the gold board and the gold actions of its history."""
        if not isinstance(item, HexagonsItem):
            return item
        procedure = item.id.rpartition("/")[0]
        steps = iter(self._steps[procedure])
        history = tuple(Executed(next(steps, ())) if isinstance(turn, Executed) else turn for turn in item.history)
        return replace(item, before=self._boards[procedure], history=history)


def as_met(items: Iterable[Item], records: Iterable[Mapping[str, Any]]) -> Iterator[Item]:
    """Drawing steps as the model met them whose answers the records are: on the boards and after the steps that it drew.

    Items of a procedure come in order. One without a record counts as answered with nothing.
    """
    actions = {record["id"]: record["actions"] for record in records}
    rollout = Rollout([])
    for item in items:
        yield rollout.before(item)
        rollout.draw({"id": item.id, "actions": actions.get(item.id, ())})


def resume(run: Run, planned: Sequence[Sequence[Item]], plan: Plan, engine: Engine) -> list[list[Item]]:
    """Cut the run back to what can be kept, and return the batches that are still to be done.

    Where answers do not depend on their batch, every answered item is kept and failed ones are asked again (with predicted
    boards, so is all that came after the first of them). Elsewhere a batch that was interrupted is done again as a whole, so
    that the end is the same as if nothing had happened.
    """
    if engine.independent:
        failed = [n for n, record in enumerate(run.records) if "error" in record]
        seen = run.records[: failed[0]] if failed and plan.rolls_out else run.records
        kept = [record for record in seen if "error" not in record]
        done = {record["id"] for record in kept}
        todo = [[item for item in batch if item.id not in done] for batch in planned]
        run.keep(kept)
        return [batch for batch in todo if batch]
    return resume_batches(run, planned)


def resume_batches(run: Run, planned: Sequence[Sequence[Item]]) -> list[list[Item]]:
    """Cut the run back to whole batches, and return those that are still to be done."""
    complete, count = 0, 0
    for batch in planned:
        if count + len(batch) > len(run.records):
            break
        count += len(batch)
        complete += 1
    run.keep(run.records[:count])
    return [list(batch) for batch in planned[complete:]]


@dataclass(slots=True)
class Progress:
    """What one batch adds to the totals."""

    items: int
    errors: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float


def predict(run: Run, todo: Sequence[Sequence[Item]], plan: Plan, engine: Engine, report: Report = silent) -> Iterator[Progress]:
    """Answer the batches; every answer is in the run's file before the next one is taken from the engine.

    `report` is told again and again how many items of the batch at hand are answered.
    """
    engine.report = lambda answered: report(answered // plan.samples)
    rollout = Rollout(run.records) if plan.rolls_out else None
    for batch in todo:
        start = time.monotonic()
        asked: list[tuple[Item, Rendered | PromptTooLongError]] = []
        for item in batch:
            seen = rollout.before(item) if rollout else item
            asked.append((seen, _render(seen, plan)))
        prompts = [draw for _, r in asked if isinstance(r, Rendered) for draw in _draws(r, plan.samples)]
        answers = iter(engine.generate(prompts, plan.sampling))
        done = Progress(0, 0, 0, 0, 0.0)
        for item, rendered in asked:
            drawn = list(islice(answers, plan.samples)) if isinstance(rendered, Rendered) else []
            record = _record(item, rendered, drawn, plan)
            run.append(record)
            if rollout:
                rollout.draw(record)
            done.items += 1
            report(done.items)
            done.errors += "error" in record
            done.prompt_tokens += record.get("prompt_tokens", 0)
            done.completion_tokens += record.get("completion_tokens", 0)
        done.seconds = time.monotonic() - start
        yield done


def _render(item: Item, plan: Plan) -> Rendered | PromptTooLongError:
    shots = plan.pool.choose(item, plan.shots)
    try:
        rendered = plan.renderer.render(item, shots)
    except PromptTooLongError as error:
        return error
    return replace(rendered, dropped_shots=rendered.dropped_shots + plan.shots - len(shots))


def _draws(rendered: Rendered, samples: int) -> list[Rendered]:
    """The prompt so many times, with ids of their own: an answer's noise is that of its id."""
    return [rendered, *(replace(rendered, id=f"{rendered.id}#{n}") for n in range(1, samples))]


def _record(item: Item, rendered: Rendered | PromptTooLongError, drawn: Sequence[Completion], plan: Plan) -> dict[str, Any]:
    """A line of predictions.jsonl: actions in the world's frame, and the raw text they were read from.

    With several drawn answers, the text is that of the one that the others agree with most; "samples" are all of them, and
    "confidence" is how much they agree.
    """
    if isinstance(rendered, PromptTooLongError) or not drawn:
        return {"id": item.id, "actions": [], "error": str(rendered)}
    whole = [answer for answer in drawn if answer.error is None]
    if not whole:
        return {"id": item.id, "actions": [], "error": drawn[0].error}
    read = [read_answer(answer.text, item, plan.renderer.spec) for answer in whole]
    best, agreement = most_agreed([changes(item, parsed.actions) for parsed in read]) if len(read) > 1 else (0, 1.0)
    answer, parsed = whole[best], read[best]
    actions = parsed.actions if plan.share is None else vote(item, [parsed.actions for parsed in read], plan.share)
    several = {"samples": [answer.text for answer in whole], "confidence": round(agreement, 4)} if plan.samples > 1 else {}
    return {
        "id": item.id,
        "actions": [list(action) for action in actions],
        **several,
        "text": answer.text,
        "format": plan.renderer.spec.format,
        "discarded": [list(piece) for piece in parsed.discarded],
        "finish_reason": answer.finish_reason,
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": sum(answer.completion_tokens for answer in whole),
        "dropped_history": rendered.dropped_history,
        "dropped_shots": rendered.dropped_shots,
    }
