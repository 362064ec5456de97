"""How much memory a training takes, by arithmetic: see `estimate` for the formulas."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from adapters.labels import Pack
from adapters.packing import PackPlan
from adapters.recipe import FinetuneRecipe

_BLOCK, _BLOCKS = 64, 256
"""Weights that share a scale in 4 bits, and scales that share a second scale if they are quantized as well."""

BATCH, MOST = 16, 256
"""Dev items answered together: the number on a CPU, and the most on a GPU."""
SHARE = 0.5
"""The share of free GPU memory that their keys and values may take; computing with them takes some of the rest."""

_TILE = 4096, 32768
"""The largest tile of logits that TRL's fused head holds: tokens, and entries of the vocabulary."""

PROCESS = 3.0e9
"""Memory of a training on a CPU besides the estimate, in bytes: Python, torch, and freed memory that the allocator keeps.
Measured with smollm2-135m: 1.95e9 to 3.0e9 (`/usr/bin/time -v harness finetune llama-lora --limit 48 --max-steps 3`)."""


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """The parts of a training's memory, in bytes, at the largest pack of a run."""

    weights: float
    gradients: float
    optimizer: float
    activations: float
    logits: float
    dev_cache: float
    """Keys and values of the dev answers that are generated together."""

    @property
    def total(self) -> float:
        """The peak. Dev answers are generated between steps, when gradients and activations are freed."""
        step = self.gradients + self.activations + self.logits
        return self.weights + self.optimizer + max(step, self.dev_cache)

    def __str__(self) -> str:
        """A line for the user."""
        import torch

        parts = ", ".join(f"{name.replace('_', ' ')} {value / 1e9:.2f}" for name, value in asdict(self).items())
        beside = "" if torch.cuda.is_available() else f"; on a CPU, the process takes about {PROCESS / 1e9:.1f} GB more"
        return f"memory: about {self.total / 1e9:.2f} GB: {parts}{beside}"


def parameters(model: Any) -> tuple[int, int]:
    """The number of a model's trained parameters, and of all."""
    sizes = [(p.numel(), p.requires_grad) for p in model.parameters()]
    return sum(size for size, trained in sizes if trained), sum(size for size, _ in sizes)


def largest(packs: Iterable[PackPlan]) -> list[Pack]:
    """Candidates for the pack that takes the most memory: for each padded length, the pack with the most labels."""
    chosen: dict[int, PackPlan] = {}
    for plan in sorted(packs, key=lambda plan: plan.labels):
        chosen[-(-plan.tokens // 128)] = plan
    return [plan.write() for plan in chosen.values()]


def estimate(model: Any, recipe: FinetuneRecipe, packs: Sequence[Pack], asked: int, half: bool) -> MemoryEstimate:
    """The memory that training a model takes; its weights may be on the `meta` device. `half` means arithmetic in bfloat16,
    `asked` is the most tokens of a dev item's prompt and answer.

    With P parameters, T of them trained, b bytes per number (2 with `half`, otherwise 4), and for the pack that takes the most
    memory, of n tokens (rounded up to 128) with m places in the loss mask; h, q, k and i are the widths of the model, of its
    queries, of its keys and of its inner layers, L its layers and V its vocabulary:

    - weights: b(P - T) + 4T, and bT for the copies in bfloat16 that autocast keeps of trained weights, if `half`. In 4 bits,
      linear layers take 1/2 byte a weight and 4/64 for the scales (1/64 + 4/(64 * 256) if these are quantized), the rest 4;
    - gradients: 4T;
    - optimizer: 8T (AdamW); 4 bytes for each row and column of a trained matrix (Adafactor);
    - activations: n * (L * A + 4h) without gradient checkpointing and n * (L * s * h + A + 4h) with it, with
      A = 8h + b(2q + 2k + 3i), and the inputs of trained layers: b(2h + i), or (b + 1) for each input of an adapter with
      dropout, whose mask takes a byte (b on a CPU); in a full fine-tuning 2sh more.
      s, the bytes of a number between layers, is b for a frozen base in bfloat16 or float32, otherwise 4;
      and n * n for the mask;
    - logits: b * min(m, 4096) * min(V, 32768), a tile, and m * h * (b + 4) for the tile's inputs. On a CPU the tile takes up to
      32 bytes more a number;
    - dev cache: L * k * (s + b) for each token of the `dev_batch_size` dev items that are answered together, or of `BATCH`.

    Left out: the process itself, which on a CPU takes about `PROCESS`, and what CUDA and its allocator take on a GPU.
    """
    number, training = 2 if half else 4, recipe.training
    trained, _ = parameters(model)
    config = model.config.get_text_config()
    between = 4 if recipe.method == "full" or recipe.quantize else number
    token = _activations(model, recipe, config, number, between)

    def variable(pack: Pack) -> tuple[float, float]:
        width, places = -(-len(pack.input_ids) // 128) * 128, len(pack.loss_mask)
        tile = number * min(places, _TILE[0]) * min(config.vocab_size, _TILE[1])
        return width * token + width**2, tile + places * config.hidden_size * (number + 4.0)

    activations, logits = max(map(variable, packs), key=sum)
    together = min(training.dev_batch_size or BATCH, training.dev_f1_items)
    cache = together * asked * _cached(config) * (between + number) / 2
    return MemoryEstimate(_weights(model, recipe, number), 4.0 * trained, _optimizer(model, recipe), activations, logits, cache)


def fitting(model: Any, tokens: int) -> int:
    """How many items of at most `tokens` tokens, answers included, are answered together: as many as free GPU memory holds."""
    import torch

    if not torch.cuda.is_available():
        return BATCH
    unused = torch.cuda.memory_reserved(model.device) - torch.cuda.memory_allocated(model.device)
    free = torch.cuda.mem_get_info(model.device)[0] + unused
    each = tokens * model.dtype.itemsize * _cached(model.config.get_text_config())
    return max(1, min(MOST, int(SHARE * free / each)))


def _cached(config: Any) -> int:
    """How many numbers a token's keys and values have in all layers."""
    return 2 * int(config.num_hidden_layers) * _widths(config)[1]


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


def _widths(config: Any) -> tuple[int, int]:
    """The widths of a layer's queries and keys."""
    # State-space layers have no heads.
    heads = getattr(config, "num_attention_heads", None) or 1
    head = getattr(config, "head_dim", None) or config.hidden_size // heads
    return heads * head, (getattr(config, "num_key_value_heads", None) or heads) * head


def _activations(model: Any, recipe: FinetuneRecipe, config: Any, number: int, between: int) -> float:
    """Bytes per token of a pack that are kept until the backward pass."""
    h, layers = config.hidden_size, config.num_hidden_layers
    queries, keys = _widths(config)
    inner = getattr(config, "intermediate_size", None) or 4 * h
    full = recipe.method == "full"
    layer = 8 * h + number * (2 * queries + 2 * keys + 3 * inner) + (2 * between * h if full else 0)
    if recipe.lora and recipe.lora.dropout and not full:
        layer += (number + 1) * sum(p.shape[1] for name, p in model.named_parameters() if "lora_A" in name) / layers
    else:
        layer += number * (2 * h + inner)
    # The last norm keeps its input in float32.
    return float(4 * h + (layers * between * h + layer if recipe.training.gradient_checkpointing else layers * layer))
