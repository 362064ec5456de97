"""Items as the exact tokens that a model reads, within its context length. Only `prompts` applies chat templates."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from harness.corpora.item import Item, own_thought
from harness.errors import EngineError, HarnessError, UsageError
from prompts.chat_template import (
    Thinking,
    answering_template,
    chat_text,
    end_of_turn,
    missing_text,
    stop_token_ids,
    thinking,
)
from prompts.messages import conversation, item_view
from prompts.rendered import EFFORTS, Message, Rendered, TrainingRow
from prompts.spec import PromptSpec
from prompts.template import PLAIN
from serialization.formats.answer import Constraint

CHARS_PER_TOKEN = 3.0
"""Characters per token without a tokenizer; low on purpose: dropping a turn is better than overflowing."""

THOUGHT_TOKENS = 2048
"""Tokens of a thought at most, if nothing else is said."""

PLAIN_STOP = ("\n\n", "\n###")
"""Stop strings of a model without a chat template."""


class PromptTooLongError(HarnessError):
    """One item does not fit the context length even without examples and earlier turns."""


class Renderer:
    """Renders items in one prompt format for one model.

    `context_length` and `max_new_tokens` are in tokens; a prompt may take what the answer leaves and, if the spec thinks, the
    thought of `thought_tokens`. Without a tokenizer the text is the plain template's, there are no token ids, and lengths are
    estimated at `CHARS_PER_TOKEN`.
    """

    def __init__(
        self, spec: PromptSpec, tokenizer: Any, context_length: int, max_new_tokens: int, thought_tokens: int = 0
    ) -> None:
        self.spec = spec
        self.tokenizer = tokenizer
        self.context_length = context_length
        self.thought_tokens = thought_tokens if spec.thinks else 0
        self.budget = context_length - max_new_tokens - self.thought_tokens
        if self.budget < 1:
            thought = f" with a thought of {self.thought_tokens}" if self.thought_tokens else ""
            raise EngineError(
                f"--max-new-tokens {max_new_tokens}{thought} leaves no room for a prompt in a context of {context_length} tokens"
            )

    @cached_property
    def is_chat(self) -> bool:
        """Whether the model's own chat template is used."""
        return self.tokenizer is not None and bool(self.tokenizer.chat_template) and not self.spec.template.is_plain

    @cached_property
    def thinking(self) -> Thinking | None:
        """How the model thinks before it answers; None if it shall not. Raises UsageError if its template has no way to."""
        if not self.spec.thinks:
            return None
        effort = self.spec.think in EFFORTS
        if not self.is_chat or (found := thinking(self.tokenizer, self.spec.think)) is None:
            flag, what = ("--reasoning-effort", "takes no effort") if effort else ("--think", "knows no thinking")
            raise UsageError(
                f"{flag} {self.spec.think}: the model's chat template {what}: leave the flag out, or take another model"
            )
        return found

    @cached_property
    def _chat_template(self) -> str | None:
        return self.thinking.template if self.thinking else answering_template(self.tokenizer)

    @property
    def stop(self) -> tuple[str, ...]:
        """Strings that end an answer; none if the model's own chat template is used."""
        return () if self.is_chat else PLAIN_STOP

    @cached_property
    def opening(self) -> str:
        """The text between a prompt and its answer in training rows, with which a model trained on them begins its answers:
        blanks, or nothing."""
        found = "place red 0 1 0"
        messages: list[Message] = [{"role": "user", "content": ""}, {"role": "assistant", "content": found}]
        prompt, whole = self.text(messages[:-1]), self.text(messages, open_answer=False)
        between = whole.rpartition(found)[0].removeprefix(prompt)
        return "" if between.strip() else between

    @property
    def constraint(self) -> Constraint:
        """The constraint that holds a whole answer, `opening` included, to the format."""
        return self.spec.constraint.after(self.opening)

    @cached_property
    def stop_token_ids(self) -> tuple[int, ...]:
        """Tokens besides EOS that end an answer."""
        return stop_token_ids(self.tokenizer) if self.is_chat else ()

    def text(self, messages: Sequence[Message], *, open_answer: bool = True) -> str:
        """Messages as one string, special tokens included; `open_answer` ends it where the model continues.

        Raises EngineError for a chat template that rejects them or leaves one out, UsageError for such a plain one.
        """
        if not self.is_chat:
            special = {name: getattr(self.tokenizer, name, None) or "" for name in ("bos_token", "eos_token")}
            text = self.spec.template.render(PLAIN, {"messages": messages, "add_generation_prompt": open_answer, **special})
            if fault := missing_text(text, messages):
                raise UsageError(f"--template {self.spec.template_name}: {PLAIN} {fault}")
            return text
        return chat_text(self.tokenizer, self._chat_template, messages, open_answer=open_answer)

    def token_ids(self, text: str) -> tuple[int, ...]:
        """The tokens of a text; none without a tokenizer. Raises EngineError if the text would begin with two BOS tokens."""
        if self.tokenizer is None:
            return ()
        # Not verbose: that a whole prompt is longer than the model takes is not said before it is cut.
        ids = tuple(self.tokenizer(text, add_special_tokens=False, verbose=False).input_ids)
        bos = self.tokenizer.bos_token_id
        if bos is not None and ids[:2] == (bos, bos):
            raise EngineError("the chat template writes the BOS token twice: fix the tokenizer's chat_template")
        return ids

    def estimate(self, text: str) -> int:
        """The estimated number of tokens of a text."""
        return math.ceil(len(text) / CHARS_PER_TOKEN)

    def _try(self, item: Item, shots: Sequence[Item], keep: int | None = None) -> tuple[int, Rendered]:
        """The length in tokens and the rendered prompt. `keep`: pieces of each example, or of the item if there is none."""
        messages = conversation(item, self.spec, shots, None if shots else keep, keep)
        text = self.text(messages)
        ids = self.token_ids(text)
        length = len(ids) if self.tokenizer is not None else self.estimate(text)
        return length, Rendered(item.id, tuple(messages), text, ids)

    def render(
        self, item: Item, shots: Sequence[Item] = (), arrange: Callable[[Sequence[Item]], Sequence[Item]] = tuple
    ) -> Rendered:
        """The prompt of an item with as many examples and as much history as fit, and how much of each was left out.

        `shots` come in the order in which they are worth keeping; `arrange` puts the kept ones in the order of the prompt. First
        all examples lose their oldest turns, then the last example goes and the others get their turns back, and so on; the
        item's own turns are cut only when no example is left. Raises PromptTooLongError if nothing more can be cut.
        """
        for used in range(len(shots), -1, -1):
            kept = arrange(shots[:used])
            length, rendered = self._try(item, kept)
            if length <= self.budget:
                return replace(rendered, dropped_shots=len(shots) - used)
            views = [item_view(i, self.spec) for i in kept or (item,)]
            best = self._longest(item, kept, max(len(v.pieces) for v in views))
            if best:
                most, rendered = best
                dropped = sum(len(v.pieces) - len(v.cut(most).pieces) for v in views)
                return replace(rendered, dropped_history=dropped, dropped_shots=len(shots) - used)
        raise PromptTooLongError(
            f"{item.id}: its shortest prompt takes {length} tokens, but only {self.budget} are left besides the answer; "
            "raise --context-length or lower --max-new-tokens"
        )

    def _longest(self, item: Item, shots: Sequence[Item], pieces: int) -> tuple[int, Rendered] | None:
        """The largest number of pieces, fewer than all, that fits, and its prompt; None if none fits."""
        low, high = 0, pieces
        best: tuple[int, Rendered] | None = None
        while low < high:
            middle = (low + high) // 2
            length, rendered = self._try(item, shots, middle)
            if length <= self.budget:
                low, best = middle + 1, (middle, rendered)
            else:
                high = middle
        return best

    def history_tokens(self, item: Item) -> int:
        """The number of tokens of the game history that a prompt shows: what was said and done, without instructions to the model
        and without the state."""
        return sum(len(self.token_ids(piece.text)) for piece in item_view(item, self.spec).pieces)

    def training_row(self, item: Item, shots: Sequence[Item] = ()) -> TrainingRow:
        """Prompt and answer as they are tokenized for training: the prompt's tokens are those of `render` without a budget.

        Raises EngineError if the tokenizer has no token to end an answer with, or its template changes answers.
        """
        if self.tokenizer.eos_token is None:
            raise EngineError("the tokenizer has no EOS token, so a model could not learn to stop")
        prompt, answer = self.training_text(item, shots)
        thought = self.thought_text(own_thought(item))
        # In prompting, too, the answer is tokenized apart from what stands before it.
        return TrainingRow(item.id, self.token_ids(prompt), self.token_ids(thought) + self.token_ids(answer))

    def thought_text(self, thought: str) -> str:
        """A thought and what stands between it and the answer; nothing if the model does not think."""
        return thought.strip() + self.thinking.closing if self.thinking else ""

    def training_text(self, item: Item, shots: Sequence[Item] = ()) -> tuple[str, str]:
        """The prompt and the answer of `training_row` as text; without a tokenizer, no token ends the answer.

        A chat template may write a turn differently once it is not the last: the prompt is what it writes when the answer is
        asked for, and only the answer and its end come from the whole conversation.
        """
        messages = conversation(item, self.spec, shots, answered=True)
        prompt, whole = self.text(messages[:-1]), self.text(messages, open_answer=False)
        # A template may trim an answer; what follows it then ends the turn.
        before, found, rest = whole.rpartition(messages[-1]["content"].strip())
        blank = before[len(prompt) :] if before.startswith(prompt) else ""
        if self.thinking:
            blank = ""
        if blank.strip():
            raise EngineError(
                f"the chat template writes {blank!r} before an answer, which its prompts do not have: use another --base"
            )
        if not self.is_chat:
            return prompt, blank + found + str(getattr(self.tokenizer, "eos_token", None) or "")
        return prompt, blank + found + end_of_turn(self.tokenizer, rest)
