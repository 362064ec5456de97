"""Training rows that begin alike, packed into one sequence that holds their shared tokens once.

The rows of a drawing procedure or a game repeat its instructions: row by row, an epoch is up to ten times as
many tokens. Here rows form a tree of tokens, written out depth first. Every token attends to the tokens between the root and
itself, at the position that it has in its own row, so the loss and its gradient are those of the rows one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from prompts.rendered import TrainingRow


class Packing(Enum):
    """How the rows of a pack are computed; `adapters.layout` says which way is exact for a model."""

    TREE = "in one sequence, in which rows that begin alike share their beginning"
    BATCH = "as a batch"
    SINGLE = "one at a time"


@dataclass(frozen=True, slots=True)
class Pack:
    """A sequence of n tokens that holds some rows.

    `positions[i]` is the place of token i in its rows, and tokens i to `ends[i]` - 1 are itself and what follows it in some row:
    only those attend to it. `sources` and `labels` are the loss mask and its labels: at token `sources[k]` the model should
    predict the token `labels[k]`, once for every row that has this pair. Where rows share nothing, each begins at position 0.
    """

    input_ids: list[int]
    positions: list[int]
    ends: list[int]
    sources: list[int]
    labels: list[int]


@dataclass(slots=True)
class _Branch:
    """Tokens that follow each other, and the branches after the last one, by their first tokens in the order of the rows."""

    tokens: tuple[int, ...]
    after: dict[int, _Branch] = field(default_factory=dict)
    start: int = 0
    """The place of the first token, once the tree is written out."""

    def split(self, at: int) -> None:
        """The branch ends after `at` tokens, and the others become a branch after it."""
        rest = _Branch(self.tokens[at:], self.after)
        self.tokens, self.after = self.tokens[:at], {rest.tokens[0]: rest}


@dataclass(slots=True)
class _Tree:
    """Rows as branches of tokens. Unless rows `share` beginnings, each is a branch of its own."""

    share: bool
    root: _Branch = field(default_factory=lambda: _Branch(()))
    rows: list[TrainingRow] = field(default_factory=list)
    size: int = 0
    """The number of tokens."""

    def depth(self, row: TrainingRow) -> int:
        """How many leading tokens of the row the tree already holds."""
        return sum(count for _, count in self._path(row)) if self.share else 0

    def _path(self, row: TrainingRow) -> Iterator[tuple[_Branch, int]]:
        """The branches that the row begins with, and how many of their tokens it shares."""
        ids, branch, depth = row.token_ids, self.root, 0
        while depth < len(ids) and (below := branch.after.get(ids[depth])):
            count = _alike(below.tokens, ids[depth : depth + len(below.tokens)])
            yield below, count
            if count < len(below.tokens):
                return
            branch, depth = below, depth + count

    def add(self, row: TrainingRow) -> None:
        path = [*self._path(row)] if self.share else []
        rest = row.token_ids[sum(count for _, count in path) :]
        branch, count = path[-1] if path else (self.root, 0)
        if rest:
            if count < len(branch.tokens):
                branch.split(count)
            branch.after[rest[0] if self.share else -1 - len(self.rows)] = _Branch(rest)
        self.rows.append(row)
        self.size += len(rest)

    def pack(self) -> Pack:
        """The tree depth first, so that everything that follows a token in any row comes right after it."""
        pack = Pack([], [], [0] * self.size, [], [])
        stack = [(branch, 0) for branch in reversed(self.root.after.values())]
        while stack:
            branch, depth = stack.pop()
            count = len(branch.tokens)
            if depth < 0:
                pack.ends[branch.start : branch.start + count] = [len(pack.input_ids)] * count
                continue
            branch.start = len(pack.input_ids)
            pack.input_ids.extend(branch.tokens)
            pack.positions.extend(range(depth, depth + count))
            stack.append((branch, -1))
            stack.extend((below, depth + count) for below in reversed(branch.after.values()))
        own = list(self.root.after.values())
        for number, row in enumerate(self.rows):
            parts = self._path(row) if self.share else [(own[number], len(row))]
            places = [place for branch, count in parts for place in range(branch.start, branch.start + count)]
            pack.sources.extend(places[len(row.prompt_ids) - 1 : -1])
            pack.labels.extend(row.completion_ids)
        return pack


def _alike(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many leading tokens are the same."""
    if one == other:
        return len(one)
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def pack_rows(
    groups: Iterable[Sequence[TrainingRow]], most: int, longest: int, packing: Packing = Packing.TREE, rows: int | None = None
) -> Iterator[Pack]:
    """The rows in their order as packs of at most `most` tokens, and of at most `rows` rows unless that is None.

    Rows of a group begin alike, so a group is not split in a tree of at most `longest` tokens; the same goes for one long row.
    """
    share = packing is Packing.TREE
    tree, held = _Tree(share), 0
    for group in groups:
        size = _tree(group).size if share else 0
        if tree.size and tree.size + size > most:
            yield tree.pack()
            tree, held = _Tree(share), 0
        limit = longest if size > most else most
        for row in group:
            full = packing is Packing.SINGLE or held == rows or tree.size + len(row) - tree.depth(row) > limit
            if tree.size and full:
                yield tree.pack()
                tree, held = _Tree(share), 0
            tree.add(row)
            held += 1
    if tree.size:
        yield tree.pack()


