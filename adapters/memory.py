"""How much memory a training takes, by arithmetic: see `estimate` for the formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from adapters.packing import Pack
from adapters.recipe import FinetuneRecipe

_BLOCK, _BLOCKS = 64, 256
"""Weights that share a scale in 4 bits, and scales that share one in turn where they are quantized as well."""

PROCESS = 1.5e9
"""Memory of a training on a CPU besides the estimate, in bytes: Python, torch, and freed memory that the allocator keeps.
Measured with smollm2-135m: 1.35e9 to 1.6e9 (docs/finetuning.md)."""


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """The parts, in bytes, at the largest pack of a run."""

    weights: float
    gradients: float
    optimizer: float
    activations: float
    logits: float

    @property
    def total(self) -> float:
        return math.fsum(asdict(self).values())


def parameters(model: Any) -> tuple[int, int]:
    """How many are trained, and how many there are."""
    sizes = [(p.numel(), p.requires_grad) for p in model.parameters()]
    return sum(size for size, trained in sizes if trained), sum(size for size, _ in sizes)


def estimate(model: Any, recipe: FinetuneRecipe, packs: Sequence[Pack], half: bool) -> MemoryEstimate:
    """The memory of the model as it is trained, whose weights may be on the `meta` device; `half`: arithmetic in bfloat16.

    With P parameters, T of them trained, b bytes a number (2 with `half`, else 4), and for the pack that takes the most, of n
    tokens (rounded up to 128) with m places in the loss mask; h, q, k and i are the widths of the model, of its queries, of its
    keys and of its inner layers, L its layers and V its vocabulary:

    - weights: b(P - T) + 4T, and bT for the copies in bfloat16 that autocast keeps of trained weights, if `half`. In 4 bits,
      linear layers take 1/2 byte a weight and 4/64 for the scales (1/64 + 4/(64 * 256) where those are quantized), the rest 4;
    - gradients: 4T;
    - optimizer: 8T (AdamW); 4 bytes for each row and column of a trained matrix (Adafactor);
    - activations: n * L * A without gradient checkpointing and n * (L * s * h + A) with it, with
      A = 8h + b(2h + 2q + 2k + 4i), and in a full fine-tuning 2sh more. Dropout adds (b + 1) for each input of an adapter.
      s, the bytes of a number between layers, is b for a frozen base in bfloat16 or float32, otherwise 4;
      and n * n for the mask;
    - logits: m * V * (12 + b).

    Left out: the process itself, which on a CPU takes about `PROCESS`, and what CUDA and its allocator take on a GPU.
    """
    number = 2 if half else 4
    trained, _ = parameters(model)
    config = model.config.get_text_config()
    token = _activations(model, recipe, config, number)

    def variable(pack: Pack) -> tuple[float, float]:
        width = -(-len(pack.input_ids) // 128) * 128
        return width * token + width**2, len(pack.sources) * config.vocab_size * (12.0 + number)

    activations, logits = max(map(variable, packs), key=sum)
    return MemoryEstimate(_weights(model, recipe, number), 4.0 * trained, _optimizer(model, recipe), activations, logits)


def _weights(model: Any, recipe: FinetuneRecipe, number: int) -> float:
    import torch

    trained, total = parameters(model)
    copies = number * trained if number == 2 else 0
    if not recipe.quantize:
        return float(number * (total - trained) + 4 * trained + copies)
    head = model.get_output_embeddings()
    weights: list[Any] = [m.weight for m in model.modules() if isinstance(m, torch.nn.Linear) and m is not head]
    packed = sum(int(weight.numel()) for weight in weights if not weight.requires_grad)
    scale = 1 / _BLOCK + 4 / (_BLOCK * _BLOCKS) if recipe.double_quantization else 4 / _BLOCK
    return (0.5 + scale) * packed + 4 * (total - packed) + copies


def _optimizer(model: Any, recipe: FinetuneRecipe) -> float:
    trained = [p for p in model.parameters() if p.requires_grad]
    if recipe.training.optimizer == "adafactor":
        return float(sum(4 * (sum(p.shape[-2:]) if p.dim() > 1 else p.numel()) for p in trained))
    return float(sum(8 * p.numel() for p in trained))


def _activations(model: Any, recipe: FinetuneRecipe, config: Any, number: int) -> float:
    """Bytes for each token of a pack that stay until the backward pass."""
    h, layers, heads = config.hidden_size, config.num_hidden_layers, config.num_attention_heads
    head = getattr(config, "head_dim", None) or h // heads
    queries, keys = heads * head, (getattr(config, "num_key_value_heads", None) or heads) * head
    inner = getattr(config, "intermediate_size", None) or 4 * h
    full = recipe.method == "full"
    between = 4 if full or recipe.quantize else number
    layer = 8 * h + number * (2 * h + 2 * queries + 2 * keys + 4 * inner) + (2 * between * h if full else 0)
    if recipe.lora and recipe.lora.dropout and not full:
        inputs = sum(p.shape[1] for name, p in model.named_parameters() if "lora_A" in name)
        layer += (number + 1) * inputs / layers
    return float(layers * between * h + layer if recipe.training.gradient_checkpointing else layers * layer)
