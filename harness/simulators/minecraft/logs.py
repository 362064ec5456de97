"""A simulated game as a log of the Minecraft Dialogue Corpus, which `harness.corpora.minecraft` reads back to the same items.

There is a world state for each line said and for each action; the builder stands where the next order finds it. The folder
holds what Builder Action Prediction needs: one postprocessed-observations.json a game, and splits.json. Of a state's keys,
the inventory and the screenshot are null, and a block's PerspectiveCoordinates are, as in the corpus's augmented files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from harness.corpora.item import Executed, MinecraftItem, Utterance
from harness.worlds.minecraft import Action, Pose

LOG = "postprocessed-observations.json"
_START = datetime(2000, 1, 1)
_GAMES_A_DAY = 1_000


def target_name(item: MinecraftItem) -> str:
    """The target as the corpus names targets, C and a number; the number is the item's `group`, a digest, in decimal."""
    return f"C{int(item.group, 16)}"


def log_name(item: MinecraftItem) -> str:
    """Where below data/logs the log of the item's game goes. The names of all games sort bytewise as their numbers do."""
    n = int(item.cluster.rpartition("/")[2])
    return f"data-1-{n // _GAMES_A_DAY:06}/logs/B{n:09}-A1-{target_name(item)}-{10**12 + n}/{LOG}"


def log(items: Sequence[MinecraftItem]) -> bytes:
    """The log of a game, given all of its items in order; it starts from an empty region."""
    states = [
        {
            "Timestamp": str(_START + timedelta(seconds=second)),
            "ChatHistory": chat,
            "BlocksInGrid": blocks,
            "BuilderPosition": dict(zip(("X", "Y", "Z", "Yaw", "Pitch"), pose, strict=True)),
            "BuilderInventory": None,
            "ScreenshotPath": None,
        }
        for second, (chat, blocks, pose) in enumerate(_states(items))
    ]
    return json.dumps({"WorldStates": states, "NumFixedViewers": 0, "TimeElapsed": float(len(states))}).encode()


def _states(items: Sequence[MinecraftItem]) -> Iterator[tuple[list[str], list[dict[str, Any]], Pose]]:
    """Chat so far, blocks and pose of each world state."""
    chat: list[str] = []
    blocks: dict[tuple[int, int, int], dict[str, Any]] = {}
    yield chat, [], items[0].pose
    shown = 0
    for item in items:
        for turn in (*item.history[shown:], Executed(item.actions, item.pose)):
            if isinstance(turn, Utterance):
                chat = [*chat, f"<{turn.speaker}> {turn.text}"]
                yield chat, list(blocks.values()), item.pose
                continue
            for action in turn.actions:
                assert isinstance(action, Action)
                if action.kind == "place":
                    blocks[action.cell] = _block(action)
                else:
                    del blocks[action.cell]
                yield chat, list(blocks.values()), item.pose
        shown = len(item.history) + 1


def _block(placed: Action) -> dict[str, Any]:
    at = {"X": placed.x, "Y": placed.y, "Z": placed.z}
    return {"AbsoluteCoordinates": at, "PerspectiveCoordinates": None, "Type": f"cwc_minecraft_{placed.color}_rn"}
