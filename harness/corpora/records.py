"""Items as JSON: what `harness data items` prints."""

from __future__ import annotations

from typing import Any

from harness.corpora.item import Item, MinecraftItem, Utterance


def to_record(item: Item) -> dict[str, Any]:
    """The item as values for `json.dumps`. Boards are 180 digits, structures sorted lists of `[x, y, z, color]`."""
    if isinstance(item, MinecraftItem):
        return {
            "id": item.id,
            "history": [turn._asdict() for turn in item.history],
            "before": item.before.blocks(),
            "pose": item.pose._asdict(),
            "actions": item.actions,
            "after": item.after.blocks(),
        }
    return {
        "id": item.id,
        "history": [turn.text for turn in item.history if isinstance(turn, Utterance)],
        "instruction": item.instruction,
        "before": item.before.digits(),
        "actions": item.actions,
        "after": item.after.digits(),
    }
