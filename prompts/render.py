"""Items as the exact tokens that a model reads, within its context length, through its own chat template. Only `prompts` applies
chat templates.

A chat template is changed to ask for an answer alone or for a thought and then an answer, alike on every day. Unless it shall
think, a model that thinks is told not to, or given an empty thought, or led to its final channel; a template that writes today's
date writes a fixed one. Training, prompting and serving share the result.
"""

import copy
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from harness.corpora.item import Item, own_thought
from harness.errors import EngineError, HarnessError, UsageError
from prompts.messages import conversation, item_view
from prompts.rendered import EFFORTS, OFF, Message, Rendered, TrainingRow
from prompts.spec import PromptSpec
from prompts.template import PLAIN
from serialization.formats.answer import Constraint
from serialization.formats.thoughts import EMPTY, MARKS, OPEN

CHARS_PER_TOKEN = 3.0
"""Characters per token without a tokenizer; low on purpose: dropping a turn is better than overflowing."""

THOUGHT_TOKENS = 2048
"""Tokens of a thought at most, if nothing else is said."""

PLAIN_STOP = ("\n\n", "\n###")
"""Stop strings of a model without a chat template."""

DATE = date(2025, 1, 1)
"""The date that a chat template writes as today's."""

CHAT_TEMPLATE = "chat_template.jinja"
"""The file of a chat template, in the folder of a model or an adapter."""

_SWITCHES = ("enable_thinking", "thinking")
"""The variables with which templates turn thinking on."""
_ANSWER, _THOUGHT = "An answer.", "A thought."
_CHAT: tuple[Message, ...] = (
    {"role": "system", "content": "Some rules."},
    {"role": "user", "content": "Ready?"},
    {"role": "assistant", "content": _ANSWER},
)
_CLOCK = re.compile(r"strftime_now\(\s*(['\"])(.*?)\1\s*\)")


class PromptTooLongError(HarnessError):
    """One item does not fit the context length even without examples and earlier turns."""


class Thinking(NamedTuple):
    """How a model thinks before it answers."""

    template: str
    """The chat template, changed so that a model's turn opens where its thought begins."""
    closing: str
    """What stands between the thought, without blanks around it, and the answer."""

    @property
    def end(self) -> str:
        """The mark that ends the thought, which `closing` begins with but for blanks."""
        marks = re.match(r"\S+?[>\]▷]|.+", self.closing.strip())
        return marks[0] if marks else ""


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

    def training_row(self, item: Item, shots: Sequence[Item] = (), answer: str | None = None) -> TrainingRow:
        """Prompt and answer as they are tokenized for training: the prompt's tokens are those of `render` without a budget.

        `answer` is a text that a model wrote, thought included; only the end of an answer is added to it. None: the gold answer.

        Raises EngineError if the tokenizer has no token to end an answer with, or its template changes answers.
        """
        if self.tokenizer.eos_token is None:
            raise EngineError("the tokenizer has no EOS token, so a model could not learn to stop")
        prompt, text = self.training_text(item, shots, answer)
        thought = self.thought_text(own_thought(item)) if answer is None else ""
        # In prompting, too, the answer is tokenized apart from what stands before it.
        return TrainingRow(item.id, self.token_ids(prompt), self.token_ids(thought) + self.token_ids(text))

    def thought_text(self, thought: str) -> str:
        """A thought and what stands between it and the answer; nothing if the model does not think."""
        return thought.strip() + self.thinking.closing if self.thinking else ""

    def training_text(self, item: Item, shots: Sequence[Item] = (), answer: str | None = None) -> tuple[str, str]:
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
        end = end_of_turn(self.tokenizer, rest) if self.is_chat else str(getattr(self.tokenizer, "eos_token", None) or "")
        return prompt, (blank + found if answer is None else answer) + end


def own_template(tokenizer: Any) -> str | None:
    """The chat template that a tokenizer comes with; of several, the default one; None if there is none."""
    template = None if tokenizer is None else tokenizer.chat_template
    return template.get("default") if isinstance(template, dict) else template or None


