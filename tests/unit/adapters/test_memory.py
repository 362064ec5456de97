"""The dry run's estimates of memory for models with 8 and 70 billion parameters, counted on the meta device."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks
from transformers import AttentionInterface, AutoModelForCausalLM, LlamaConfig

from adapters.labels import Pack
from adapters.memory import estimate
from adapters.model import trainable
from adapters.recipe import FinetuneRecipe, load_recipe
from tests.helpers import ROOT

LLAMA = {
    "8B": {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32},
    "70B": {"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64},
}
"""The sizes of Llama 3; both have 8 key heads and a vocabulary of 128,256."""
TOKENS, PLACES, ASKED = 4096, 1000, 1000
PACK = Pack(*np.zeros((3, TOKENS), np.int32), *np.zeros((2, PLACES), np.int32))


def fused(module: Any, query: Any, key: Any, value: Any, mask: Any, **_: Any) -> tuple[Any, None]:
    """Keeps what attention on a GPU keeps for the backward pass: its inputs and its output."""
    return (query * query + (key * key).sum() + (value * value).sum()).tanh().transpose(1, 2), None


AttentionInterface.register("fused-stand-in", fused)


def model_of(size: str, recipe: FinetuneRecipe) -> Any:
    config = LlamaConfig(vocab_size=128_256, num_key_value_heads=8, max_position_embeddings=8192, **LLAMA[size])
    with torch.device("meta"):
        base = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, attn_implementation="fused-stand-in")
        return trainable(recipe, base)


def test_the_optimizer_keeps_what_adamw_keeps() -> None:
    recipe = load_recipe("llama-lora")
    model = model_of("8B", recipe)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    told = estimate(model, recipe, [PACK], ASKED, half=True)
    for parameter in trained:
        parameter.grad = torch.empty_like(parameter)
    optimizer = torch.optim.AdamW(trained, foreach=False)
    optimizer.step()
    states = [value for state in optimizer.state.values() for value in state.values() if value.dim()]
    assert told.gradients == sum(parameter.grad.nbytes for parameter in trained)
    assert told.optimizer == sum(state.nbytes for state in states)


def kept_for_backward(model: Any) -> int:
    """The bytes that the layers keep in a forward pass over a pack in bfloat16, as under autocast, without weights and mask."""
    for parameter in model.parameters():
        parameter.data = parameter.data.to(torch.bfloat16)
    kept: dict[int, Any] = {}
    ids = torch.zeros(1, TOKENS, dtype=torch.long, device="meta")
    mask = torch.zeros(1, 1, TOKENS, TOKENS, dtype=torch.bool, device="meta")
    with saved_tensors_hooks(lambda tensor: kept.setdefault(tensor.untyped_storage()._cdata, tensor), lambda tensor: tensor):
        model.train().get_base_model().model(ids, attention_mask=mask, position_ids=ids, use_cache=False)
    for parameter in model.parameters():
        kept.pop(parameter.untyped_storage()._cdata, None)
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


def test_activations_are_what_a_forward_pass_keeps() -> None:
    recipe = load_recipe("llama-lora", ["training.gradient_checkpointing=false", "lora.dropout=0.0"])
    model = model_of("8B", recipe)
    told = estimate(model, recipe, [PACK], ASKED, half=True)
    assert told.activations == pytest.approx(kept_for_backward(model), rel=0.01)


def documented(size: str, how: str) -> list[float]:
    """Weights, adapter, activations and logits, and the total, in the table of docs/gpu.md."""
    lines = (ROOT / "docs/gpu.md").read_text().splitlines()
    row = next(line for line in lines if line.startswith(f"| {size}, {how} |"))
    return [float(cell) for cell in row.split("|")[2:-1]]


@pytest.mark.parametrize("size", ["8B", pytest.param("70B", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("how", "recipe"), [("QLoRA", "llama-qlora"), ("LoRA on bfloat16", "llama-lora")])
def test_the_page_about_gpus_has_the_numbers_of_the_dry_run(size: str, how: str, recipe: str) -> None:
    loaded = load_recipe(recipe, ["training.gradient_checkpointing=true"])
    plain = loaded.model_copy(update={"quantize": None})
    told = estimate(model_of(size, plain), loaded, [PACK], ASKED, half=True)
    parts = told.weights, told.gradients + told.optimizer, told.activations + told.logits, told.total
    assert documented(size, how) == [round(part / 1e9, 1) for part in parts]
