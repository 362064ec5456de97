"""Training rows that begin alike, packed into one sequence that holds their shared tokens once; a training's packs, in order.

The rows of a drawing procedure or a game repeat its instructions: row by row, an epoch has up to ten times as
many tokens. Here rows form a tree of tokens, written out depth first. Every token attends to the tokens between the root and
itself, at the position that it has in its own row, so the loss and its gradient equal those of separate rows.
"""

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from random import Random
from typing import Any, NamedTuple

import numpy as np

from adapters.labels import Ints, Pack, Packing, mask_and_labels
from adapters.recipe import FinetuneTraining
from adapters.rows import TrainingRows
from prompts.rendered import TrainingRow


class PackPlan(NamedTuple):
    """The rows of a pack, which is written when it is needed, and its numbers of tokens and labels."""

    rows: Sequence[TrainingRow]
    share: bool
    numbers: Ints
    tokens: int
    labels: int

    def write(self) -> Pack:
        """The pack. Its labels are row by row, in the order of the answers' tokens."""
        return _Tree(self.rows, self.share, self.numbers.tolist()).write()


class _Branch(NamedTuple):
    """A row in a tree: it shares its first `depth` tokens and adds the others."""

    number: int
    tokens: Ints
    prompt_length: int
    depth: int
    parent: int
    """The index of the branch that adds the last shared token; -1 for none."""

    @property
    def size(self) -> int:
        return len(self.tokens) - self.depth


class _Tree:
    """Rows as branches. Without `share`, every row starts at the root."""

    def __init__(self, rows: Sequence[TrainingRow], share: bool, numbers: Iterable[int] = ()) -> None:
        self.rows, self.share, self.size = rows, share, 0
        self.branches: list[_Branch] = []
        self._sorted: list[tuple[bytes, int]] = []
        """The tokens and places of the branches in order, so that the rows that begin most alike are neighbors."""
        for number in numbers:
            self.add(number)

    def add(self, number: int) -> None:
        row, depth, parent = self.rows[number], 0, -1
        tokens = np.array(row.token_ids, np.int32)
        if self.share:
            entry = tokens.astype(">i4").tobytes(), len(self.branches)
            at = bisect(self._sorted, entry)
            for _, near in self._sorted[max(0, at - 1) : at + 1]:
                depth, parent = max((depth, parent), (_alike(self.branches[near].tokens, tokens), near))
            self._sorted.insert(at, entry)
        while parent >= 0 and self.branches[parent].depth >= depth:
            parent = self.branches[parent].parent
        self.branches.append(_Branch(number, tokens, len(row.prompt_ids), depth, parent))
        self.size += self.branches[-1].size

    def plan(self, count: int | None = None) -> PackPlan:
        """A pack of the first `count` rows, or of all."""
        own = self.branches[:count]
        labels = sum(len(branch.tokens) - branch.prompt_length for branch in own)
        numbers = np.array([branch.number for branch in own], np.int32)
        return PackPlan(self.rows, self.share, numbers, sum(branch.size for branch in own), labels)

    def write(self) -> Pack:
        """The tree depth first, so that everything that follows a token in any row comes right after it."""
        # A branch is written to its end; then come the branches that leave it, the latest first, equals in the order of the rows.
        paths: dict[int, tuple[tuple[int, int], ...]] = {-1: ()}
        for place, branch in enumerate(self.branches):
            paths[place] = (*paths[branch.parent], (-branch.depth, place))
        order = sorted(range(len(self.branches)), key=paths.__getitem__)
        starts = dict(zip(order, accumulate((self.branches[place].size for place in order), initial=0), strict=False))
        input_ids, positions, ends = np.zeros((3, self.size), np.int32)
        rows: dict[int, Ints] = {-1: np.zeros(0, np.int32)}
        """The indices of each row's tokens in the pack."""
        for place, (_, tokens, _, depth, parent) in enumerate(self.branches):
            own = np.arange(starts[place], starts[place] + len(tokens) - depth, dtype=np.int32)
            row = rows[place] = np.concatenate([rows[parent][:depth], own])
            input_ids[row], positions[row] = tokens, np.arange(len(row))
            ends[row] = np.maximum(ends[row], row[-1] + 1)
        scored = [mask_and_labels(rows[place], branch.tokens, branch.prompt_length) for place, branch in enumerate(self.branches)]
        masks, labels = zip(*scored, strict=True)
        return Pack(input_ids, positions, ends, np.concatenate(masks), np.concatenate(labels))


