"""Small drawing procedures: each paints a different column, one tile a step."""

from harness.corpora.item import Executed, HexagonsItem, Turn, Utterance
from harness.worlds.hexagons import Board, Paint


def procedure(index: int, steps: int) -> list[HexagonsItem]:
    """A drawing procedure that paints the column with number `index`, one tile a step."""
    items: list[HexagonsItem] = []
    board = Board()
    history: tuple[Turn, ...] = ()
    for n in range(1, steps + 1):
        actions = (Paint(n, index, "red"),)
        after = board.apply(actions).board
        item = HexagonsItem(
            f"hexagons/dev/{index}/{n}", "dev", f"tile {n}", history, board, actions, after, str(index), str(index)
        )
        items.append(item)
        board, history = after, (*history, Utterance("Instructor", f"tile {n}"), Executed(actions))
    return items


ITEMS = procedure(0, 3) + procedure(1, 2) + procedure(2, 4)
