"""Packs of rows: every token sees only the beginning of its own row, so losses and gradients equal those of single rows."""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.attention import BLOCK, attend
from adapters.labels import Pack, Packing, collate
from adapters.packing import PackPlan, PackShards, plan_packs
from prompts.rendered import TrainingRow

TOKENS = st.lists(st.integers(0, 2), max_size=8).map(tuple)
ROWS = st.lists(st.builds(TrainingRow, st.just("row"), TOKENS.filter(bool), TOKENS.filter(bool)), min_size=1, max_size=8).map(
    tuple
)
GROUPS = st.lists(ROWS, min_size=1, max_size=5)


def planned(groups: Sequence[Sequence[TrainingRow]], *how: Any) -> list[PackPlan]:
    """The packs of rows in memory; `how` as in `plan_packs`."""
    ends = accumulate(map(len, groups), initial=0)
    return list(plan_packs([*chain(*groups)], [range(*pair) for pair in pairwise(ends)], *how))


def seen_by(inputs: dict[str, Any]) -> torch.Tensor:
    """Which tokens (columns) each token of a tree (rows) sees."""
    place = torch.arange(len(inputs["ends"]))
    return (place[None, :] <= place[:, None]) & (place[:, None] < inputs["ends"][None, :])


def asked(pack: Pack) -> Counter[tuple[tuple[int, ...], int]]:
    """For each position that carries loss, the tokens that the model sees by mask and positions, and the token to predict."""
    inputs = collate(pack, Packing.TREE, pad=9, multiple=8)
    ids, mask, positions = inputs["input_ids"][0], seen_by(inputs), inputs["position_ids"][0]
    pairs: Counter[tuple[tuple[int, ...], int]] = Counter()
    for source, target in zip(pack.loss_mask, pack.labels, strict=True):
        seen = mask[source].nonzero().flatten()
        assert positions[seen].tolist() == list(range(len(seen))), "at the places of its own row"
        pairs[tuple(ids[seen].tolist()), target] += 1
    return pairs


def size(rows: Sequence[TrainingRow]) -> int:
    """The number of tokens of a tree of the rows."""
    return len({row.token_ids[:end] for row in rows for end in range(1, len(row) + 1)})


def filled(groups: Sequence[Sequence[TrainingRow]], most: int, longest: int, most_rows: int | None) -> list[list[TrainingRow]]:
    """The rows of each tree, whose size is counted from scratch for every row."""
    packs: list[list[TrainingRow]] = [[]]
    for group in groups:
        if packs[-1] and size(packs[-1]) + size(group) > most:
            packs.append([])
        for row in group:
            full = size([*packs[-1], row]) > (longest if size(group) > most else most)
            if packs[-1] and (full or len(packs[-1]) == most_rows):
                packs.append([])
            packs[-1].append(row)
    return packs


@given(GROUPS, st.integers(1, 60), st.integers(0, 60), st.sampled_from(Packing), st.none() | st.integers(1, 5))
def test_packs_train_on_the_same_predictions_as_single_rows(
    groups: list[tuple[TrainingRow, ...]], most: int, more: int, packing: Packing, most_rows: int | None
) -> None:
    plans = planned(groups, most, most + more, packing, most_rows)
    packs = [plan.write() for plan in plans]
    rows = [*chain(*groups)]
    held = [[rows[number] for number in plan.numbers] for plan in plans]
    assert [*chain(*held)] == rows
    for plan, pack, own in zip(plans, packs, held, strict=True):
        assert plan.tokens == len(pack.input_ids) == (size(own) if packing is Packing.TREE else sum(map(len, own)))
        assert plan.labels == len(pack.labels)
        assert pack.labels.tolist() == [*chain(*(row.completion_ids for row in own))]
        wanted = Counter((row.prompt_ids + row.completion_ids[:n], t) for row in own for n, t in enumerate(row.completion_ids))
        assert asked(pack) == wanted
    if packing is Packing.TREE:
        assert held == filled(groups, most, most + more, most_rows)
    assert all(len(pack.input_ids) <= max(most + more, *map(len, rows)) for pack in packs)
    assert len(packs) == len(rows) if packing is Packing.SINGLE or most_rows == 1 else len(packs) <= len(rows)


@given(st.sampled_from([1, 5, BLOCK, BLOCK + 1, 2 * BLOCK + 3]), st.sampled_from([(1, 1), (2, 3)]), st.integers(0, 9))
@settings(max_examples=12)
def test_attention_by_blocks_is_torchs_own(length: int, heads: tuple[int, int], seed: int) -> None:
    torch.manual_seed(seed)
    groups, each = heads
    q, k, v = (torch.randn(n, length, 8, dtype=torch.float64, requires_grad=True) for n in (groups * each, groups, groups))
    mask = (torch.rand(length, length) < 0.5).tril() | torch.eye(length, dtype=torch.bool)
    grad = torch.randn(groups * each, length, 8, dtype=torch.float64)
    plain = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=mask, enable_gqa=True)[0]
    blocks = attend(None, q[None], k[None], v[None], mask[None, None])[0][0].transpose(0, 1)
    torch.testing.assert_close(blocks, plain, rtol=1e-4, atol=1e-5)
    for one, other in zip(*(torch.autograd.grad(out, (q, k, v), grad) for out in (blocks, plain)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(1, 5), st.integers(1, 4))
def test_processes_share_each_step_and_their_filler_carries_no_loss(lengths: list[int], step: int, processes: int) -> None:
    lengths = lengths[: len(lengths) // step * step]
    rows = [TrainingRow(str(number), (number,) * length, (number,)) for number, length in enumerate(lengths)]
    packs = planned([[row] for row in rows], 1, 1)
    deal = [plan.write() for plan in PackShards(packs, step, processes)]
    whole = -(-step // processes) * processes
    assert len(deal) == len(packs) // step * whole
    for number in range(len(packs) // step):
        shared = [int(pack.labels[0]) for pack in deal[number * whole : (number + 1) * whole] if len(pack.labels)]
        assert sorted(shared) == list(range(number * step, (number + 1) * step))
    if blank := next((pack for pack in deal if not len(pack.labels)), None):
        inputs = collate(blank, Packing.TREE, pad=9, multiple=8)
        assert (inputs["labels"].shape, inputs["loss_mask"].dtype) == ((0,), torch.long)
