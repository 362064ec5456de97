"""A model's own chat template, changed to ask for an answer and nothing else, alike on every day.

A model that thinks is told not to, or given an empty thought, or led to its final channel; a template that writes today's date
writes a fixed one. Training, prompting and serving share the result.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

from harness.errors import EngineError
from prompts.rendered import Message
from prompts.template import PLAIN
from serialization.formats.thoughts import MARKS, OPEN

DATE = date(2025, 1, 1)
"""The date that a chat template writes as today's."""

CHAT_TEMPLATE = "chat_template.jinja"
"""The file of a chat template, in the folder of a model or an adapter."""

_ANSWER = "An answer."
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


def answering_template(tokenizer: Any) -> str | None:
    """The tokenizer's chat template, changed so that a model's turn opens where the answer begins; unchanged if it does already.

    None if the tokenizer has no chat template.
    """
    template = own_template(tokenizer)
    if template is None:
        return None
    settled = _settled(template)
    opening = _opening(tokenizer, settled)
    if not opening:
        return settled
    written = opening.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return settled.removesuffix("\n") + '{% if add_generation_prompt %}{{ "' + written + '" }}{% endif %}'


def check_chat_template(tokenizer: Any) -> None:
    """Raises EngineError if the tokenizer's chat template rejects a conversation or leaves out a message."""
    chat_text(tokenizer, answering_template(tokenizer), _CHAT[:-1], open_answer=True)


def answering(tokenizer: Any) -> Any:
    """A copy of a tokenizer whose chat template is the changed one, so that other programs ask as the harness does."""
    own = copy.deepcopy(tokenizer)
    own.chat_template = answering_template(tokenizer)
    return own


def save_chat_template(tokenizer: Any, folder: Path) -> None:
    """Write the changed chat template into an adapter's folder, if it differs from the base's own."""
    changed = answering_template(tokenizer)
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
    return [{"role": m["role"], "content": [{"type": "text", "text": m["content"]}]} for m in messages]


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


def _settled(template: str) -> str:
    """The template with thinking turned off, if it has a switch, and with a fixed date as today's."""
    fixed = _CLOCK.sub(lambda match: f'"{DATE.strftime(match[2])}"', template)
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


def _probe(tokenizer: Any, template: str, *, answered: bool = False) -> str:
    """A short conversation as the template writes it; empty if the template rejects it."""
    with suppress(EngineError):
        return chat_text(tokenizer, template, _CHAT if answered else _CHAT[:-1], open_answer=not answered)
    return ""
