"""How a model reads the rows of a pack: as one tree if that is exact, otherwise as separate rows.

A tree needs a mask of its own in every layer. transformers makes each layer's mask (full, sliding, chunked) from the positions of
query and key; here these are the positions within their rows, and a key outside the query's row is hidden as well.
"""

import math
from dataclasses import dataclass
from inspect import signature
from typing import Any

from adapters.labels import Packing
from harness.engines.models.bases import exact_attention, model_class
from harness.errors import EngineError, UsageError

MASKED = {"full_attention", "sliding_attention", "chunked_attention"}
"""The types of layers in which a token sees exactly what the mask shows."""
_STRETCHED = ("dynamic", "longrope")
"""Rotary embeddings that depend on the longest row of a batch."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a model's rows are packed. `str(layout)` is a sentence for the user."""

    packing: Packing
    reason: str
    attention: str | None
    """The attention implementation that the model needs (`bases.exact_attention`); None if any will do."""

    def __str__(self) -> str:
        return f"rows are computed {self.packing.value}: {self.reason}"


def layout_of(config: Any, length: int, rows: int | None = None) -> Layout:
    """How rows of at most `length` tokens are packed for a model with this configuration; `rows` is the most per pack.

    Raises EngineError for a model that is not a causal language model.
    """
    text = config.get_text_config()
    layers = set(getattr(text, "layer_types", None) or ["full_attention"])
    unmasked = _not_masked(config, layers)
    attention = exact_attention(config)
    if length > (most := _unstretched(text)):
        why = f"its rotary embeddings change beyond {most} tokens, for a whole batch"
        return Layout(Packing.SINGLE, why, attention)
    if rows == 1:
        return Layout(Packing.SINGLE, "a pack holds one row", attention)
    if unmasked:
        return Layout(Packing.BATCH, unmasked, attention)
    kinds = ", ".join(sorted(layer.replace("_", " ") for layer in layers))
    return Layout(Packing.TREE, f"masks hide other rows' tokens in every layer ({kinds})", attention)


def attention_of(layout: Layout, wanted: str | None) -> str | None:
    """The attention to train a model with, by transformers' names; None for the model's own. `wanted` is the recipe's.

    Raises UsageError if `wanted` does not suit the model or its packs.
    """
    import torch

    from adapters.attention import register

    tree = layout.packing is Packing.TREE
    if layout.attention and wanted:
        raise UsageError(f"training.attn_implementation: the base needs {layout.attention} attention: leave the key out")
    if wanted not in (None, "sdpa") and not torch.cuda.is_available():
        raise UsageError(f"training.attn_implementation: {wanted} needs an NVIDIA GPU")
    if wanted == "flash_attention_2" and tree:
        raise UsageError(
            "training.attn_implementation: flash_attention_2 takes no mask, and rows share a sequence: flex_attention does, or "
            "--set training.per_device_train_batch_size=1"
        )
    # Packs need a mask of their own, with which torch's attention is slow on a CPU.
    own = ("sdpa" if torch.cuda.is_available() else register()) if tree else None
    return layout.attention or wanted or own


def _not_masked(config: Any, layers: set[str]) -> str | None:
    """Why a mask does not determine what a token sees; None if it does. Raises EngineError as `layout_of` does."""
    network = model_class(config)
    if network is None and not getattr(config, "auto_map", None):
        raise EngineError(f"transformers has no causal language model of the type {config.model_type}: use another --base")
    if network is None:
        return "its code is not transformers' own"
    if other := layers - MASKED:
        return f"a mask does not separate rows in its layers ({', '.join(sorted(other)).replace('_', ' ')})"
    if getattr(network, "_is_stateful", False):
        return "its layers carry a state from token to token"
    if not getattr(network, "_supports_attention_backend", False):
        return "its attention does not take its mask from transformers' mask functions"
    if lacking := {"position_ids", "logits_to_keep"} - set(signature(network.forward).parameters):
        return f"its forward takes no {' and no '.join(sorted(lacking))}"
    return None


def _unstretched(text: Any) -> float:
    """The length, in tokens, up to which rotary embeddings do not depend on the length of a row."""
    parameters = getattr(text, "rope_parameters", None) or {}
    # Some models have separate parameters for each type of layer.
    each = [parameters, *(value for value in parameters.values() if isinstance(value, dict))]
    if not any(one.get("rope_type") in _STRETCHED for one in each):
        return math.inf
    length = parameters.get("original_max_position_embeddings") or getattr(text, "original_max_position_embeddings", None)
    return int(length or text.max_position_embeddings)
