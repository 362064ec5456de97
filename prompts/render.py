"""Items as the exact tokens that a model reads, within its context length. Only `prompts` applies chat templates."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

from harness.corpora.item import Item
from harness.errors import EngineError, HarnessError, UsageError
from prompts.chat_template import answering_template, chat_text, end_of_turn, missing_text, stop_token_ids
from prompts.messages import conversation, item_view
from prompts.rendered import Message, Rendered, TrainingRow
from prompts.spec import PromptSpec
from prompts.template import PLAIN
from serialization.formats.answer import Constraint

CHARS_PER_TOKEN = 3.0
"""Characters per token without a tokenizer; low on purpose: dropping a turn is better than overflowing."""

_NEXT_LINE = r"(?<=\S\n)(?=\S)"
"""The place after a single line break, where GPT-2's way of splitting words always splits."""

PLAIN_STOP = ("\n\n", "\n###")
"""Stop strings of a model without a chat template."""


class PromptTooLongError(HarnessError):
    """One item does not fit the context length even without examples and earlier turns."""


class Encoder:
    """A tokenizer that encodes a message or a line once, although the later prompts of its game repeat it.

    A text is cut where that changes no token: at special tokens if the tokenizer looks at nothing beyond them, as byte-level BPE
    does, and between lines if it splits words as GPT-2's does. Any other tokenizer encodes whole texts.
    """

    most = 1 << 14
    """Most pieces in the cache."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        backend = getattr(tokenizer, "backend_tokenizer", None)
        busy = not backend or backend.truncation or backend.padding or backend.encode_special_tokens
        self._backend = None if busy else backend
        self._special, lines = ({}, False) if busy else _cuts(backend)
        # The longest first, as the tokenizer takes them.
        names = "|".join(sorted(map(re.escape, self._special), key=len, reverse=True))
        self._cut = re.compile(f"({names})" + (rf"|{_NEXT_LINE}" if lines else "")) if names else None
        self._pieces: dict[str, tuple[int, ...]] = {}

    def __call__(self, text: str) -> tuple[int, ...]:
        """The token ids of the text, and no others."""
        if self._cut is None:
            return self._encode(text)
        pieces = (self._special.get(piece) or self._piece(piece) for piece in self._cut.split(text) if piece)
        return tuple(chain.from_iterable(pieces))

    def _piece(self, text: str) -> tuple[int, ...]:
        if (ids := self._pieces.get(text)) is None:
            if len(self._pieces) >= self.most:
                self._pieces.clear()
            ids = self._pieces[text] = self._encode(text)
        return ids

    def _encode(self, text: str) -> tuple[int, ...]:
        if self._backend is None:
            return tuple(self._tokenizer(text, add_special_tokens=False).input_ids)
        # Without the tokens' offsets in the text, which transformers asks for, encoding takes a third less time.
        return tuple(self._backend.encode_batch_fast([text], add_special_tokens=False)[0].ids)


def _cuts(backend: Any) -> tuple[dict[str, tuple[int, ...]], bool]:
    """The ids of the special tokens at which cutting a text changes no token, none if that is not certain; and whether a text may
    be cut between lines, too."""
    state = json.loads(backend.pre_tokenizer.__getstate__()) if backend.pre_tokenizer else {}
    steps = state.get("pretokenizers", [state])
    alone = all(step.get("type") in ("ByteLevel", "Split", "Digits") and not step.get("add_prefix_space") for step in steps)
    added = backend.get_added_tokens_decoder()
    texts = [token.content for token in added.values()]
    nested = any(one != other and one in other for one in texts for other in texts)
    if backend.normalizer is not None or not alone or nested:
        return {}, False
    special: dict[str, tuple[int, ...]] = {token.content: (key,) for key, token in added.items() if token.special}
    strict = not any(token.lstrip or token.rstrip or token.single_word for token in added.values())
    lines = all(step["type"] == "Digits" or step.get("use_regex") for step in steps) and "\n" not in "".join(texts)
    return (special, lines) if strict else ({}, False)


class Renderer:
    """Renders items in one prompt format for one model.

    `context_length` and `max_new_tokens` are in tokens; a prompt may take what the answer leaves. Without a tokenizer the
    text is the plain template's, there are no token ids, and lengths are estimated at `CHARS_PER_TOKEN`.
    """

    def __init__(self, spec: PromptSpec, tokenizer: Any, context_length: int, max_new_tokens: int) -> None:
        self.spec = spec
        self.tokenizer = tokenizer
        self.budget = context_length - max_new_tokens
        if self.budget < 1:
            raise EngineError(
                f"--max-new-tokens {max_new_tokens} leaves no room for a prompt in a context of {context_length} tokens"
            )

    @cached_property
    def is_chat(self) -> bool:
        """Whether the model's own chat template is used."""
        return self.tokenizer is not None and bool(self.tokenizer.chat_template) and not self.spec.template.is_plain

    @cached_property
    def _chat_template(self) -> str | None:
        return answering_template(self.tokenizer)

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

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self.tokenizer)

    def token_ids(self, text: str) -> tuple[int, ...]:
        """The tokens of a text; none without a tokenizer. Raises EngineError if the text would begin with two BOS tokens."""
        if self.tokenizer is None:
            return ()
        ids = self._encoder(text)
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
        return TrainingRow(item.id, self.token_ids(prompt), self.token_ids(answer))

    def training_text(self, item: Item, shots: Sequence[Item] = ()) -> tuple[str, str]:
        """The two parts of `training_row` as text; without a tokenizer, no token ends the answer.

        A chat template may write a turn differently once it is not the last: the prompt is what it writes when the answer is
        asked for, and only the answer and its end come from the whole conversation.
        """
        messages = conversation(item, self.spec, shots, answered=True)
        prompt, whole = self.text(messages[:-1]), self.text(messages, open_answer=False)
        # A template may trim an answer; what follows it then ends the turn.
        before, found, rest = whole.rpartition(messages[-1]["content"].strip())
        blank = before[len(prompt) :] if before.startswith(prompt) else ""
        if blank.strip():
            raise EngineError(
                f"the chat template writes {blank!r} before an answer, which its prompts do not have: use another --base"
            )
        if not self.is_chat:
            return prompt, blank + found + str(getattr(self.tokenizer, "eos_token", None) or "")
        return prompt, blank + found + end_of_turn(self.tokenizer, rest)
