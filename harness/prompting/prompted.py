"""A prompted language model as a predictor: items through renderer, engine and parser."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from harness.corpora.item import Item
from harness.engines.engine import Completion, Engine, Sampling, apart
from harness.errors import EngineError
from harness.prompting import thinking
from harness.prompting.voting import changes, likeliest, most_agreed, vote
from harness.runs.answering import Answer, Predictor
from prompts.messages import feasible_state, read_answer
from prompts.render import PromptTooLongError, Renderer
from prompts.rendered import Rendered
from prompts.shots import Shots
from serialization.formats.feasible import Feasible

CHECKED = 20
"""How many of the first answers are checked for feasibility, in case the engine ignores the constraint."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How prompts are made and decoded. Equal plans over equal items give equal predictions when decoding is greedy."""

    renderer: Renderer
    sampling: Sampling
    pool: Shots
    shots: int
    batch_size: int
    samples: int = 1
    """Answers drawn for each item; several are combined into one as `harness.prompting.voting` says."""
    share: float | None = None
    """The share of the answers that a change needs, 0..1; None: the result is one of the answers."""
    likeliest: bool = False
    """Whether the result is the likeliest answer instead of the one that the others agree with most."""
    feasible: bool = False
    """Whether prompts tell the engine the state in which an answer must be feasible."""

    def render(self, item: Item) -> Rendered:
        """The prompt of an item with its examples. Raises PromptTooLongError if it does not fit without them."""
        shots = self.pool.choose(item, self.shots)
        rendered = self.renderer.render(item, shots, self.pool.arrange)
        state = feasible_state(item, self.renderer.spec, self.renderer.opening) if self.feasible else None
        return replace(rendered, dropped_shots=rendered.dropped_shots + self.shots - len(shots), feasible=state)


