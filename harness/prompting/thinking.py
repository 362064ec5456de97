"""Models that think before they answer, within a budget: two requests to an engine, whichever it is.

The first ends where the thought does, or when its budget is used up. Then the thought is closed as the model's chat template does
it, and the second request continues with the answer, to which alone a constraint applies.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.engines.engine import Completion, Engine, Sampling
from prompts.render import Renderer
from prompts.rendered import Rendered


def generate(engine: Engine, renderer: Renderer, prompts: Sequence[Rendered], sampling: Sampling) -> Iterator[Completion]:
    """As `Engine.generate`; if the renderer's model thinks, completions hold its thoughts, too."""
    if renderer.thinking is None:
        yield from engine.generate(prompts, sampling)
        return
    thoughts = [*engine.generate(*asked_to_think(renderer, prompts, sampling))]
    answers = iter(engine.generate(after_thoughts(renderer, prompts, thoughts), sampling))
    for thought in thoughts:
        yield with_thought(thought, next(answers)) if thought.error is None else thought
    next(answers, None)  # So that the engine finishes what it does after the last answer.


def asked_to_think(renderer: Renderer, prompts: Sequence[Rendered], sampling: Sampling) -> tuple[list[Rendered], Sampling]:
    """The requests for the thoughts before the answers."""
    assert renderer.thinking is not None
    end = (renderer.thinking.end,)
    thought = replace(sampling, max_tokens=renderer.thought_tokens, stop=end, constraint=None)
    return [replace(prompt, feasible=None) for prompt in prompts], thought


def after_thoughts(renderer: Renderer, prompts: Sequence[Rendered], thoughts: Sequence[Completion]) -> list[Rendered]:
    """The requests for the answers that follow those thoughts that are no errors."""
    requests = []
    for prompt, thought in zip(prompts, thoughts, strict=True):
        if thought.error is None:
            more = renderer.thought_text(_text(thought))
            ids = prompt.token_ids + renderer.token_ids(more)
            requests.append(replace(prompt, text=prompt.text + more, token_ids=ids))
    return requests


def with_thought(thought: Completion, answer: Completion) -> Completion:
    """The answer with its thought, and the numbers of both."""
    likely = None if None in (thought.logprob, answer.logprob) else (thought.logprob or 0.0) + (answer.logprob or 0.0)
    return replace(
        answer,
        prompt_tokens=thought.prompt_tokens,
        completion_tokens=thought.completion_tokens + answer.completion_tokens,
        reasoning=_text(thought),
        reasoning_tokens=thought.completion_tokens,
        logprob=likely,
    )


def _text(thought: Completion) -> str:
    """The text of a thought, without a last character of which the budget left only some bytes."""
    return thought.text.rstrip("\ufffd").strip()
