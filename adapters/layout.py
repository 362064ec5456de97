"""How a model reads the rows of a pack: as one tree if that is exact, otherwise as separate rows.

A tree needs a mask of its own in every layer. transformers makes each layer's mask (full, sliding, chunked) from the positions of
query and key; here these are the positions within their rows, and a key outside the query's row is hidden as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

from adapters.packing import Packing
from adapters.recipe import FinetuneTraining
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
    plain: bool
    """Whether every layer sees all earlier tokens, so that answers can be drawn in one sequence too."""

    def __str__(self) -> str:
        return f"rows are computed {self.packing.value}: {self.reason}"


def layout_of(config: Any, length: int, rows: int | None = None) -> Layout:
    """How rows of at most `length` tokens are packed for a model with this configuration; `rows` is the most per pack.

    Raises EngineError for a model that is not a causal language model.
    """
    network, text = model_class(config), config.get_text_config()
    if network is None and not getattr(config, "auto_map", None):
        raise EngineError(f"transformers has no causal language model of the type {config.model_type}: use another --base")
    attention = exact_attention(config)
    layers = set(getattr(text, "layer_types", None) or ["full_attention"])
    if length > (most := _unstretched(text)):
        why = f"its rotary embeddings change beyond {most} tokens, for a whole batch"
        return Layout(Packing.SINGLE, why, attention, plain=False)
    if rows == 1:
        return Layout(Packing.SINGLE, "a pack holds one row", attention, plain=False)
    if unmasked := _not_masked(network, layers):
        return Layout(Packing.BATCH, unmasked, attention, plain=False)
    windows = (
        {"sliding_attention"} & layers or getattr(text, "sliding_window", None) or getattr(text, "attention_chunk_size", None)
    )
    plain = layers == {"full_attention"} and not (windows and "layer_types" not in text.to_dict())
    kinds = ", ".join(sorted(layer.replace("_", " ") for layer in layers))
    why = "every layer attends to all earlier tokens" if plain else f"masks hide other rows' tokens in every layer ({kinds})"
    return Layout(Packing.TREE, why, attention, plain)


def attention_of(layout: Layout, wanted: str | None) -> str | None:
    """The attention to train a model with, by transformers' names; None for the model's own. `wanted` is the recipe's.

    Raises UsageError if `wanted` does not suit the model or its packs.
    """
    import torch

    from adapters.attention import register

    tree = layout.packing is Packing.TREE
    if layout.attention and wanted:
        raise UsageError(f"training.attn_implementation: the base needs {layout.attention} attention: leave the key out")
    if wanted == "flash_attention_2" and tree:
        raise UsageError(
            "training.attn_implementation: flash_attention_2 takes no mask, and rows share a sequence: flex_attention does, or "
            "--set training.per_device_train_batch_size=1"
        )
    # Packs need a mask of their own, with which torch's attention is slow on a CPU.
    own = ("sdpa" if torch.cuda.is_available() else register()) if tree else None
    return layout.attention or wanted or own


def _not_masked(network: type | None, layers: set[str]) -> str | None:
    """Why a mask does not determine what a token sees; None if it does."""
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
    """The length, in tokens, up to which rotary embeddings do not depend on the length of a row."""
    parameters = getattr(text, "rope_parameters", None) or {}
    # Some models have separate parameters for each type of layer.
    each = [parameters, *(value for value in parameters.values() if isinstance(value, dict))]
    if not any(one.get("rope_type") in _STRETCHED for one in each):
        return math.inf
    length = parameters.get("original_max_position_embeddings") or getattr(text, "original_max_position_embeddings", None)
    return int(length or text.max_position_embeddings)


def logits_of(model: Any, inputs: dict[str, Any], **options: Any) -> Any:
    """The logits at the sources of a pack, shape (m, vocabulary).

    `inputs` come from `adapters.packing.collate`, without the labels; `options`, such as a cache, go to the model.
    """
    given, sources = _given(model, inputs) | options, inputs["sources"]
    if "ends" in inputs:
        return model(**given, logits_to_keep=sources).logits[0]
    width = inputs["input_ids"].shape[1]
    rows, places = sources // width, sources % width
    if "logits_to_keep" not in signature(_bare(model).forward).parameters:
        return model(**given).logits[rows, places]
    kept, columns = places.unique(return_inverse=True)
    return model(**given, logits_to_keep=kept).logits[rows, columns]


def fuse_head(model: Any) -> bool:
    """Have the model compute its loss with TRL's fused head, which holds a tile of the logits at a time: see `scored`.

    Returns whether it can: a network may have no body that runs without its head, and the fused head would ignore an adapter on
    the head.
    """
    import torch
    from trl.trainer.utils import add_fused_lm_head

    network = _bare(model)
    own_code, has_body = type(network).__module__.startswith("transformers."), network.base_model is not network
    if not (own_code and has_body and type(network.get_output_embeddings()) is torch.nn.Linear):
        return False
    add_fused_lm_head(network)
    keep_sources(network)
    return True


def keep_sources(model: Any) -> None:
    """Have a fused head score the sources of a pack. By itself it scores every token, with one label each; but in a tree, a token
    may have a different next token in each row."""

    def only_sources(body: Any, arguments: Any, given: dict[str, Any], output: Any) -> Any:
        if (sources := given.get("logits_to_keep")) is not None:
            output.last_hidden_state = output.last_hidden_state.flatten(0, 1)[sources][None]
        return output

    _bare(model).base_model.register_forward_hook(only_sources, with_kwargs=True)


def scored(model: Any, inputs: dict[str, Any], labels: Any) -> Any:
    """A fused head's output for the labels at the sources of a pack: `log_probs` and whatever else it computes, of shape (1, m).
    `inputs` as in `logits_of`."""
    return model(**_given(model, inputs), logits_to_keep=inputs["sources"], shift_labels=labels[None], fused_lm_head=True)


def _given(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The model's inputs for a pack. A single row needs no mask: padding comes after it."""
    given = {"input_ids": inputs["input_ids"]}
    if "ends" in inputs:
        return given | {"position_ids": inputs["position_ids"], "attention_mask": _tree_masks(model, inputs)}
    return given | ({"attention_mask": inputs["attention_mask"]} if len(inputs["input_ids"]) > 1 else {})


