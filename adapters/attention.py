"""Attention with a custom mask, for training on a CPU: block by block, in matrix products that are fast there.

torch's fused attention for CPUs takes two to three times as long in bfloat16 and also computes the scores that the mask hides;
plain attention keeps an n x n matrix for every head and layer. This module skips the keys that no query of a block sees: keys
above the diagonal, and keys of other conversations. Its backward pass recomputes the weights instead of storing them (as
FlashAttention does, Dao et al. 2022).
"""

from collections.abc import MutableMapping
from typing import Any, NamedTuple

import torch
from torch.utils.weak import WeakTensorKeyDictionary

NAME = "blocks"
BLOCK = 128
"""Queries per block."""


class _Block(NamedTuple):
    """Some queries, and the keys that the mask lets them see."""

    place: slice
    seen: torch.Tensor
    """The indices of the keys that any of the queries sees."""
    bias: torch.Tensor
    """Added to the scores, shape (queries, seen keys): 0 where a query sees a key, otherwise minus infinity."""


_BLOCKS_OF: MutableMapping[torch.Tensor, list[_Block]] = WeakTensorKeyDictionary()
"""The blocks of each mask, as long as it exists: all layers of a step share one mask, forward and backward."""


class _Blocks(torch.autograd.Function):  # type: ignore[misc]
    """Attention block by block: q has the shape (groups, heads of a group, n, width), k and v have (groups, n, width)."""

    @staticmethod
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, blocks: list[_Block], scale: float) -> torch.Tensor:
        out = torch.empty_like(q)
        for place, seen, bias in blocks:
            weights = _weights(q[:, :, place], k[:, seen], bias, scale)
            out[:, :, place] = torch.bmm(weights, v[:, seen]).view_as(out[:, :, place])
        ctx.save_for_backward(q, k, v, out)
        ctx.blocks, ctx.scale = blocks, scale
        return out

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
        q, k, v, out = ctx.saved_tensors
        grad = grad.to(q.dtype)
        dq = torch.empty_like(q)
        dk, dv = torch.zeros_like(k, dtype=torch.float32), torch.zeros_like(v, dtype=torch.float32)
        for place, seen, bias in ctx.blocks:
            rows = q[:, :, place].flatten(1, 2)
            weights = _weights(q[:, :, place], k[:, seen], bias, ctx.scale)
            d_out = grad[:, :, place].flatten(1, 2)
            inner = (d_out.float() * out[:, :, place].flatten(1, 2).float()).sum(-1, keepdim=True)
            d_weights = torch.bmm(d_out, v[:, seen].transpose(1, 2)).float().sub_(inner)
            d_scores = d_weights.mul_(weights).mul_(ctx.scale).to(q.dtype)
            dq[:, :, place] = torch.bmm(d_scores, k[:, seen]).view_as(dq[:, :, place])
            dk[:, seen] += torch.bmm(d_scores.transpose(1, 2), rows)
            dv[:, seen] += torch.bmm(weights.transpose(1, 2), d_out)
        return dq, dk.to(k.dtype), dv.to(v.dtype), None, None


def _blocks(mask: torch.Tensor) -> list[_Block]:
    """The blocks of a mask of shape (1, 1, n, n), which is true where a query sees a key."""
    blocks = _BLOCKS_OF.get(mask)
    if blocks is None:
        blocks = _BLOCKS_OF[mask] = []
        for start in range(0, mask.shape[2], BLOCK):
            place = slice(start, start + BLOCK)
            seen = mask[0, 0, place].any(0).nonzero().flatten()
            sees = mask[0, 0, place, seen]
            blocks.append(_Block(place, seen, torch.zeros(sees.shape).masked_fill_(~sees, -torch.inf)))
    return blocks


def _weights(q: torch.Tensor, k: torch.Tensor, bias: torch.Tensor, scale: float) -> torch.Tensor:
    """Softmax over the keys, of shape (groups, heads * queries, keys)."""
    groups, heads, block, _ = q.shape
    scores = torch.bmm(q.flatten(1, 2), k.transpose(1, 2)).float().mul_(scale)
    scores.view(groups, heads, block, -1).add_(bias)
    return torch.softmax(scores, -1).to(q.dtype)


def attend(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, **options: Any
) -> tuple[torch.Tensor, None]:
    """An attention function for transformers: the query has the shape (1, heads, n, width), the result (1, n, heads, width).

    Torch's attention is used instead without a mask, for several rows, if queries and values differ in width, with a position
    bias, and for answers that are generated token by token.
    """
    answering = query.shape[2] == 1 and not torch.is_grad_enabled()
    usual = query.shape[-1] == value.shape[-1] and options.get("position_bias") is None
    if attention_mask is None or query.shape[0] != 1 or answering or not usual:
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        out, _ = sdpa_attention_forward(module, query, key, value, attention_mask, **options)
        return out, None
    # With float32 weights, autocast yields values in bfloat16, but queries and keys, after rotation, in float32.
    query, key = query.to(value.dtype), key.to(value.dtype)
    groups, length = key.shape[1], query.shape[2]
    scale = options.get("scaling") or query.shape[-1] ** -0.5
    grouped = query[0].reshape(groups, -1, length, query.shape[-1])
    out = _Blocks.apply(grouped, key[0], value[0], _blocks(attention_mask), scale)
    return out.reshape(1, -1, length, query.shape[-1]).transpose(1, 2), None


def register() -> str:
    """Register this attention with transformers; returns the `attn_implementation` to load a model with."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    return NAME
