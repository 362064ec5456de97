"""Training rows that begin alike, packed into one sequence that holds their shared tokens once.

The rows of a drawing procedure or a game repeat its instructions: row by row, an epoch is up to ten times as
many tokens. Here rows form a tree of tokens, written out depth first. Every token attends to the tokens between the root and
itself, at the position that it has in its own row, so the loss and its gradient are those of the rows one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from prompts.rendered import TrainingRow


@dataclass(frozen=True, slots=True)
class Pack:
    """A sequence of n tokens that holds some rows.

    `positions[i]` is the place of token i in its rows, and tokens i to `ends[i]` - 1 are itself and what follows it in some row:
    only those attend to it. `sources` and `targets` are the pairs that carry loss: at token `sources[k]` the model should
    predict the token `targets[k]`, once for every row that has this pair.
    """

    input_ids: list[int]
    positions: list[int]
    ends: list[int]
    sources: list[int]
    targets: list[int]


@dataclass(slots=True)
class _Tree:
    """Tokens by index; index 0 is the root, which is not a token."""

    tokens: list[int] = field(default_factory=lambda: [-1])
    children: list[dict[int, int]] = field(default_factory=lambda: [{}])
    asked: list[tuple[int, int]] = field(default_factory=list)
    """The pairs that carry loss: an index, and the token to predict there."""

    @property
    def size(self) -> int:
        return len(self.tokens) - 1

    def depth(self, row: TrainingRow) -> int:
        """How many leading tokens of the row the tree already holds."""
        node = 0
        for depth, token in enumerate(row.token_ids):
            if token not in self.children[node]:
                return depth
            node = self.children[node][token]
        return len(row)

    def add(self, row: TrainingRow) -> None:
        node = 0
        answer = len(row.prompt_ids)
        for depth, token in enumerate(row.token_ids):
            if depth >= answer:
                self.asked.append((node, token))
            below = self.children[node].get(token)
            if below is None:
                below = len(self.tokens)
                self.tokens.append(token)
                self.children.append({})
                self.children[node][token] = below
            node = below

    def pack(self) -> Pack:
        """The tree depth first, so that everything that follows a token in any row comes right after it."""
        place: dict[int, int] = {}
        order: list[int] = []
        positions: list[int] = []
        ends: list[int] = []
        stack = [(child, 0) for child in reversed(self.children[0].values())]
        while stack:
            node, depth = stack.pop()
            if depth < 0:
                ends[place[node]] = len(order)
                continue
            place[node] = len(order)
            order.append(node)
            positions.append(depth)
            ends.append(0)
            stack.append((node, -1))
            stack.extend((child, depth + 1) for child in reversed(self.children[node].values()))
        asked = [(place[node], token) for node, token in self.asked]
        return Pack(
            [self.tokens[node] for node in order],
            positions,
            ends,
            [source for source, _ in asked],
            [token for _, token in asked],
        )


def pack_rows(groups: Iterable[Sequence[TrainingRow]], most: int, longest: int, *, share: bool = True) -> Iterator[Pack]:
    """The rows in their order as packs of at most `most` tokens.

    Rows of a group begin alike, so a group is not split if its own pack has at most `longest` tokens;
    the same goes for one long row. With `share` off, every pack holds one row: for models whose attention is not plain.
    """
    tree = _Tree()
    for group in groups:
        size = _tree(group).size
        if tree.size and tree.size + size > most:
            yield tree.pack()
            tree = _Tree()
        limit = longest if size > most else most
        for row in group:
            if tree.size and (not share or tree.size + len(row) - tree.depth(row) > limit):
                yield tree.pack()
                tree = _Tree()
            tree.add(row)
    if tree.size:
        yield tree.pack()


def pack_of(rows: Sequence[TrainingRow]) -> Pack:
    """One pack of all the rows; its pairs that carry loss are row by row, in the order of the answers' tokens."""
    return _tree(rows).pack()


def _tree(rows: Sequence[TrainingRow]) -> _Tree:
    tree = _Tree()
    for row in rows:
        tree.add(row)
    return tree


def dealt(packs: Sequence[Pack], step: int, processes: int) -> list[Pack]:
    """The packs as they are dealt to so many processes, to each one in turn; `step` packs make a step.

    Within a step the order of packs means nothing, so each round deals packs of similar length: processes wait for the slowest.
    Where the last round has too few, it is filled up with packs that carry no loss.
    """
    if processes == 1:
        return list(packs)
    deal: list[Pack] = []
    for start in range(0, len(packs), step):
        whole = sorted(packs[start : start + step], key=lambda pack: len(pack.input_ids), reverse=True)
        blank = Pack(whole[-1].input_ids[:1], [0], [1], [], [])
        whole += [blank] * (-len(whole) % processes)
        for turn, first in enumerate(range(0, len(whole), processes)):
            # Every other round goes backwards, so that no process has the longest pack of all rounds.
            deal += whole[first : first + processes][:: -1 if turn % 2 else 1]
    return deal


def collate(packs: Sequence[Pack], *, pad: int, multiple: int = 128) -> dict[str, Any]:
    """What the model is called with, for one pack: `input_ids` and `position_ids` (1, n), `attention_mask` (1, 1, n, n), true
    where a token is attended to, `sources` and `labels` (m,).

    n is a multiple of `multiple`, so that the allocator sees few sizes; padding attends to itself only.
    """
    import torch

    (pack,) = packs
    length = len(pack.input_ids)
    width = -(-length // multiple) * multiple
    ids = torch.full((1, width), pad)
    ids[0, :length] = torch.tensor(pack.input_ids)
    positions = torch.zeros((1, width), dtype=torch.long)
    positions[0, :length] = torch.tensor(pack.positions)
    place = torch.arange(width)
    ends = place + 1
    ends[:length] = torch.tensor(pack.ends)
    attends = (place[None, :] <= place[:, None]) & (place[:, None] < ends[None, :])
    return {
        "input_ids": ids,
        "position_ids": positions,
        "attention_mask": attends[None, None],
        "sources": torch.tensor(pack.sources, dtype=torch.long),
        "labels": torch.tensor(pack.targets, dtype=torch.long),
    }
