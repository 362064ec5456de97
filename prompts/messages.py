"""Items to chat messages, by the templates: the text that training, few-shot prompting and serving share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from harness.corpora.item import Item, MinecraftItem
from harness.corpora.turn import turn_minecraft
from prompts.rendered import Message
from prompts.spec import PromptSpec
from serialization.contexts import View, from_frame, to_frame, view
from serialization.parsed import Parsed


@lru_cache
def _template(name: str) -> Any:
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=PackageLoader("prompts"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    return environment.get_template(name)


@lru_cache
def system_message(spec: PromptSpec) -> Message:
    answer = _template(f"answer.{spec.format}.txt").render(task=spec.task)
    text = _template(f"{spec.task}.system.txt").render(answer=answer, frame=spec.frame, first=spec.written.first)
    return {"role": "system", "content": text.strip()}


def view_of(item: Item, spec: PromptSpec) -> View:
    return view(item, spec.shown, spec.written, spec.frame)


def user_message(shown: View, spec: PromptSpec, keep: int | None = None) -> Message:
    """The question about one item, with at most the last `keep` turns of its history (but what it requires)."""
    turns = shown.turns if keep is None else shown.turns[max(0, len(shown.turns) - max(keep, shown.required)) :]
    fields: dict[str, Any] = {"board": "", "blocks": "", **shown.fields, "turns": turns}
    if "first" in fields:
        fields["first"] = int(fields["first"]) + len(shown.turns) - len(turns)
    return {"role": "user", "content": _template(f"{spec.task}.user.txt").render(fields).strip()}


def gold_answer(item: Item, spec: PromptSpec) -> str:
    return spec.written.answer(to_frame(item.actions, item, spec.frame), _in_frame(item, spec))


def _in_frame(item: Item, spec: PromptSpec) -> Item:
    return turn_minecraft(item, -item.pose.quarter) if isinstance(item, MinecraftItem) and spec.frame == "builder" else item


def read_answer(text: str, item: Item, spec: PromptSpec) -> Parsed:
    """The actions, in the world's frame, that a model's answer asks for. Total: any text is an answer."""
    parsed = spec.written.read(text, _in_frame(item, spec))
    return parsed._replace(actions=from_frame(parsed.actions, item, spec.frame))


def conversation(
    item: Item, spec: PromptSpec, shots: Sequence[Item] = (), keep: int | None = None, answered: bool = False
) -> list[Message]:
    """System, then a question and its answer for each example, then the question (and, if `answered`, its answer)."""
    messages = [system_message(spec)]
    for shown in (*shots, item):
        messages.append(user_message(view_of(shown, spec), spec, keep))
        messages.append({"role": "assistant", "content": gold_answer(shown, spec)})
    return messages if answered else messages[:-1]
