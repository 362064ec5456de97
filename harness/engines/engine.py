"""What every engine offers: prompts in, completions out, in order."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from harness.worlds import World
    from prompts.rendered import Rendered
    from serialization.formats.answer import Constraint

ENGINES = {
    "vllm": "harness.engines.vllm.engine:VllmEngine",
    "openai": "harness.engines.openai.engine:OpenAIEngine",
    "transformers": "harness.engines.transformers:TransformersEngine",
    "scripted": "harness.engines.scripted:ScriptedEngine",
}


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to decode. Temperature 0 is greedy."""

    max_tokens: int = 512
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    """Strings that end an answer and are not part of it."""
    stop_token_ids: tuple[int, ...] = ()
    """Tokens that end an answer, in addition to those that the tokenizer and the model's generation_config.json name."""
    constraint: "Constraint | None" = None
    tools: "World | None" = None
    """The world whose tools an endpoint is offered; it may answer with calls of them."""
    logprobs: bool = False
    """Whether completions come with their log-probability."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer to one prompt. If `error` is set, the item was not answered and the other fields are meaningless."""

    text: str = ""
    finish_reason: str = "stop"
    """"stop"; "length" if the answer was cut at `max_tokens`; "thinking" if the model was still thinking when it was cut."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str | None = None
    reasoning: str = ""
    """What the model thought before it answered; never read as an answer."""
    reasoning_tokens: int = 0
    """How many of `completion_tokens` belong to the thought; 0 if the endpoint does not say."""
    cached_tokens: int = 0
    """How many of `prompt_tokens` came from the endpoint's cache; 0 if the endpoint does not say."""
    model: str = ""
    """The model that answered, if it is not the one that was asked; empty otherwise."""
    logprob: float | None = None
    """The log-probability of the whole answer at temperature 1; None if it was not asked for or the engine does not know it."""


def apart(completion: Completion) -> Completion:
    """The completion with the thoughts of its text moved to `reasoning`, unless the text begins with something else.

    If the answer is cut within a thought before it begins, the finish reason becomes "thinking".
    """
    from serialization.formats.thoughts import MARK, without_thoughts

    first = MARK.search(completion.text)
    begins = first is not None and (first.lastindex is not None or not completion.text[: first.start()].strip())
    if completion.error is not None or not begins:
        return completion
    answer, thought, ended = without_thoughts(completion.text)
    cut = not answer.strip() and (not ended or completion.finish_reason == "length")
    return replace(
        completion,
        text=answer.lstrip(),
        reasoning="\n".join(filter(None, (completion.reasoning, thought))),
        finish_reason="thinking" if cut else completion.finish_reason,
    )


def without_secrets(url: str) -> str:
    """A URL that is safe to show and record: without user name, password, query or fragment."""
    return re.sub(r"(?<=//)[^/]*@", "", url.split("?")[0].split("#")[0])


Report = Callable[[int], None]
"""Receives how many prompts of the batch are answered so far."""


def silent(answered: int) -> None:
    """The default report: does nothing."""


class Engine(Protocol):
    """Generates text for prompts."""

    tokenizer: Any
    """A transformers tokenizer, or None if only the endpoint has it."""
    context_length: int
    """Tokens that prompt and answer may fill together."""
    batch_size: int
    """Prompts per batch."""
    independent: bool
    """Whether answers are independent of their batch, so that a run may resume in the middle of one."""

    report: Report
    """Set to follow progress; called while a batch is being answered."""

    def generate(self, prompts: "Sequence[Rendered]", sampling: Sampling) -> Iterable[Completion]:
        """One completion per prompt, in the prompts' order, each as soon as it is known. The failure of one prompt is in its
        completion's `error`. Raises EngineError if no prompt can be answered any more."""

    def close(self) -> None:
        """Free what the engine holds."""
