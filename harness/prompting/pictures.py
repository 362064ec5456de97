"""Pictures of states in chat messages, as content parts of the OpenAI protocol."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from harness.corpora.item import HexagonsItem, Item
from harness.drawing.hexagons import board_svg
from harness.drawing.minecraft import structure_svg
from harness.drawing.svg import png_bytes
from prompts.rendered import Message, Rendered
from prompts.spec import PromptSpec
from serialization.contexts import in_frame


def pictured(rendered: Rendered, items: Sequence[Item], spec: PromptSpec) -> Rendered:
    """The prompt with a picture of the state in each question. `items` are the prompt's examples, in order, and then the item."""
    pictures = iter([picture_url(item, spec) for item in items])
    messages = [
        cast(Message, {**message, "content": _parts(message["content"], next(pictures))})
        if message["role"] == "user"
        else message
        for message in rendered.messages
    ]
    return replace(rendered, messages=tuple(messages))


def _parts(text: str, url: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]


def picture_url(item: Item, spec: PromptSpec) -> str:
    """The state before an item as a PNG in a data URL: a board with the numbers that answers use, or a structure, turned into the
    spec's frame, with the builder."""
    seen = in_frame(item, spec.frame)
    if isinstance(seen, HexagonsItem):
        svg = board_svg(seen.before, first=spec.format.first)
    else:
        svg = structure_svg(seen.before, pose=seen.pose)
    return f"data:image/png;base64,{b64encode(png_bytes(svg)).decode()}"
