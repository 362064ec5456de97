"""The model that a training changes: its base, with an adapter or with all weights trained."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from adapters.layout import Layout, attention_of
from adapters.recipe import PACKED, FinetuneRecipe
from harness.engines.models.bases import savable
from harness.engines.shared import brief, in_bf16, missing_for_quantization, quantized_weights
from harness.engines.transformers import empty_model, with_adapter
from harness.errors import EngineError, UsageError
from harness.training.processes import processes
from harness.util.processes import trusts_remote_code

STATE_SPACE = ("falcon_h1", "falcon_mamba", "mamba", "mamba2", "nemotron_h")
"""Types of models whose out_proj and conv1d peft refuses."""


def load_base(recipe: FinetuneRecipe, base: str, layout: Layout) -> Any:
    """The model of a local folder or a hub name, for training, with an attention that takes the masks of packs.

    Raises EngineError if it cannot be loaded, UsageError if it cannot be quantized here.
    """
    import torch
    from transformers import AutoModelForCausalLM

    # Weights that are trained need float32: in bfloat16, small steps are rounded away.
    half = in_bf16(recipe.training.precision) and recipe.method != "full"
    how = _quantized(recipe) if recipe.quantize else {"dtype": torch.bfloat16 if half else torch.float32}
    # Our own attention is for packs.
    plain = None if recipe.method in PACKED or layout.attention else "sdpa"
    how |= {"attn_implementation": attention_of(layout, recipe.training.attn_implementation or plain)}
    try:
        return savable(AutoModelForCausalLM.from_pretrained(base, trust_remote_code=trusts_remote_code(), **how))
    except (ImportError, OSError, ValueError) as error:
        raise EngineError(f"--base {base}: the model cannot be loaded: {brief(error)}") from error


def _quantized(recipe: FinetuneRecipe) -> dict[str, Any]:
    if missing := missing_for_quantization():
        name, kind = recipe.file.stem, recipe.quantize
        raise UsageError(f"the recipe {name} quantizes to {kind}, which needs {missing}: use llama-lora")
    config = quantized_weights(recipe.quantize or "nf4", double=recipe.double_quantization, precision=recipe.training.precision)
    return {"quantization_config": config, "device_map": {"": processes().local_process_index}}


def trainable(recipe: FinetuneRecipe, model: Any, start: Path | None = None) -> Any:
    """The model as the recipe's method trains it. Raises UsageError for a `start` that the method cannot begin with."""
    if recipe.method != "full":
        return with_lora(recipe, model, start)
    if start is not None:
        raise UsageError(f"--from {start}: a full fine-tuning begins with a whole model: give its folder with --base")
    return model.requires_grad_(True)


def without_weights(recipe: FinetuneRecipe, config: Any) -> Any:
    """The model as `trainable` makes it, on the device meta. Raises UsageError if the recipe does not fit the base."""
    import torch

    # Quantized weights exist on a GPU only.
    plain = recipe.model_copy(update={"quantize": None})
    with torch.device("meta"):
        return trainable(plain, empty_model(config))


def with_lora(recipe: FinetuneRecipe, model: Any, start: Path | None = None) -> Any:
    """The model with an adapter; only the adapter is trained. Raises UsageError if `start` does not match the recipe."""
    from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training

    lora, checkpointing = recipe.lora, recipe.training.gradient_checkpointing
    assert lora is not None
    if recipe.quantize:
        model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=checkpointing)
    if start is None:
        own = {
            "r": lora.r,
            "lora_alpha": lora.alpha,
            # peft has no dropout for experts whose weights are one tensor.
            "lora_dropout": 0.0
            if any("experts" in name and p.ndim == 3 for name, p in model.named_parameters())
            else lora.dropout,
            "target_modules": lora.target_modules,
            "exclude_modules": _without_lora(model),
            "task_type": "CAUSAL_LM",
        }
        try:
            adapted = get_peft_model(model, LoraConfig(**own | recipe.peft))
        except (ValueError, TypeError, NotImplementedError) as error:
            raise UsageError(f"the recipe's keys lora and peft do not fit the base: {brief(error)}") from error
    else:
        adapted = with_adapter(model, start, trainable=True)
        there = adapted.peft_config["default"]
        if (there.r, there.lora_alpha) != (lora.r, lora.alpha):
            raise UsageError(
                f"--from {start}: rank {there.r}, alpha {there.lora_alpha}; the recipe has {lora.r} and {lora.alpha}: "
                f"--set lora.r={there.r} --set lora.alpha={there.lora_alpha}"
            )
        for key, value in recipe.peft.items():
            if (own_value := getattr(there, key)) != value:
                raise UsageError(
                    f"--from {start}: its {key} is {own_value}: leave out peft.{key}, which is {value} in the recipe"
                )
    if checkpointing:
        adapted.enable_input_require_grads()
    return adapted


def _without_lora(model: Any) -> str | None:
    """A pattern of the modules that get no LoRA; None if all may get it. In a model that sees or hears, these are all modules
    outside the text decoder; in state-space layers, modules whose weights are used directly, so that LoRA would do nothing."""
    config = model.config
    if config.get_text_config() is not config:
        decoder = model.get_decoder()
        name = next(name for name, module in model.named_modules() if module is decoder)
        return rf"(?!{re.escape(name)}\.).*"
    if config.model_type in STATE_SPACE:
        return r".*\.(out_proj|conv1d)"
    # Llama 4's router is a linear layer by its class but returns two values.
    return r".*\.router" if config.model_type.startswith("llama4") else None


def trained_sums(model: Any) -> list[float]:
    """The sum of each trained weight matrix: if none changes, training had no effect."""
    return [float(p.detach().double().sum()) for p in model.parameters() if p.requires_grad]