def _bare(model: Any) -> Any:
    """The model without the wrappers for adapters and for distributed training."""
    model = getattr(model, "module", model)
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def _tree_masks(model: Any, inputs: dict[str, Any]) -> Any:
    """The mask of a pack, or one for each type of layer, as transformers makes them for the model's attention."""
    import torch
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS as functions
    from transformers.masking_utils import LAYER_PATTERN_TO_MASK_FUNCTION_MAPPING, create_masks_for_generate

    config = _bare(model).config.get_text_config()
    ids, positions, ends, name = inputs["input_ids"], inputs["position_ids"][0], inputs["ends"], config._attn_implementation
    usual = functions[name]

    def of_pack(*, mask_function: Callable[..., Any], **options: Any) -> Any:
        def visible(batch: Any, head: Any, query: Any, key: Any) -> Any:
            own_row = (key <= query) & (query < ends[key])
            return own_row & mask_function(batch, head, positions[query], positions[key])

        return usual(mask_function=visible, **options | {"allow_is_causal_skip": False})

    functions[name] = of_pack
    try:
        # Only its shape, dtype and device matter.
        embedded = torch.empty(*ids.shape, 0, dtype=_bare(model).dtype, device=ids.device)
        if not hasattr(config, "layer_types"):
            return create_masks_for_generate(config, embedded, None, None)
        # create_masks_for_generate fails for chunks.
        makers = {layer: LAYER_PATTERN_TO_MASK_FUNCTION_MAPPING[layer] for layer in config.layer_types}
        return {layer: make(config, embedded, None, None) for layer, make in makers.items()}
    finally:
        del functions[name]


def missing_for_kernels(training: FinetuneTraining) -> str | None:
    """What this machine lacks for the kernels that a recipe names; None if nothing."""
    import torch
    from transformers.utils import is_flash_attn_2_available, is_liger_kernel_available

    attention = training.attn_implementation
    kernels = (
        (attention == "flex_attention", "attn_implementation=flex_attention", "torch", True),
        (attention == "flash_attention_2", "attn_implementation=flash_attention_2", "flash-attn", is_flash_attn_2_available()),
        (training.use_liger_kernel, "use_liger_kernel=true", "liger-kernel", is_liger_kernel_available()),
    )
    for asked, setting, package, there in kernels:
        if asked and not torch.cuda.is_available():
            return f"training.{setting} needs an NVIDIA GPU"
        if asked and not there:
            return f"training.{setting} needs the package {package}: pip install {package}"
    return None
