"""A model's thought, kept apart from its answer."""

from __future__ import annotations

from dataclasses import replace

from harness.engines.engine import Completion
from serialization.formats.answer import THOUGHT_TAG


def apart(completion: Completion) -> Completion:
    """The completion with a thought that leads its text as its `reasoning`.

    A thought whose opening tag stands in the prompt ends at its closing tag. One that does not end is all there is: the text is
    empty, and the finish reason "thinking".
    """
    text = completion.text
    if completion.error is not None or "<" not in text:
        return completion
    tags, blank = list(THOUGHT_TAG.finditer(text)), len(text) - len(text.lstrip())
    opening, closing = (next((tag for tag in tags if tag[1] == slash), None) for slash in ("", "/"))
    if (opening and opening.start() > blank) or not (opening or closing):
        return completion
    thought = text[opening.end() if opening else 0 : closing.start() if closing else None].strip()
    reasoning = "\n".join(filter(None, (completion.reasoning, thought)))
    if closing is None:
        return replace(completion, text="", reasoning=reasoning, finish_reason="thinking")
    answer = text[closing.end() :].lstrip()
    cut = not answer and completion.finish_reason == "length"
    return replace(completion, text=answer, reasoning=reasoning, finish_reason="thinking" if cut else completion.finish_reason)