def pack_of(rows: Sequence[TrainingRow]) -> Pack:
    """One pack of all the rows; its labels are row by row, in the order of the answers' tokens."""
    return _tree(rows).pack()


def _tree(rows: Sequence[TrainingRow]) -> _Tree:
    tree = _Tree(share=True)
    for row in rows:
        tree.add(row)
    return tree


def shard_packs(packs: Sequence[Pack], step: int, processes: int) -> list[Pack]:
    """Shard the packs over the processes, which take one each in turn. A step has `step` packs.

    Within a step the order of packs means nothing, so each round takes packs of similar length: processes wait for the slowest.
    Where the last round has too few, it is filled up with packs without labels.
    """
    if processes == 1:
        return list(packs)
    shards: list[Pack] = []
    for start in range(0, len(packs), step):
        whole = sorted(packs[start : start + step], key=lambda pack: len(pack.input_ids), reverse=True)
        blank = Pack(whole[-1].input_ids[:1], [0], [1], [], [])
        whole += [blank] * (-len(whole) % processes)
        for turn, first in enumerate(range(0, len(whole), processes)):
            # Every other round goes backwards, so that no process has the longest pack of all rounds.
            shards += whole[first : first + processes][:: -1 if turn % 2 else 1]
    return shards


def collate(packs: Sequence[Pack], packing: Packing, *, pad: int, multiple: int = 128) -> dict[str, Any]:
    """What `adapters.layout.logits_of` computes logits of, for one pack: `sources` and `labels` (m,), and of a tree `input_ids`,
    `position_ids` (1, n) and `ends` (n,), of other rows `input_ids` and `attention_mask` (rows, n), padded on the right; their
    `sources` count through all rows.

    n is a multiple of `multiple`, so that the allocator sees few sizes; padding is seen by itself only.
    """
    import torch

    (pack,) = packs
    starts = [place for place, position in enumerate(pack.positions) if not position] if packing is not Packing.TREE else [0]
    lengths = [end - start for start, end in zip(starts, [*starts[1:], len(pack.input_ids)], strict=True)]
    width = -(-max(lengths) // multiple) * multiple
    ids = torch.full((len(starts), width), pad)
    mask = torch.zeros(ids.shape, dtype=torch.long)
    for row, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        ids[row, :length] = torch.tensor(pack.input_ids[start : start + length])
        mask[row, :length] = 1
    labels = torch.tensor(pack.labels, dtype=torch.long)
    sources = torch.tensor(pack.sources, dtype=torch.long)
    if packing is not Packing.TREE:
        row = torch.bucketize(sources, torch.tensor(starts), right=True) - 1
        sources += row * width - torch.tensor(starts)[row]
        return {"input_ids": ids, "attention_mask": mask, "sources": sources, "labels": labels}
    positions = torch.zeros_like(ids)
    positions[0, : lengths[0]] = torch.tensor(pack.positions)
    ends = torch.arange(width) + 1
    ends[: lengths[0]] = torch.tensor(pack.ends)
    return {"input_ids": ids, "position_ids": positions, "ends": ends, "sources": sources, "labels": labels}
