"""Packs of rows: every token sees its own row's beginning and nothing else, so losses and gradients are those of the rows."""

from __future__ import annotations

import unittest.mock
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.attention import _BLOCKS_OF, BLOCK, _Block, attend, register
from adapters.layout import logits_of
from adapters.packing import Pack, Packing, collate, pack_rows, shard_packs
from adapters.rows import make_rows
from harness.corpora import load
from prompts.render import Renderer
from prompts.rendered import TrainingRow
from prompts.shots import ShotPool
from prompts.spec import PromptSpec
from tests.helpers.tiny import build_tiny_model

TOKENS = st.lists(st.integers(0, 2), max_size=8).map(tuple)
ROWS = st.lists(st.builds(TrainingRow, st.just("row"), TOKENS.filter(bool), TOKENS.filter(bool)), min_size=1, max_size=8).map(
    tuple
)
GROUPS = st.lists(ROWS, min_size=1, max_size=5)


def seen_by(inputs: dict[str, Any]) -> torch.Tensor:
    """Which tokens (columns) each token of a tree (rows) sees."""
    place = torch.arange(len(inputs["ends"]))
    return (place[None, :] <= place[:, None]) & (place[:, None] < inputs["ends"][None, :])


def asked(pack: Pack) -> Counter[tuple[tuple[int, ...], int]]:
    """What the model sees at each pair that carries loss, by the mask and the positions, and what it is to predict."""
    inputs = collate([pack], Packing.TREE, pad=9, multiple=8)
    ids, mask, positions = inputs["input_ids"][0], seen_by(inputs), inputs["position_ids"][0]
    pairs: Counter[tuple[tuple[int, ...], int]] = Counter()
    for source, target in zip(pack.sources, pack.labels, strict=True):
        seen = mask[source].nonzero().flatten()
        assert positions[seen].tolist() == list(range(len(seen))), "at the places of its own row"
        pairs[tuple(ids[seen].tolist()), target] += 1
    return pairs


@given(GROUPS, st.integers(1, 60), st.integers(0, 60), st.sampled_from(Packing))
def test_packs_ask_what_the_rows_ask(groups: list[tuple[TrainingRow, ...]], most: int, more: int, packing: Packing) -> None:
    packs = list(pack_rows(groups, most, most + more, packing))
    rows = [row for group in groups for row in group]
    wanted: Counter[tuple[tuple[int, ...], int]] = Counter()
    for row in rows:
        for n, token in enumerate(row.completion_ids):
            wanted[row.prompt_ids + row.completion_ids[:n], token] += 1
    assert sum((asked(pack) for pack in packs), Counter()) == wanted
    longest = max(map(len, rows))
    assert all(len(pack.input_ids) <= max(most + more, longest) for pack in packs)
    assert len(packs) == len(rows) if packing is Packing.SINGLE else len(packs) <= len(rows)
    if packing is not Packing.TREE:
        assert sum(len(pack.input_ids) for pack in packs) == sum(map(len, rows)), "nothing is shared"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("models") / "tiny", context_length=8192)


@pytest.mark.parametrize("context", ["full-history", "conversation", "conversation+state"])
@pytest.mark.parametrize("attention", ["sdpa", "eager", "blocks"])
def test_loss_and_gradient_are_those_of_the_rows_one_by_one(tiny: Path, context: str, attention: str) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    register()
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    renderer = Renderer(PromptSpec.make("hexagons", context), tokenizer, 8192, 0)
    rows = make_rows(load("hexagons", "train")[:8], renderer, ShotPool([], 0), 0, 8192)
    one_by_one = AutoModelForCausalLM.from_pretrained(tiny)
    packed = AutoModelForCausalLM.from_pretrained(tiny, attn_implementation=attention)
    alone = [_row_loss(one_by_one, row) for row in rows.kept]
    packs = list(pack_rows(rows.groups, 2000, 2000))
    together = [_loss(packed, collate([pack], Packing.TREE, pad=0)) for pack in packs]
    assert sum(len(pack.input_ids) for pack in packs) < sum(map(len, rows.kept)) / 1.5
    torch.testing.assert_close(sum(together), sum(alone), rtol=1e-4, atol=0.0)
    sum(alone).backward()
    sum(together).backward()
    for (name, one), other in zip(one_by_one.named_parameters(), packed.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-3 * float(one.grad.abs().max()), msg=name)


def _row_loss(model: Any, row: TrainingRow) -> torch.Tensor:
    logits = model(torch.tensor([row.token_ids]), use_cache=False).logits[0, len(row.prompt_ids) - 1 : -1]
    return torch.nn.functional.cross_entropy(logits, torch.tensor(row.completion_ids), reduction="sum")


def _loss(model: Any, inputs: dict[str, Any]) -> torch.Tensor:
    labels = inputs.pop("labels")
    return torch.nn.functional.cross_entropy(logits_of(model, inputs, use_cache=False), labels, reduction="sum")


@given(st.sampled_from([1, 5, BLOCK, BLOCK + 1, 2 * BLOCK + 3]), st.sampled_from([(1, 1), (2, 3)]), st.integers(0, 9))
@settings(deadline=None, max_examples=12)
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


def test_what_a_mask_hides_is_worked_out_once_for_all_layers_and_forgotten_with_the_mask(tiny: Path) -> None:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny, attn_implementation=register())
    rows = [TrainingRow(str(n), (5, 6, 7), (n, n + 1)) for n in range(8, 11)]
    (pack,) = pack_rows([rows], 99, 99)
    with unittest.mock.patch("adapters.attention._Block", wraps=_Block) as made:
        _loss(model, collate([pack], Packing.TREE, pad=0)).backward()
    assert model.config.num_hidden_layers > made.call_count == 1
    assert not _BLOCKS_OF


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(1, 5), st.integers(1, 4))
def test_processes_share_each_step_and_what_they_lack_carries_no_loss(lengths: list[int], step: int, processes: int) -> None:
    packs = [Pack([number] * length, [0], [1], [0], [7]) for number, length in enumerate(lengths[: len(lengths) // step * step])]
    deal = shard_packs(packs, step, processes)
    whole = -(-step // processes) * processes
    assert len(deal) == len(packs) // step * whole
    for number in range(len(packs) // step):
        shared = [pack for pack in deal[number * whole : (number + 1) * whole] if pack.labels]
        assert sorted(pack.input_ids for pack in shared) == [
            pack.input_ids for pack in packs[number * step : (number + 1) * step]
        ]
    assert deal == packs or processes > 1
    if blank := next((pack for pack in deal if not pack.labels), None):
        inputs = collate([blank], Packing.TREE, pad=9, multiple=8)
        assert (inputs["labels"].shape, inputs["sources"].dtype) == ((0,), torch.long)


@given(GROUPS, st.integers(4, 30), st.integers(1, 4), st.sampled_from(list(Packing)))
def test_a_pack_holds_no_more_rows_than_are_asked_for(
    groups: list[tuple[TrainingRow, ...]], most: int, rows: int, packing: Packing
) -> None:
    packs = list(pack_rows(groups, most, most, packing, rows))
    wanted = Counter(
        (row.token_ids[: len(row.prompt_ids) + n], token)
        for group in groups
        for row in group
        for n, token in enumerate(row.completion_ids)
    )
    if packing is Packing.TREE:
        assert sum((asked(pack) for pack in packs), Counter()) == wanted
    if rows == 1:
        assert len(packs) == sum(map(len, groups))
