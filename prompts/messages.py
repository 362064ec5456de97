"""Items as chat messages, worded by a template: the text that training, few-shot prompting and serving share."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from harness.corpora.item import Item, MinecraftItem, own_program
from harness.tasks.registry import TASKS
from prompts.rendered import Message
from prompts.spec import PromptSpec
from serialization.contexts import TurnText, View, in_frame, view
from serialization.formats.answer import Parsed
from serialization.formats.feasible import Feasible
from serialization.pose import as_seen, compass, read_in_frame, view_from


@lru_cache
def system_message(spec: PromptSpec) -> Message:
    """The task and the answer format, in the words of the template."""
    first = spec.format.first
    answer = spec.template.render(f"answer.{spec.format_name}.txt", {"task": spec.world, "first": first})
    values = {"answer": answer, "frame": spec.frame, "first": first, "shown": spec.context, "looks": spec.looks}
    text = spec.template.render(f"{spec.world}.system.txt", values).strip()
    return {"role": "system", "content": text}


def item_view(item: Item, spec: PromptSpec) -> View:
    shown = view(in_frame(item, spec.frame), spec.context, spec.format, looks=spec.looks)
    if not isinstance(item, MinecraftItem):
        return shown
    shown = view_from(shown, item.pose) if spec.frame == "pose" else shown
    if spec.looks or not TASKS[item.task].compass:
        return shown
    return replace(shown, fields={**shown.fields, **compass(item.pose, spec.frame)})


def questions(shown: View, spec: PromptSpec) -> list[Message]:
    """The question about one item: one user message, in a conversation after the earlier questions and answers."""
    messages: list[Message] = []
    asked: list[TurnText] = []
    first, begun = shown.first, {"begun": shown.begun}
    for piece in shown.pieces:
        if spec.context.chat and piece.done:
            messages += [_user(asked, begun, first, spec), {"role": "assistant", "content": piece.text}]
            first, asked, begun = first + len(asked), [], {}
        else:
            asked.append(piece)
    return [*messages, _user(asked, {**begun, **shown.fields}, first, spec)]


def _user(pieces: Sequence[TurnText], fields: dict[str, str], first: int, spec: PromptSpec) -> Message:
    values: dict[str, Any] = {**dict.fromkeys(("board", "blocks", "begun"), ""), **fields}
    values |= {"turns": [piece.text for piece in pieces], "first": first}
    text = spec.template.render(f"{spec.world}.user.txt", values).strip()
    if "north" in fields:
        text += "\n" + spec.template.render("compass.txt", {**fields, "frame": spec.frame}).strip()
    return {"role": "user", "content": text}


def gold_answer(item: Item, spec: PromptSpec) -> str:
    """The text that answers an item with its gold actions, in the spec's format and frame; the item's own program, if it has one
    and answers are programs of the world's frame."""
    program = own_program(item) if spec.format.is_program and spec.frame == "world" else None
    if program is not None:
        return program
    seen = in_frame(item, spec.frame)
    text = spec.format.write(seen.actions)
    return as_seen(text, item.pose) if spec.frame == "pose" and isinstance(item, MinecraftItem) else text


def read_answer(text: str, item: Item, spec: PromptSpec) -> Parsed:
    """The actions of a model's answer, in the world's frame. Total: any text is an answer."""
    return read_in_frame(text, item, spec.format, spec.frame)


def feasible_state(item: Item, spec: PromptSpec, opening: str = "") -> str | None:
    """The state from which a feasible answer starts, as `Feasible.to_json` writes it; None if the format's grammar is enough.
    `opening` is `Renderer.opening`."""
    seen = in_frame(item, spec.frame)
    if not isinstance(seen, MinecraftItem):
        return None
    return Feasible.of_item(spec.format_name, seen, opening, posed=spec.frame == "pose").to_json()


def conversation(
    item: Item,
    spec: PromptSpec,
    shots: Sequence[Item] = (),
    keep: int | None = None,
    keep_in_shots: int | None = None,
    *,
    answered: bool = False,
) -> list[Message]:
    """The system message, unless it is empty, then a question and its answer for each example, then the question (and, if
    `answered`, its answer).

    `keep` and `keep_in_shots` are the numbers of last pieces to keep of the item's view and of each example's; None keeps all.
    """
    system = system_message(spec)
    messages = [system] if system["content"] else []
    for shot in shots:
        messages += _example(_Same(shot), spec, keep_in_shots)
    messages += _asked(item, spec, keep)
    return [*messages, _gold_message(item, spec)] if answered else messages


def _asked(item: Item, spec: PromptSpec, keep: int | None) -> list[Message]:
    whole = item_view(item, spec)
    return questions(whole if keep is None else whole.cut(keep), spec)


def _gold_message(item: Item, spec: PromptSpec) -> Message:
    return {"role": "assistant", "content": gold_answer(item, spec)}


class _Same:
    """An item as a key: equal only to itself, since comparing items by content takes longer."""

    def __init__(self, item: Item) -> None:
        self.item = item

    def __hash__(self) -> int:
        return id(self.item)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.item is self.item


@lru_cache(maxsize=256)
def _example(shot: _Same, spec: PromptSpec, keep: int | None) -> tuple[Message, ...]:
    """The messages of an example. Cached, because most prompts of a run have the same examples."""
    return (*_asked(shot.item, spec, keep), _gold_message(shot.item, spec))
