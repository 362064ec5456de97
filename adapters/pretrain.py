"""Training the small built-in Llama from nothing, on the text that this harness makes."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.conversations import TASKS, ConversationBatches, make_pools, tokenizer_texts
from adapters.dev import dev_f1, spread
from adapters.loop import clock, last_checkpoint
from adapters.recipe import PretrainRecipe, Shape
from adapters.tokenizer import train_tokenizer
from harness.corpora import load
from harness.engines.shared import keep_memory
from harness.errors import HarnessError
from prompts.shots import ShotPool
from prompts.spec import PromptSpec

MAX_BYTES = 12_000_000
"""Of the weights in float16: the built-in base model is part of the package."""
TOKENIZER_ITEMS = 1000


@dataclass(frozen=True)
class Pretrained:
    """What a run of pretraining came to."""

    steps: int
    tokens: int
    seconds: float
    curve: Sequence[dict[str, float]]
    parameters: int
    dev_f1: dict[str, dict[str, float]]
    """By task and number of examples in the prompt."""


def new_llama(shape: Shape, tokenizer: Any) -> Any:
    """A Llama with random weights (torch's generator), tied embeddings and the tokenizer's special tokens."""
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=shape.vocab_size,
            hidden_size=shape.hidden_size,
            intermediate_size=shape.intermediate_size,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            num_key_value_heads=shape.heads,
            max_position_embeddings=shape.context_length,
            tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def pretrain(recipe: PretrainRecipe, folder: Path, out: Path) -> Pretrained:
    """Train in `folder` (checkpoints; a run that was killed goes on) and write the model in float16 to `out`.

    Raises HarnessError if the weights take more than `MAX_BYTES`.
    """
    from transformers import set_seed

    training, data = recipe.training, recipe.data
    keep_memory()
    set_seed(training.seed)
    pools = make_pools(data, "train", training.seed)
    tokenizer = _tokenizer(folder / "tokenizer", recipe, pools)
    batches = ConversationBatches(pools, data, tokenizer, training.steps, training.seed)
    held_out = data.model_copy(update={"primer_share": 0.0, "default_share": 1.0, "recolor_share": 0.0, "prompt_weight": 0.0})
    dev_pools = make_pools(held_out, "dev", training.seed)
    dev = ConversationBatches(dev_pools, held_out, tokenizer, training.eval_batches, "dev")
    model = new_llama(recipe.shape, tokenizer)
    trainer = make_trainer(model, recipe, batches, dev, folder)
    checkpoint = last_checkpoint(folder / "checkpoints")
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    f1 = {task: _few_shot(trainer.model, tokenizer, task, training.dev_items) for task in TASKS}
    state = trainer.state
    curve = [entry for entry in state.log_history if "loss" in entry or "eval_loss" in entry]
    seconds = max(entry["seconds"] for entry in curve)
    save(trainer.model, tokenizer, out)
    parameters = sum(p.numel() for p in model.parameters())
    return Pretrained(state.global_step, int(state.num_input_tokens_seen), seconds, curve, parameters, f1)


def _tokenizer(folder: Path, recipe: PretrainRecipe, pools: Any) -> Any:
    from transformers import AutoTokenizer

    if not (folder / "tokenizer_config.json").is_file():
        texts = tokenizer_texts(pools, TOKENIZER_ITEMS, recipe.training.seed)
        train_tokenizer(texts, recipe.shape.vocab_size).save_pretrained(folder)
    return AutoTokenizer.from_pretrained(folder)


def make_trainer(model: Any, recipe: PretrainRecipe, batches: Any, dev: Any, folder: Path) -> Any:
    """A transformers Trainer whose loss is the weighted mean over tokens that the batches ask for."""
    import sys

    import torch
    from transformers import Trainer, TrainingArguments

    class WeightedTrainer(Trainer):  # type: ignore[misc]
        def compute_loss(
            self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            # Padding is on the right, where a causal model does not look: no mask is needed.
            logits = model(input_ids=inputs["input_ids"], use_cache=False).logits[:, :-1]
            targets, weights = inputs["input_ids"][:, 1:], inputs["weights"][:, 1:]
            losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), reduction="none")
            loss = (losses * weights.flatten()).sum() / weights.sum()
            return (loss, {"logits": logits}) if return_outputs else loss

    training = recipe.training
    every = max(1, math.ceil(training.steps / training.evaluations))
    arguments = TrainingArguments(
        output_dir=str(folder / "checkpoints"),
        max_steps=training.steps,
        per_device_train_batch_size=1,
        per_device_eval_batch_size=1,
        learning_rate=training.learning_rate,
        lr_scheduler_type="cosine_with_min_lr",
        lr_scheduler_kwargs={"min_lr_rate": 0.05},
        warmup_steps=training.warmup_steps,
        weight_decay=training.weight_decay,
        adam_beta2=0.95,
        max_grad_norm=1.0,
        use_cpu=not torch.cuda.is_available(),
        bf16=training.bf16,
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        logging_steps=max(1, every // 5),
        prediction_loss_only=True,
        label_names=["weights"],
        remove_unused_columns=False,
        include_num_input_tokens_seen="all",
        dataloader_pin_memory=False,
        disable_tqdm=not sys.stderr.isatty(),
        report_to="none",
        seed=training.seed,
    )
    trainer = WeightedTrainer(model, arguments, data_collator=lambda batch: batch[0], train_dataset=batches, eval_dataset=dev)
    trainer.add_callback(clock())
    return trainer


def _few_shot(model: Any, tokenizer: Any, task: str, count: int) -> dict[str, float]:
    """Dev F1 with 0 and with 5 examples, in the task's default prompt format."""
    if count == 0:
        return {}
    spec, items, pool = PromptSpec.make(task), spread(load(task, "dev"), count), ShotPool(load(task, "train"), seed=0)
    return {str(shots): dev_f1(model, tokenizer, spec, items, pool, shots) for shots in (0, 5)}


def save(model: Any, tokenizer: Any, out: Path) -> None:
    """Write config, float16 weights, tokenizer and greedy generation settings to `out`, replacing what is there."""
    import torch
    from transformers import GenerationConfig

    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    model.generation_config = GenerationConfig(
        do_sample=False,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model.to(torch.float16).save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    size = sum(path.stat().st_size for path in partial.glob("*.safetensors"))
    if size > MAX_BYTES:
        raise HarnessError(
            f"{partial}: the weights take {size:,} bytes, more than {MAX_BYTES:,}: make the recipe's shape smaller"
        )
    shutil.rmtree(out, ignore_errors=True)
    partial.replace(out)
