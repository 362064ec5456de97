"""Items with permuted colors: a simple augmentation that keeps instruction, states and actions consistent."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np

from harness.corpora.item import HexagonsItem, Item, Turn, Utterance
from harness.tasks.registry import world_of
from harness.worlds import hexagons, minecraft

#: The colors that may be permuted. White is the color of a blank board and stays.
COLORS = {"hexagons": hexagons.COLORS[1:], "minecraft": minecraft.COLORS}


def random_colors(task: str, random: Random) -> dict[str, str]:
    """A random permutation of the colors of a task, as a mapping from each color to its new one."""
    colors = list(COLORS[world_of(task)])
    random.shuffle(colors)
    return dict(zip(COLORS[world_of(task)], colors, strict=True))


def permute_colors(item: Item, colors: Mapping[str, str]) -> Item:
    """The item with each color replaced by `colors[color]` in its states, actions, history, instruction, program and thought.

    In text, only whole words that are exactly a color of the task, in lower case, capitalized or in capitals, are replaced, so
    the inverse permutation restores the item. `colors` permutes `COLORS` of the item's world.
    """
    history = tuple(_turn(turn, colors) for turn in item.history)
    changes: dict[str, Any] = {"history": history, "actions": _actions(item.actions, colors)}
    changes |= {"before": _recolored(item.before, colors), "after": _recolored(item.after, colors)}
    if isinstance(item, HexagonsItem):
        changes["instruction"] = recolor_text(item.instruction, colors)
    texts = {key: str(item.meta[key]) for key in ("program", "thought") if item.meta.get(key)}
    changes["meta"] = {**item.meta, **{key: recolor_text(text, colors) for key, text in texts.items()}}
    return replace(item, **changes)


def recolor_text(text: str, colors: Mapping[str, str]) -> str:
    words = {style(old): style(new) for old, new in colors.items() for style in _STYLES}
    return _pattern(tuple(sorted(colors))).sub(lambda match: words[match[0]], text)


_STYLES: tuple[Callable[[str], str], ...] = (str.lower, str.capitalize, str.upper)


@lru_cache
def _pattern(colors: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(style(color) for color in colors for style in _STYLES)})\b")


def _actions(actions: tuple[Any, ...], colors: Mapping[str, str]) -> tuple[Any, ...]:
    return tuple(action._replace(color=colors.get(action.color, action.color)) for action in actions)


def _turn(turn: Turn, colors: Mapping[str, str]) -> Turn:
    if isinstance(turn, Utterance):
        return turn._replace(text=recolor_text(turn.text, colors))
    return turn._replace(actions=_actions(turn.actions, colors), text=recolor_text(turn.text, colors))


def _recolored(state: hexagons.Board | minecraft.Structure, colors: Mapping[str, str]) -> hexagons.Board | minecraft.Structure:
    # Code 0 is white, or no block.
    world = hexagons if isinstance(state, hexagons.Board) else minecraft
    codes = [0, *(world.CODES[colors[color]] for color in world.COLORS if color in colors)]
    return type(state)(np.array(codes, np.uint8)[state.cells])