def template_date(template: str | None) -> str | None:
    """The date that a chat template writes as today's, as in 2025-01-31; None if it writes none."""
    return DATE.isoformat() if template and "strftime_now" in template else None


def thinking(tokenizer: Any, think: str) -> Thinking | None:
    """How a model thinks if it shall: `think` is "on" or one of `EFFORTS`. None if its chat template knows no thinking, or takes
    no effort.

    The marks are those that the template itself writes around a thought or, if it writes none, around an empty one.
    """
    from transformers.utils.chat_template_utils import _get_template_variables

    own = own_template(tokenizer)
    names = set() if own is None else _get_template_variables(own)
    if own is None:
        return None
    settled = "".join(f"{{% set {name} = true %}}" for name in _SWITCHES if name in names) + _dated(own)
    # A whole model's template was changed when the model was saved.
    if think in EFFORTS and (effort := f'{{% set reasoning_effort = "{think}" %}}') not in own:
        if "reasoning_effort" not in names:
            return None
        settled = effort + settled
    # A saved template, which was changed already, still writes an empty thought into a turn, but not at the end of a prompt.
    turn = _probe(tokenizer, _settled(own.replace("{% set enable_thinking = true %}", "")), answered=True).partition(_ANSWER)[0]
    quiet = EMPTY.search(turn) or EMPTY.search(_probe(tokenizer, answering_template(tokenizer) or own))
    prompt = _probe(tokenizer, settled)
    head, thought, rest = _probe(tokenizer, settled, answered=True, thought=_THOUGHT).partition(_THOUGHT)
    if thought and head.startswith(prompt):
        return Thinking(_opened(settled, head[len(prompt) :]), rest.partition(_ANSWER)[0])
    if not quiet:
        return None
    return Thinking(_opened(settled, "" if OPEN.search(prompt) else f"{quiet[1]}\n"), f"\n{MARKS[quiet[1]]}{quiet[2]}")


def answering_template(tokenizer: Any, think: str = OFF) -> str | None:
    """The tokenizer's chat template, changed so that a model's turn opens where the answer begins or, if it thinks, its thought;
    unchanged if it does already.

    None if the tokenizer has no chat template.
    """
    template = own_template(tokenizer)
    if template is None:
        return None
    if think != OFF and (thinks := thinking(tokenizer, think)):
        return thinks.template
    settled = _settled(template)
    return _opened(settled, _opening(tokenizer, settled))


def _opened(settled: str, opening: str) -> str:
    """The template with a text after its own end of a prompt."""
    if not opening:
        return settled
    written = opening.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return settled.removesuffix("\n") + '{% if add_generation_prompt %}{{ "' + written + '" }}{% endif %}'


def check_chat_template(tokenizer: Any) -> None:
    """Raises EngineError if the tokenizer's chat template rejects a conversation or leaves out a message."""
    chat_text(tokenizer, answering_template(tokenizer), _CHAT[:-1], open_answer=True)


def answering(tokenizer: Any, think: str = OFF) -> Any:
    """A copy of a tokenizer whose chat template is the changed one, so that other programs ask as the harness does."""
    own = copy.deepcopy(tokenizer)
    own.chat_template = answering_template(tokenizer, think)
    return own


def save_chat_template(tokenizer: Any, folder: Path, think: str = OFF) -> None:
    """Write the changed chat template into an adapter's folder, if it differs from the base's own."""
    changed = answering_template(tokenizer, think)
    if changed is not None and changed != own_template(tokenizer):
        (folder / CHAT_TEMPLATE).write_text(changed)


def end_of_turn(tokenizer: Any, rest: str) -> str:
    """The text that ends an answer. `rest` is what the chat template writes after it: all up to and including the first special
    token counts, or EOS if there is none."""
    special = {token.content for token in tokenizer.added_tokens_decoder.values() if token.special}
    special.update(tokenizer.all_special_tokens)
    ends = [rest.index(token) + len(token) for token in special if token in rest]
    return rest[: min(ends)] if ends else str(tokenizer.eos_token or "")


