"""Labels and loss mask: which tokens of a training row carry loss, and how a model is given the rows of a pack.

The labels of a row are the tokens of its answer with its stop token, and no others: a prompt is only read. The loss mask holds
the places of the tokens that predict them, each label being the next token after its place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]


class Packing(Enum):
    """How the rows of a pack are computed; `adapters.layout` says which way is exact for a model."""

    TREE = "in one sequence, in which rows that begin alike share their beginning"
    BATCH = "as a batch"
    SINGLE = "one at a time"


@dataclass(frozen=True, slots=True)
class Pack:
    """A sequence of n tokens that holds some rows.

    `positions[i]` is the position of token i in its rows. Only tokens i to `ends[i]` - 1 attend to token i: itself and all tokens
    that follow it in some row. At token `loss_mask[k]` the model should predict the token `labels[k]`, once for every row
    that has this pair. If rows share nothing, each begins at position 0.
    """

    input_ids: Ints
    positions: Ints
    ends: Ints
    loss_mask: Ints
    labels: Ints


def mask_and_labels(places: Ints, tokens: Ints, prompt_length: int) -> tuple[Ints, Ints]:
    """The loss mask and the labels of a row, of equal length: all tokens after the prompt, each predicted at the place before it.

    `places` are where the row's `tokens` stand in its pack; the first `prompt_length` of them, at least 1, are the prompt.
    """
    return places[prompt_length - 1 : -1], tokens[prompt_length:]


def collate(pack: Pack, packing: Packing, *, pad: int, multiple: int = 128) -> dict[str, Any]:
    """The input of `logits_of`, padded on the right: `loss_mask` and `labels` (m,); for a tree also `input_ids` and
    `position_ids` (1, n) and `ends` (n,), for separate rows `input_ids` and `attention_mask` (rows, n), where `loss_mask` counts
    through all rows.

    n is a multiple of `multiple`, so that the allocator sees few sizes; a padding token is seen only by itself.
    """
    import torch

    starts = [0] if packing is Packing.TREE else np.flatnonzero(pack.positions == 0).tolist()
    lengths = np.diff([*starts, len(pack.input_ids)]).tolist()
    width = -(-max(lengths) // multiple) * multiple
    ids = torch.full((len(starts), width), pad)
    mask = torch.zeros(ids.shape, dtype=torch.long)
    for row, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        ids[row, :length] = torch.from_numpy(pack.input_ids[start : start + length])
        mask[row, :length] = 1
    labels = torch.from_numpy(pack.labels).long()
    places = torch.from_numpy(pack.loss_mask).long()
    if packing is not Packing.TREE:
        row = torch.bucketize(places, torch.tensor(starts), right=True) - 1
        places += row * width - torch.tensor(starts)[row]
        return {"input_ids": ids, "attention_mask": mask, "loss_mask": places, "labels": labels}
    positions = torch.zeros_like(ids)
    positions[0, : lengths[0]] = torch.from_numpy(pack.positions)
    ends = torch.arange(width) + 1
    ends[: lengths[0]] = torch.from_numpy(pack.ends)
    return {"input_ids": ids, "position_ids": positions, "ends": ends, "loss_mask": places, "labels": labels}


def logits_of(model: Any, inputs: dict[str, Any], **options: Any) -> Any:
    """The logits at the loss mask of a pack, shape (m, vocabulary).

    `inputs` come from `collate`, without the labels; `options`, such as a cache, go to the model.
    """
    given, places = _given(model, inputs) | options, inputs["loss_mask"]
    if "ends" in inputs:
        return model(**given, logits_to_keep=places).logits[0]
    width = inputs["input_ids"].shape[1]
    rows, columns = places // width, places % width
    if "logits_to_keep" not in signature(_bare(model).forward).parameters:
        return model(**given).logits[rows, columns]
    kept, columns = columns.unique(return_inverse=True)
    return model(**given, logits_to_keep=kept).logits[rows, columns]


def fuse_head(model: Any) -> bool:
    """Have the model compute its loss with TRL's fused head, which holds a tile of the logits at a time: see `log_probs_of`.

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

    def only_masked(body: Any, arguments: Any, given: dict[str, Any], output: Any) -> Any:
        # By itself the head scores every token, with one label each; but in a tree, a token may have several next tokens.
        if (places := given.get("logits_to_keep")) is not None:
            output.last_hidden_state = output.last_hidden_state.flatten(0, 1)[places][None]
        return output

    network.base_model.register_forward_hook(only_masked, with_kwargs=True)
    return True


def log_probs_of(model: Any, inputs: dict[str, Any], labels: Any) -> Any:
    """The log-probabilities of the labels of a pack by a fused head, shape (m,). `inputs` as in `logits_of`."""
    given = _given(model, inputs) | {"logits_to_keep": inputs["loss_mask"], "shift_labels": labels[None]}
    return model(**given, fused_lm_head=True).log_probs[0]


def summed_loss(model: Any, inputs: dict[str, Any], labels: Any, *, fused: bool) -> Any:
    """The cross-entropy of the labels of a pack, summed. The logits are the largest tensor: they are computed for the loss mask
    only and, with `fused`, a tile at a time. `inputs` as in `logits_of`."""
    if fused:
        return -log_probs_of(model, inputs, labels).sum()
    from torch.nn.functional import cross_entropy

    return cross_entropy(logits_of(model, inputs, use_cache=False).float(), labels, reduction="sum")


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