def _alike(one: Ints, other: Ints) -> int:
    """How many leading tokens are the same."""
    length = min(len(one), len(other))
    differ = one[:length] != other[:length]
    first = int(differ.argmax())
    return first if differ[first] else length


def plan_packs(
    rows: Sequence[TrainingRow],
    groups: Iterable[Sequence[int]],
    most: int,
    longest: int,
    packing: Packing = Packing.TREE,
    most_rows: int | None = None,
) -> Iterator[PackPlan]:
    """The rows of the groups, in their order, as packs of at most `most` tokens, and of at most `most_rows` rows unless that is
    None.

    Rows of a group begin alike, so a tree keeps a group of more than `most` tokens whole up to `longest`; a row is never split.
    """
    most_rows = 1 if packing is Packing.SINGLE else most_rows
    tree_of = partial(_Tree, rows, packing is Packing.TREE)
    tree = tree_of()
    for group in groups:
        size = tree_of(group).size if tree.share else 0
        if tree.branches and tree.size + size > most:
            yield tree.plan()
            tree = tree_of()
        limit = longest if size > most else most
        for number in group:
            tree.add(number)
            before = len(tree.branches) - 1
            if before and (before == most_rows or tree.size > limit):
                yield tree.plan(before)
                tree = tree_of([number])
    if tree.branches:
        yield tree.plan()


def plan_epoch(
    rows: TrainingRows, epoch: int, training: FinetuneTraining, longest: int, packing: Packing = Packing.TREE
) -> list[PackPlan]:
    """The packs of all rows, with groups and then packs shuffled by the seed. `longest` and `packing` are as in `plan_packs`."""
    random = Random(f"{training.seed}/rows/{epoch}")
    groups = list(rows.groups)
    random.shuffle(groups)
    plans = list(plan_packs(rows, groups, training.tokens, longest, packing, training.per_device_train_batch_size))
    random.shuffle(plans)
    return plans


class Packs(Sequence[PackPlan]):
    """The packs of a training, in order: those of a curriculum's stages, then those of `training.epochs` of all rows, each epoch
    planned when one of its packs is read."""

    def __init__(
        self,
        rows: TrainingRows,
        stages: Iterable[Iterable[int]],
        training: FinetuneTraining,
        longest: int,
        packing: Packing,
        later: Callable[[int], TrainingRows],
    ) -> None:
        """`stages` holds the numbers of each stage's rows; `later` makes the rows of an epoch, by its number from 1. `longest`
        and `packing` are as in `plan_packs`."""
        most, most_rows = training.tokens, training.per_device_train_batch_size
        begun = [one for stage in stages for one in plan_packs(rows, ([n] for n in stage), most, longest, packing, most_rows)]
        first = plan_epoch(rows, 0, training, longest, packing)
        count = (training.max_steps or 0) * training.accumulation
        count = count or max(training.accumulation, len(begun) + round(training.epochs * len(first)))
        self._plans, self._count, self._epochs = begun + first, count - count % training.accumulation, 1
        self._later: Callable[[int], list[PackPlan]]
        self._later = lambda epoch: plan_epoch(later(epoch), epoch, training, longest, packing)
        self.staged = len(begun)
        """How many of them belong to the stages."""
        self.tokens = sum(plan.tokens for plan in first)
        """The number of tokens in the first epoch's packs."""

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[n] for n in range(self._count)[number]]
        place = range(self._count)[number]
        while place >= len(self._plans):
            self._plans += self._later(self._epochs)
            self._epochs += 1
        return self._plans[place]


class PackShards(Sequence[PackPlan]):
    """Packs in the order in which processes take them, one each in turn; a step has `step` packs.

    Within a step the order of packs does not matter, so each round takes packs of similar length: processes wait for the slowest.
    If the last round has too few packs, packs without labels fill it up.
    """

    def __init__(self, packs: Sequence[PackPlan], step: int, processes: int) -> None:
        self.packs, self.step, self.processes = packs, step, processes
        self._filled = -(-step // processes) * processes

    def __len__(self) -> int:
        return -(-len(self.packs) // self.step) * self._filled

    def __getitem__(self, number: Any) -> Any:
        step, place = divmod(range(len(self))[number], self._filled)
        packs = sorted(self.packs[step * self.step : (step + 1) * self.step], key=lambda pack: pack.tokens, reverse=True)
        turn, process = divmod(place, self.processes)
        # Every other round goes backwards, so that no process has the longest pack of all rounds.
        place += (self.processes - 1 - 2 * process) * (turn % 2)
        return packs[place] if place < len(packs) else _BLANK


_BLANK = _Tree([TrainingRow("", (0,), ())], True, [0]).plan()
