"""The memory of models with 8 and 70 billion parameters, counted on the meta device, against the dry run's estimates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks
from transformers import AttentionInterface, AutoModelForCausalLM, LlamaConfig

from adapters.finetune import trainable
from adapters.labels import Pack
from adapters.memory import BATCH, MOST, estimate, fitting
from adapters.recipe import FinetuneRecipe, load_recipe

LLAMA = {
    "8B": {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32},
    "70B": {"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64},
}
"""The sizes of Llama 3; both have 8 key heads and a vocabulary of 128,256."""
TOKENS, PLACES, ASKED = 4096, 1000, 1000
PACK = Pack(*np.zeros((3, TOKENS), np.int32), *np.zeros((2, PLACES), np.int32))


class _Fused(torch.autograd.Function):  # type: ignore[misc]
    """Keeps what attention on a GPU keeps for the backward pass: its inputs and its output."""

    @staticmethod
    def forward(ctx: Any, query: Any, key: Any, value: Any) -> Any:
        output = torch.empty_like(query)
        ctx.save_for_backward(query, key, value, output)
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return tuple(torch.empty_like(tensor) for tensor in ctx.saved_tensors[:3])


def _fused(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **_: Any) -> tuple[Any, None]:
    return _Fused.apply(query, key, value).transpose(1, 2), None


@pytest.fixture(scope="module", autouse=True)
def _as_on_a_gpu() -> Iterator[None]:
    """Attention keeps no scores, and dropout keeps a mask of bytes."""
    AttentionInterface.register("fused-stand-in", _fused)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.Dropout, "forward", lambda self, x: torch.native_dropout(x, self.p, self.training)[0])
        yield
    del AttentionInterface._global_mapping["fused-stand-in"]


def model_of(size: str, recipe: FinetuneRecipe) -> Any:
    config = LlamaConfig(vocab_size=128_256, num_key_value_heads=8, max_position_embeddings=8192, **LLAMA[size])
    with torch.device("meta"):
        base = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, attn_implementation="fused-stand-in")
        return trainable(recipe, base)


def kept_for_backward(model: Any) -> int:
    """The bytes that the layers keep in a forward pass over a pack in bfloat16, as under autocast, without weights and mask."""
    for parameter in model.parameters():
        parameter.data = parameter.data.to(torch.bfloat16)
    weights = {parameter.untyped_storage()._cdata for parameter in model.parameters()}
    kept: dict[int, Any] = {}

    def keep(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage._cdata not in weights:
            kept[storage._cdata] = storage
        return tensor

    ids = torch.zeros(1, TOKENS, dtype=torch.long, device="meta")
    mask = torch.zeros(1, 1, TOKENS, TOKENS, dtype=torch.bool, device="meta")
    with saved_tensors_hooks(keep, lambda tensor: tensor):
        # Bound to a name, so that the kept tensors are not freed before they are counted.
        output = model.train().get_base_model().model(ids, attention_mask=mask, position_ids=ids, use_cache=False)
        assert output.last_hidden_state.shape[1] == TOKENS
    return sum(storage.nbytes() for storage in kept.values())


def test_each_part_is_what_the_arithmetic_says() -> None:
    recipe = load_recipe("llama-lora", ["training.gradient_checkpointing=false"])
    model, layers = model_of("8B", recipe), LLAMA["8B"]["num_hidden_layers"]
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    told = estimate(model, recipe, [PACK], ASKED, half=True)
    copies = sum(2 * parameter.numel() for parameter in trained)  # The copies that autocast keeps.
    assert told.weights == sum(parameter.nbytes for parameter in model.parameters()) + copies
    for parameter in trained:
        parameter.grad = torch.empty_like(parameter)
    optimizer = torch.optim.AdamW(trained, foreach=False)
    optimizer.step()
    states = [value for state in optimizer.state.values() for value in state.values() if value.dim()]
    assert told.gradients == sum(parameter.grad.nbytes for parameter in trained)
    assert told.optimizer == sum(state.nbytes for state in states)
    every = kept_for_backward(model)
    assert told.activations == pytest.approx(every, rel=0.01)
    assert told.dev_cache == BATCH * ASKED * 2 * 2 * layers * 1024  # Keys and values, bytes, layers, width.
    # With checkpointing, the inputs of layers are kept, and one layer is computed again.
    checkpointed = recipe.model_copy(update={"training": recipe.training.model_copy(update={"gradient_checkpointing": True})})
    model.gradient_checkpointing_enable({"use_reentrant": False})
    model.enable_input_require_grads()
    told = estimate(model, checkpointed, [PACK], ASKED, half=True)
    assert told.activations == pytest.approx(kept_for_backward(model) + every / layers, rel=0.01)


def test_as_many_dev_items_are_answered_together_as_free_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("8B", load_recipe("llama-lora", []))
    each = 1500 * 2 * 32 * 2 * 1024  # Tokens, keys and values, layers, bytes, width.
    assert fitting(model, 1500) == BATCH
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 3 * each)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: each)
    for free, count in ((40 * each, 21), (0, 1), (10**4 * each, MOST)):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device, free=free: (free, 80 * 10**9))
        assert fitting(model, 1500) == count
