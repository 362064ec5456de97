"""A model's own chat template, changed to ask for an answer and nothing else, alike on every day.

A model that thinks is told not to, or given an empty thought, or led to its final channel; a template that writes today's date
writes a fixed one. Training, prompting and serving share the result.
"""

from __future__ import annotations

import copy
import re
from datetime import date
from pathlib import Path
from typing import Any

DATE = date(2025, 1, 1)
"""The date that a chat template writes as today's."""

CHAT_TEMPLATE = "chat_template.jinja"
"""The file of a chat template, in the folder of a model or an adapter."""

_ASKED, _ANSWER = "Ready?", "An answer."
_CLOCK = re.compile(r"strftime_now\(\s*(['\"])(.*?)\1\s*\)")
_THOUGHT = re.compile(r"<(think(?:ing)?)>(\s*)$")


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


def stop_token_ids(tokenizer: Any) -> tuple[int, ...]:
    """The tokens besides EOS that end an answer: the one with which the chat template ends a turn, if it is another."""
    from jinja2 import TemplateError

    template = answering_template(tokenizer)
    if template is None:
        return ()
    asked = [{"role": "user", "content": _ASKED}, {"role": "assistant", "content": _ANSWER}]
    options = {"chat_template": template, "strftime_now": DATE.strftime}
    try:
        text = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=False, **options)
    except TemplateError:
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
    from jinja2 import TemplateError

    asked = [{"role": "user", "content": _ASKED}]
    answered = [*asked, {"role": "assistant", "content": _ANSWER}]
    try:
        prompt = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True, chat_template=template)
        whole = tokenizer.apply_chat_template(answered, tokenize=False, add_generation_prompt=False, chat_template=template)
    except TemplateError:
        return ""
    head = whole.partition(_ANSWER)[0]
    if head.startswith(prompt):
        opening = head[len(prompt) :]
        return opening if opening.strip() else ""
    thought = _THOUGHT.search(prompt)
    return f"{'' if thought[2] else chr(10)}\n</{thought[1]}>\n\n" if thought else ""
