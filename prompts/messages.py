"""Items to chat messages, by a template: the text that training, few-shot prompting and serving share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from harness.corpora.item import Item, MinecraftItem
from prompts.rendered import Message
from prompts.spec import PromptSpec
from serialization.contexts import Piece, View, from_frame, in_frame, view
from serialization.formats.answer import Parsed
from serialization.formats.feasible import Feasible
from serialization.pose import as_cells, as_seen, view_from


@lru_cache
def system_message(spec: PromptSpec) -> Message:
    """The task and the answer format, in the words of the template."""
    first = spec.written.first
    answer = spec.wording.render(f"answer.{spec.format}.txt", {"task": spec.task, "first": first})
    moves = spec.written.of_turn is not None and not spec.shown.rich
    values = {"answer": answer, "frame": spec.frame, "first": first, "shown": spec.shown, "moves": moves}
    text = spec.wording.render(f"{spec.task}.system.txt", values)
    return {"role": "system", "content": text.strip()}


def item_view(item: Item, spec: PromptSpec) -> View:
    shown = view(in_frame(item, spec.frame), spec.shown, spec.written)
    return view_from(shown, item.pose) if spec.frame == "pose" and isinstance(item, MinecraftItem) else shown


def questions(shown: View, spec: PromptSpec) -> list[Message]:
    """The question about one item: one user message, or in a conversation also the earlier questions and answers."""
    messages: list[Message] = []
    asked: list[Piece] = []
    first = shown.first
    for piece in shown.pieces:
        if spec.shown.chat and piece.done:
            messages += [_user(asked, {}, first, spec), {"role": "assistant", "content": piece.text}]
            first, asked = first + len(asked), []
        else:
            asked.append(piece)
    return [*messages, _user(asked, shown.fields, first, spec)]


def _user(pieces: Sequence[Piece], fields: dict[str, str], first: int, spec: PromptSpec) -> Message:
    values: dict[str, Any] = {"board": "", "blocks": "", **fields, "turns": [piece.text for piece in pieces], "first": first}
    return {"role": "user", "content": spec.wording.render(f"{spec.task}.user.txt", values).strip()}


def gold_answer(item: Item, spec: PromptSpec) -> str:
    """The text that answers an item with its gold actions, in the spec's format and frame."""
    seen = in_frame(item, spec.frame)
    text = spec.written.answer(seen.actions, seen)
    return as_seen(text, item.pose) if spec.frame == "pose" and isinstance(item, MinecraftItem) else text


def read_answer(text: str, item: Item, spec: PromptSpec) -> Parsed:
    """The actions of a model's answer, in the world's frame. Total: any text is an answer."""
    if spec.frame == "pose" and isinstance(item, MinecraftItem):
        text = as_cells(text, item.pose)
    parsed = spec.written.read(text, in_frame(item, spec.frame))
    return parsed._replace(actions=from_frame(parsed.actions, item, spec.frame))


def feasible_state(item: Item, spec: PromptSpec) -> str | None:
    """What a feasible answer begins with, as `Feasible.to_json` writes it; None where the format's grammar says it all."""
    seen = in_frame(item, spec.frame)
    return Feasible.of_item(spec.format, seen).to_json() if isinstance(seen, MinecraftItem) else None


def conversation(
    item: Item,
    spec: PromptSpec,
    shots: Sequence[Item] = (),
    keep: int | None = None,
    keep_in_shots: int | None = None,
    *,
    answered: bool = False,
) -> list[Message]:
    """System, if it says anything, then a question and its answer for each example, then the question (and, if `answered`, its
    answer).

    `keep` and `keep_in_shots` limit the last pieces kept of the item's view, and of each example's.
    """
    system = system_message(spec)
    messages = [system] if system["content"] else []
    for shown, most in (*((shot, keep_in_shots) for shot in shots), (item, keep)):
        whole = item_view(shown, spec)
        messages += questions(whole if most is None else whole.cut(most), spec)
        if answered or shown is not item:
            messages.append({"role": "assistant", "content": gold_answer(shown, spec)})
    return messages