class Prompted(Predictor):
    """A plan and the engine that is asked."""

    def __init__(self, plan: Plan, engine: Engine) -> None:
        self.plan, self.engine = plan, engine
        self._right = self._said = self._checked = 0
        self.batch_size, self.independent = plan.batch_size, engine.independent
        self.rolls_out = plan.renderer.spec.rolls_out

    def predict(self, items: Sequence[Item]) -> Iterator[Answer]:
        """See `Predictor`. If an item's prompt does not fit or the engine fails, the answer holds an error."""
        samples = self.plan.samples
        self.engine.report = lambda answered: self.report(answered // samples)
        asked = [self._rendered(item) for item in items]
        prompts = [draw for one in asked if isinstance(one, Rendered) for draw in _draws(one, samples)]
        answers = thinking.generate(self.engine, self.plan.renderer, prompts, self.plan.sampling)
        drawn = (list(islice(answers, samples)) if isinstance(one, Rendered) else [] for one in asked)
        for item, one, draws in zip(items, asked, drawn, strict=True):
            yield self._answer(item, one, draws) if isinstance(one, Rendered) else one
        next(answers, None)  # So that the engine finishes what it does after the last answer.

    async def ask(self, item: Item) -> Answer:
        """As `predict`, for one item in the caller's event loop and an engine that has `complete`.

        If it is cancelled, so are its requests.
        """
        # Only servers, which bring anyio, ask this way.
        from anyio.to_thread import run_sync

        rendered = await run_sync(self._rendered, item)
        if isinstance(rendered, Answer):
            return rendered
        engine: Any = self.engine
        drawn = await engine.complete(_draws(rendered, self.plan.samples), self.plan.sampling)
        return await run_sync(self._answer, item, rendered, drawn)

    def _rendered(self, item: Item) -> Rendered | Answer:
        try:
            return self.plan.render(item)
        except PromptTooLongError as error:
            return Answer((), error=str(error))

    def _answer(self, item: Item, rendered: Rendered, drawn: Sequence[Completion]) -> Answer:
        """The answer, with its raw text and the actions that were read from it.

        If several were drawn, the text is from the one that the others agree with most, or from the likeliest. "samples" holds
        all texts, "confidence" their mean F1 with the one that agrees most, 0..1, and "logprobs" their log-probabilities.
        """
        plan, spec = self.plan, self.plan.renderer.spec
        whole = [apart(answer) for answer in drawn if answer.error is None]
        if not whole:
            return Answer((), error=drawn[0].error, prompt=rendered.text)
        if rendered.feasible and self._checked < CHECKED:
            self._checked += 1
            _check_held(rendered.feasible, whole)
        read = [read_answer(answer.text, item, spec) for answer in whole]
        best, agreement = most_agreed([changes(item, parsed.actions) for parsed in read]) if len(read) > 1 else (0, 1.0)
        several: dict[str, Any] = {}
        if plan.samples > 1:
            several = {"samples": [answer.text for answer in whole], "confidence": round(agreement, 4)}
        if plan.share is not None:
            several["voted"] = True
        if plan.likeliest:
            if any(answer.logprob is None for answer in whole):
                return Answer(
                    (), error="the engine reports no log-probabilities, which --vote likelihood needs", prompt=rendered.text
                )
            several["logprobs"] = [round(answer.logprob or 0.0, 4) for answer in whole]
            best = likeliest([(answer.logprob or 0.0, answer.completion_tokens) for answer in whole])
        answer, parsed = whole[best], read[best]
        notes: dict[str, Any] = {
            **several,
            "text": answer.text,
            "format": spec.format_name,
            "discarded": [list(piece) for piece in parsed.discarded],
            "prompt_tokens": answer.prompt_tokens,
            "completion_tokens": sum(answer.completion_tokens for answer in whole),
            "dropped_history": rendered.dropped_history,
            "dropped_shots": rendered.dropped_shots,
            **_endpoint_notes(answer, whole),
        }
        actions = parsed.actions if plan.share is None else vote(item, [parsed.actions for parsed in read], plan.share)
        self._score(item, actions)
        return Answer(actions, answer.finish_reason != "length", notes, prompt=rendered.text)

    def _score(self, item: Item, actions: Sequence[Any]) -> None:
        made, gold = changes(item, actions), changes(item, item.actions)
        self._right += 2 * len(made & gold)
        self._said += len(made) + len(gold)

    def note(self) -> str:
        """The micro F1 of the changes so far, and the tokens that an endpoint counted."""
        used = getattr(self.engine, "used", None)
        score = f"F1 {100 * self._right / self._said:.1f}" if self._said else ""
        return ", ".join(filter(None, (score, str(used) if used else "")))


def _endpoint_notes(answer: Completion, whole: Sequence[Completion]) -> dict[str, Any]:
    """What only some answers have: a thought, counts of reasoning and cached tokens, the name of the model that answered."""
    counts = {
        "reasoning_tokens": sum(one.reasoning_tokens for one in whole),
        "cached_tokens": sum(one.cached_tokens for one in whole),
    }
    notes = {"reasoning": answer.reasoning, "model": answer.model, **counts}
    ended = {"finish_reason": "thinking"} if answer.finish_reason == "thinking" else {}
    return ended | {key: value for key, value in notes.items() if value}


def _check_held(state: str, answers: Sequence[Completion]) -> None:
    """Raises EngineError if an endpoint ignores the constraint: its answers would count as feasible ones."""
    feasible = Feasible.from_json(state)
    if not all(answer.finish_reason != "stop" or feasible.whole(answer.text) for answer in answers):
        raise EngineError(
            "the endpoint does not hold answers to feasible actions: --constrain feasible needs harness serve of this version"
        )


def _draws(rendered: Rendered, samples: int) -> list[Rendered]:
    """Copies of the prompt with distinct ids: an answer's noise depends on its id."""
    return [rendered, *(replace(rendered, id=f"{rendered.id}#{n}") for n in range(1, samples))]
