"""A second question where nothing of an answer could be read: it names what was discarded and why."""

from __future__ import annotations

from dataclasses import replace

from prompts.render import CHARS_PER_TOKEN, Renderer
from prompts.rendered import Message, Rendered
from serialization.formats.answer import Parsed, losses

PIECES = 3
"""Discarded pieces that the question names at most."""


def unreadable(parsed: Parsed) -> bool:
    """Whether an answer says something, and nothing of it is an action. To change nothing is an answer too."""
    return not parsed.actions and bool(losses(parsed.discarded))


def asked_again(renderer: Renderer, rendered: Rendered, text: str, parsed: Parsed) -> Rendered | None:
    """The prompt with the answer `text` and a further user turn; None where both do not fit the context."""
    pieces = "\n".join(f"- {piece!r}: {reason}" for piece, reason in parsed.discarded[:PIECES])
    question = (
        f"No action could be read from this answer:\n{pieces}\nAnswer again, with the actions alone, in the format described."
    )
    said: Message = {"role": "assistant", "content": text}
    messages = (*rendered.messages, said, Message(role="user", content=question))
    prompt = renderer.text(messages)
    ids = renderer.token_ids(prompt)
    length = len(ids) if renderer.tokenizer is not None else len(prompt) // CHARS_PER_TOKEN
    again = replace(rendered, id=f"{rendered.id}#again", messages=messages, text=prompt, token_ids=ids)
    return again if length <= renderer.budget else None
