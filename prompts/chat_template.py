"""A model's own chat template, changed to ask for an answer alone or for a thought and then an answer, alike on every day.

Unless it shall think, a model that thinks is told not to, or given an empty thought, or led to its final channel; a template that
writes today's date writes a fixed one. Training, prompting and serving share the result.
"""

import copy
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import EngineError
from prompts.rendered import EFFORTS, OFF, Message
from prompts.template import PLAIN
from serialization.formats.thoughts import EMPTY, MARKS, OPEN

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


def own_template(tokenizer: Any) -> str | None:
    """The chat template that a tokenizer comes with; of several, the default one; None if there is none."""
    template = None if tokenizer is None else tokenizer.chat_template
    return template.get("default") if isinstance(template, dict) else template or None


def template_date(template: str | None) -> str | None:
    """The date that a chat template writes as today's, as in 2025-01-31; None if it writes none."""
    return DATE.isoformat() if template and "strftime_now" in template else None


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
