"""Reads what a simulated Architect says in a live game, corrections included, as a builder who only knows English would.

With the words and the geometry of `blocks_reader`: it sees the messages, the blocks, the pose and what was done, and refuses
what has no meaning or more than one.
"""

from __future__ import annotations

import re

from harness.corpora.item import Executed, MinecraftItem
from harness.worlds.minecraft import Action
from tests.helpers.blocks_reader import WORDS, read_order
from tests.helpers.relations_reader import (
    COLOR,
    NUMBER,
    NUMBERS,
    Blocks,
    Cell,
    Token,
    Unclear,
    blocks_of,
    color_in,
    from_you,
    just_placed,
    meant,
    moved,
    offset,
    order_of,
    tokens,
)

_WORDS = (
    ("middle", r"(?:of |above |below )?the (?:middle|center) of the (?:grid|board)"),
    ("in the middle", r"in the (?:middle|center) of the (?:grid|board)(?=, on)"),
    ("level", rf"on level ({NUMBER}), counted from the ground"),
    *WORDS,
)
_NO = r"(?:(?:no|nope|not quite|almost), )?"
_AGAIN = (
    r"(?:once more|let me say it again|nothing happened, so again|you did not do anything|i meant this|now again"
    r"|something is still missing|that is not all|you are not done yet): |(?:almost|not yet|not quite), "
)
_SHIFTS: dict[str, Cell] = {
    r"further left|(?:spaces?|cells?) to the left": (1, 0, 0),
    r"further right|(?:spaces?|cells?) to the right": (-1, 0, 0),
    r"higher|further up|(?:spaces?|levels?) up": (0, 1, 0),
    r"lower|further down|(?:spaces?|levels?) down": (0, -1, 0),
    r"closer to you|(?:spaces?|cells?) towards you": (0, 0, -1),
    r"farther from you|(?:spaces?|cells?) away from you": (0, 0, 1),
}


def wanted(item: MinecraftItem) -> Blocks:
    """What stands when the message is carried out literally. Raises Unclear if a builder would have to ask or guess."""
    text, _, answer = order_of(item)
    text, now = text.rstrip("."), blocks_of(item)
    if re.fullmatch(rf"{_NO}(?:.*\b)?undo (?:that|it|what you just did|your last step)", text) or "put everything back" in text:
        return _before(item)
    move = re.fullmatch(rf"(?:{_NO}|wrong place, )(?:it|they|move it|move them) ?(?:should be|belongs?)? ?(\S+ .*)", text)
    if move and (way := _shift(move[1])) is not None:
        return _moved_by(item, way)
    last = rf"{_NO}the color is wrong: ({COLOR}) please|{_NO}make (?:it|them) ({COLOR})"
    if match := re.fullmatch(
        rf"{last}|(?:{_NO}|wrong color, )(?:it|they) should (?:all )?be ({COLOR})(?:, not (?:{COLOR}))?", text
    ):
        color = next(group for group in match.groups() if group)
        return now | dict.fromkeys(_placed(item), color)
    for pattern in (
        r"(.+) should be (COLOR)",
        r"the color of (.+) is wrong: (COLOR) please",
        r"make (.+) (COLOR)",
        r"replace (.+) with an? (COLOR) one",
    ):
        if match := re.fullmatch(_NO + pattern.replace("COLOR", COLOR), text):
            return now | {_block(item, match[1]): match[2]}
    for pattern in (r"(?:there is one too many: )?remove (.+)", r"take (.+) away", r"(.+) should not be there, take it away"):
        if match := re.fullmatch(_NO + pattern, text):
            return {cell: color for cell, color in now.items() if cell != _block(item, match[1])}
    return _ordered(item, re.sub(rf"^(?:{_AGAIN})", "", text), answer)


def _ordered(item: MinecraftItem, text: str, answer: str) -> Blocks:
    """An order for blocks: from the builder on, from the middle of the grid, or by a block."""
    now, found = blocks_of(item), tokens(text, _WORDS)
    kinds = {token.kind for token in found}
    targets = [token for token in found if token.kind == "target"]
    if "you" in kinds or kinds & {"middle", "in the middle"}:
        if len(targets) != 1 or kinds & {"block", "last", "only"}:
            raise Unclear(f"not said from one place alone: {text!r}")
        here = [token for token in found if token.kind == "you"]
        cell = from_you(here, found, item) if here else _from_middle(item, found)
        return now | {cell: targets[0].words[0] or color_in(answer)}
    placed = read_order(item, text, answer).actions
    return now | {action.cell: action.color for action in placed if action.color}


def _from_middle(item: MinecraftItem, found: list[Token]) -> Cell:
    level = next((_number(token.words[0]) for token in found if token.kind == "level"), 1)
    told = [token for token in found if token.kind in ("number", "direction")]
    x, _, z = moved((0, 1, 0), item.pose, *offset(told)) if told else (0, 1, 0)
    return x, level, z


def _block(item: MinecraftItem, words: str) -> Cell:
    """The block that the words pick out: of its own, or by its place from another one or from the middle."""
    found = tokens(words, _WORDS)
    its = [token for token in found if token.kind in ("block", "last", "only")]
    if len(found) == len(its) == 1:
        return meant(its[0], item)
    told = [token for token in found if token.kind in ("number", "direction")]
    if len(its) == 2 and found[0] is its[0]:
        cell = moved(meant(its[1], item), item.pose, *offset(told))
    elif len(its) == 1 and any(token.kind.endswith("middle") for token in found):
        cell = _from_middle(item, found)
    else:
        raise Unclear(f"not one block: {words!r}")
    if blocks_of(item).get(cell) != its[0].words[1]:
        raise Unclear(f"there is no such block: {words!r}")
    return cell


def _placed(item: MinecraftItem) -> tuple[Cell, ...]:
    if not (cells := just_placed(item)):
        raise Unclear("nothing was placed just now")
    return cells


def _moved_by(item: MinecraftItem, way: Cell) -> Blocks:
    """The blocks that were placed just now, moved."""
    now = blocks_of(item)
    cells = _placed(item)
    return {cell: color for cell, color in now.items() if cell not in cells} | {
        moved(cell, item.pose, *way): now[cell] for cell in cells
    }


def _shift(words: str) -> Cell | None:
    """(left, up, away) of "one further left and 2 higher"; None for other words."""
    total = [0, 0, 0]
    for part in re.split(r", | and ", words):
        match = re.fullmatch(rf"({NUMBER}) (.+)", part)
        step = next((step for pattern, step in _SHIFTS.items() if match and re.fullmatch(pattern, match[2])), None)
        if match is None or step is None:
            return None
        total = [a + b * _number(match[1]) for a, b in zip(total, step, strict=True)]
    return total[0], total[1], total[2]


def _number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS[word]


def _before(item: MinecraftItem) -> Blocks:
    """What stood before the last actions."""
    runs = [turn for turn in item.history if isinstance(turn, Executed)]
    blocks: Blocks = {}
    for run in runs[:-1]:
        for action in run.actions:
            assert isinstance(action, Action)
            if action.kind == "remove":
                del blocks[action.cell]
            elif action.color:
                blocks[action.cell] = action.color
    return blocks