def chat_text(tokenizer: Any, template: str | None, messages: Sequence[Message], *, open_answer: bool) -> str:
    """The messages as a chat template writes them; `open_answer` ends the text where the model continues.

    If the template drops or rejects the system message, the first question begins with its text; if it wants content as a list
    of parts, it gets one. Raises EngineError if the text of a message is not in the result in any of these ways.
    """
    options = {"tokenize": False, "add_generation_prompt": open_answer, "chat_template": template, "strftime_now": DATE.strftime}
    faults = []
    for form in (messages, _folded(messages), _in_parts(messages), _in_parts(_folded(messages))):
        try:
            text = str(tokenizer.apply_chat_template(list(form), **options))
        except Exception as error:  # noqa: BLE001 - a template may fail in any way on a form that it does not expect
            faults.append(f"rejects the conversation: {' '.join(str(error).split())}")
            continue
        if (fault := missing_text(text, messages)) is None:
            return text
        faults.append(fault)
    raise EngineError(f"the model's chat template {faults[0]}: take another model, or a --template with a {PLAIN} of its own")


def _folded(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages without a system message: its text is put before the first question."""
    if messages[0]["role"] != "system":
        return messages
    system, question, *rest = messages
    return [{"role": "user", "content": f"{system['content']}\n\n{question['content']}"}, *rest]


def _in_parts(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages with the OpenAI protocol's parts as their content."""
    return [{**m, "content": [{"type": "text", "text": m["content"]}]} for m in messages]


def missing_text(text: str, messages: Sequence[Message]) -> str | None:
    """What is wrong if the text of a message is not in the rendered text in its place; None if every one is."""
    place = 0
    for message in messages:
        content = message["content"].strip()
        # Some templates write the system message before the last question.
        found = text.find(content, 0 if message["role"] == "system" else place)
        if found < 0:
            whose = {"system": "the system message", "user": "questions"}.get(message["role"], "answers")
            return f"leaves out or changes the text of {whose}"
        place = found + len(content) if message["role"] != "system" else place
    return None


def stop_token_ids(tokenizer: Any) -> tuple[int, ...]:
    """The tokens besides EOS that end an answer: the one with which the chat template ends a turn, if it is another."""
    template = answering_template(tokenizer)
    text = template and _probe(tokenizer, template, answered=True)
    if not text:
        return ()
    end = tokenizer(end_of_turn(tokenizer, text.rpartition(_ANSWER)[2]), add_special_tokens=False).input_ids[-1:]
    return tuple(token for token in end if token != tokenizer.eos_token_id)


def _dated(template: str) -> str:
    """The template with a fixed date as today's."""
    return _CLOCK.sub(lambda match: f'"{DATE.strftime(match[2])}"', template)


def _settled(template: str) -> str:
    """The template with thinking turned off, if it has a switch, and with a fixed date as today's."""
    fixed = _dated(template)
    switch = "{% set enable_thinking = false %}"
    return switch + fixed if "enable_thinking" in fixed and not fixed.startswith(switch) else fixed


def _opening(tokenizer: Any, template: str) -> str:
    """The text between the template's own end of a prompt and an answer, such as an empty thought or the name of a channel.

    Blanks are left to the model: a prompt that ends with a blank is tokenized differently from the text of training.
    """
    prompt, whole = _probe(tokenizer, template), _probe(tokenizer, template, answered=True)
    head = whole.partition(_ANSWER)[0]
    if prompt and head.startswith(prompt):
        opening = head[len(prompt) :]
        return opening if opening.strip() else ""
    thought = OPEN.search(prompt)
    return f"{'' if thought[2] else chr(10)}\n{MARKS[thought[1]]}\n\n" if thought else ""


def _probe(tokenizer: Any, template: str, *, answered: bool = False, thought: str = "") -> str:
    """A short conversation as the template writes it; empty if the template rejects it."""
    *asked, answer = _CHAT
    # Templates know a thought under one of two names.
    last: Any = {**answer, "reasoning_content": thought, "thinking": thought} if thought else answer
    with suppress(EngineError):
        return chat_text(tokenizer, template, [*asked, last] if answered else asked, open_answer=not answered)
    return ""
