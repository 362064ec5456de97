"""How a model reads the rows of a pack: as one tree where that is exact, else as a batch of separate rows.

A tree needs a mask of its own in every layer. transformers makes each layer's mask (full, sliding, chunked) from the places of
the query and the key; here those are their positions in their rows, and a key outside the query's row is hidden besides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import Any

from adapters.packing import Packing
from harness.engines.models.bases import display_name, exact_attention, model_class
from harness.errors import EngineError

MASKED = {"full_attention", "sliding_attention", "chunked_attention"}
"""The types of layers of which a token sees what a mask shows, and nothing else."""
_STRETCHED = ("dynamic", "longrope")
"""Rotary embeddings that depend on the longest row of a batch."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a model's rows are packed. `str(layout)` is for people."""

    packing: Packing
    reason: str
    attention: str | None
    """The attention implementation that the model needs (`bases.exact_attention`); None where any will do."""
    plain: bool
    """Whether every layer sees all earlier tokens, so that answers can be drawn in one sequence too."""

    def __str__(self) -> str:
        return f"rows are computed {self.packing.value}: {self.reason}"


def layout_of(config: Any, length: int) -> Layout:
    """How the rows, of at most `length` tokens, of a model with this configuration are packed.

    Raises EngineError for a model that is no causal language model.
    """
    network, text = model_class(config), config.get_text_config()
    if network is None and not getattr(config, "auto_map", None):
        raise EngineError(f"transformers has no causal language model of the type {config.model_type}: use another --base")
    attention = exact_attention(config)
    layers = set(getattr(text, "layer_types", None) or ["full_attention"])
    if length > (most := _unstretched(text)):
        why = f"its rotary embeddings change beyond {most} tokens, for a whole batch"
        return Layout(Packing.SINGLE, why, attention, plain=False)
    if unmasked := _not_masked(network, layers):
        return Layout(Packing.BATCH, unmasked, attention, plain=False)
    windows = (
        {"sliding_attention"} & layers or getattr(text, "sliding_window", None) or getattr(text, "attention_chunk_size", None)
    )
    plain = layers == {"full_attention"} and not (windows and "layer_types" not in text.to_dict())
    kinds = ", ".join(sorted(layer.replace("_", " ") for layer in layers))
    why = "every layer attends to all earlier tokens" if plain else f"masks hide the others' tokens in every layer ({kinds})"
    return Layout(Packing.TREE, why, attention, plain)


def _not_masked(network: type | None, layers: set[str]) -> str | None:
    """Why a mask does not say all that a token sees; None if it does."""
    if network is None:
        return "its code is not transformers' own"
    if other := layers - MASKED:
        return f"a mask does not separate rows in its layers ({', '.join(sorted(other)).replace('_', ' ')})"
    if getattr(network, "_is_stateful", False):
        return "its layers carry a state from token to token"
    if not getattr(network, "_supports_attention_backend", False):
        return "its attention does not take its mask from transformers' mask functions"
    if lacking := {"position_ids", "logits_to_keep"} - set(signature(network.forward).parameters):  # type: ignore[attr-defined]
        return f"its forward takes no {' and no '.join(sorted(lacking))}"
    return None


def _unstretched(text: Any) -> float:
    """The tokens up to which rotary embeddings are the same for rows of any length."""
    parameters = getattr(text, "rope_parameters", None) or {}
    # Some models have other ones for each type of layer.
    each = [parameters, *(value for value in parameters.values() if isinstance(value, dict))]
    if not any(one.get("rope_type") in _STRETCHED for one in each):
        return math.inf
    length = parameters.get("original_max_position_embeddings") or getattr(text, "original_max_position_embeddings", None)
    return int(length or text.max_position_embeddings)


def logits_of(model: Any, inputs: dict[str, Any], **options: Any) -> Any:
    """The logits at the sources of a pack, shape (m, vocabulary).

    `inputs` are those of `adapters.packing.collate` without labels; `options` go to the model, such as a cache.
    """
    sources = inputs["sources"]
    if "ends" in inputs:
        with tree_masks(model, inputs["position_ids"][0], inputs["ends"]):
            return model(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                position_ids=inputs["position_ids"],
                logits_to_keep=sources,
                **options,
            ).logits[0]
    width = inputs["input_ids"].shape[1]
    rows, places = sources // width, sources % width
    kept, columns = places.unique(return_inverse=True)
    keeps = "logits_to_keep" in signature(_bare(model).forward).parameters
    given = {"input_ids": inputs["input_ids"], "attention_mask": inputs["attention_mask"], **options}
    if keeps:
        return model(**given, logits_to_keep=kept).logits[rows, columns]
    return model(**given).logits[rows, places]


def _bare(model: Any) -> Any:
    """The model without the wrappers of adapters and of several processes."""
    model = getattr(model, "module", model)
    return model.get_base_model() if hasattr(model, "get_base_model") else model


@contextmanager
def tree_masks(model: Any, positions: Any, ends: Any) -> Iterator[None]:
    """While it lasts, transformers' masks are those of a pack: `positions` and `ends` as in `adapters.packing.Pack`, (n,).

    Raises EngineError if the model has asked for no mask.
    """
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS as functions

    name = _bare(model).config.get_text_config()._attn_implementation
    usual, calls = functions[name], []

    def of_pack(*, mask_function: Callable[..., Any], **options: Any) -> Any:
        def visible(batch: Any, head: Any, query: Any, key: Any) -> Any:
            own_row = (key <= query) & (query < ends[key])
            return own_row & mask_function(batch, head, positions[query], positions[key])

        calls.append(name)
        return usual(mask_function=visible, **options | {"allow_is_causal_skip": False})

    functions[name] = of_pack
    try:
        yield
    finally:
        del functions[name]
    if not calls:
        raise EngineError(f"{display_name(model.name_or_path)} made no mask, so its rows cannot share a sequence")
