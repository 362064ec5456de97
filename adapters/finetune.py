"""LoRA fine-tuning with TRL and peft: loss and F1 on dev during training, checkpoints, and a folder that says what it is."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adapters.curriculum import stages
from adapters.dev import dev_f1, spread
from adapters.loop import clock, fast_bf16, last_checkpoint
from adapters.recipe import FinetuneRecipe
from adapters.registry import HARNESS_FILE
from adapters.rows import Rows, make_rows
from harness.corpora.item import Item
from harness.engines.shared import brief, keep_memory
from harness.errors import EngineError, HarnessError, UsageError
from harness.files import write_atomically
from harness.models import display_name, fingerprint, load_tokenizer
from harness.runs import provenance
from prompts.render import Renderer
from prompts.shots import ShotPool
from prompts.spec import PromptSpec


@dataclass(frozen=True)
class Job:
    """What is trained: on which base, in which prompt format, on which items."""

    recipe_name: str
    recipe: FinetuneRecipe
    base: str
    """A local folder or a hub name."""
    spec: PromptSpec
    train: Sequence[Item]
    dev: Sequence[Item]


@dataclass(frozen=True)
class Trained:
    """What a run came to. The curve has an entry for each evaluation, the first of them before the first step."""

    steps: int
    seconds: float
    items: int
    rows: int
    dropped: int
    curve: list[dict[str, float]]
    effect: bool
    """Whether training changed the adapter at all: a fresh one adds nothing to its base."""


def finetune(job: Job, folder: Path, say: Callable[[str], None]) -> Trained:
    """Train in `folder` (a run that was killed goes on from its last checkpoint) and write `folder/adapter`.

    Raises EngineError for a base that cannot be loaded, UsageError where it cannot be quantized, HarnessError where no row is
    short enough.
    """
    from transformers import set_seed

    training = job.recipe.training
    keep_memory()
    set_seed(training.seed)
    tokenizer = load_tokenizer(job.base)
    model = _load_base(job)
    length = min(training.max_length, getattr(model.config, "max_position_embeddings", training.max_length))
    renderer, pool = Renderer(job.spec, tokenizer, length, 0), ShotPool(job.train, training.seed)
    rows = make_rows(job.train, renderer, pool, training.shots, length)
    dev_rows = make_rows(spread(job.dev, training.dev_loss_items), renderer, pool, training.shots, length)
    for name, made in (("train", rows), ("dev", dev_rows)):
        say(f"{name}: {len(made.kept)} rows, {made.dropped} dropped for having more than {length} tokens")
        if not made.kept:
            raise HarnessError(
                f"no {name} row has at most {length} tokens: choose a shorter --context or raise training.max_length"
            )
    trainer = make_trainer(job, model, tokenizer, rows, dev_rows, folder)
    trainer.add_callback(_dev_f1_callback(job, tokenizer, pool, length, folder / "curve.jsonl"))
    checkpoint = last_checkpoint(folder / "checkpoints")
    if checkpoint:
        say(f"going on from {checkpoint}")
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    history = trainer.state.log_history
    seconds = max(entry.get("seconds", 0.0) for entry in history)
    counts = {"items": len(job.train), "rows": len(rows.kept), "dropped": rows.dropped}
    result = Trained(trainer.state.global_step, seconds, **counts, curve=_curve(history), effect=has_effect(trainer.model))
    _save(job, trainer.model, tokenizer, result, folder / "adapter")
    return result


def _load_base(job: Job) -> Any:
    from transformers import AutoModelForCausalLM

    how = _quantized(job) if job.recipe.quantize else {"dtype": _weights_dtype()}
    try:
        return AutoModelForCausalLM.from_pretrained(job.base, **how)
    except (OSError, ValueError) as error:
        raise EngineError(f"--base {job.base}: the model cannot be loaded: {brief(error)}") from error


def _weights_dtype() -> Any:
    import torch

    return torch.bfloat16 if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else torch.float32


def _quantized(job: Job) -> dict[str, Any]:
    from importlib.util import find_spec

    import torch

    if not torch.cuda.is_available() or find_spec("bitsandbytes") is None:
        missing = "bitsandbytes (pip install bitsandbytes)" if torch.cuda.is_available() else "an NVIDIA GPU"
        name, kind = job.recipe_name, job.recipe.quantize
        raise UsageError(f"the recipe {name} quantizes to {kind}, which needs {missing}: use llama-lora")
    from transformers import BitsAndBytesConfig

    config = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type=job.recipe.quantize,
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16,
    )
    return {"quantization_config": config, "device_map": {"": 0}}


def make_trainer(job: Job, model: Any, tokenizer: Any, rows: Rows, dev_rows: Rows, folder: Path) -> Any:
    """TRL's SFTTrainer on rows that are tokenized already: it cuts nothing and takes the loss where the mask is 1."""
    import datasets
    import torch
    from peft import LoraConfig
    from trl import SFTConfig, SFTTrainer

    datasets.disable_progress_bars()
    training, lora = job.recipe.training, job.recipe.lora
    a_step = training.batch_size * training.accumulation
    steps = training.max_steps or max(1, math.ceil(len(rows.kept) * training.epochs / a_step))
    every = max(1, math.ceil(steps / training.evaluations))
    arguments = SFTConfig(
        output_dir=str(folder / "checkpoints"),
        max_length=None,
        completion_only_loss=True,
        max_steps=steps,
        per_device_train_batch_size=training.batch_size,
        per_device_eval_batch_size=training.batch_size,
        gradient_accumulation_steps=training.accumulation,
        gradient_checkpointing=training.gradient_checkpointing,
        train_sampling_strategy="sequential",
        learning_rate=training.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=training.warmup,
        weight_decay=training.weight_decay,
        max_grad_norm=training.max_grad_norm,
        use_cpu=not torch.cuda.is_available(),
        bf16=fast_bf16(),
        eval_strategy="steps",
        eval_steps=every,
        eval_on_start=last_checkpoint(folder / "checkpoints") is None,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        logging_steps=max(1, every // 5),
        dataloader_pin_memory=torch.cuda.is_available(),
        disable_tqdm=not sys.stderr.isatty(),
        report_to="none",
        seed=training.seed,
    )
    adapter = LoraConfig(
        r=lora.r, lora_alpha=lora.alpha, lora_dropout=lora.dropout, target_modules=lora.target_modules, task_type="CAUSAL_LM"
    )
    trainer = SFTTrainer(
        model,
        arguments,
        train_dataset=ordered(job, rows, steps * a_step),
        eval_dataset=dev_rows.dataset(),
        processing_class=tokenizer,
        peft_config=adapter,
    )
    trainer.add_callback(clock())
    return trainer


def ordered(job: Job, rows: Rows, count: int) -> Any:
    """So many rows in a row: the stages of a curriculum, then all rows in another random order in every epoch."""
    training, first = job.recipe.training, list[int]()
    if training.curriculum:
        by_id = {item.id: item for item in job.train}
        kept = [by_id[row.id] for row in rows.kept]
        first = [number for stage in stages(kept, training.curriculum, training.seed) for number in stage]
    rest = rows.order(training.batch_size, math.ceil(count / training.batch_size), training.seed)
    return rows.dataset().select([*first, *rest][:count])


def _dev_f1_callback(job: Job, tokenizer: Any, pool: ShotPool, length: int, path: Path) -> Any:
    """Answers the dev items after each evaluation, and writes the curve so far to `path` as JSON Lines."""
    from transformers import TrainerCallback

    training = job.recipe.training
    items = spread(job.dev, training.dev_f1_items)

    class DevF1(TrainerCallback):  # type: ignore[misc]
        def on_evaluate(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
            entry = state.log_history[-1]
            room = min(training.max_new_tokens, length // 2)
            entry["dev_f1"] = dev_f1(model, tokenizer, job.spec, items, pool, training.shots, room, length)
            write_atomically(path, "".join(json.dumps(point) + "\n" for point in _curve(state.log_history)))

    return DevF1()


def _curve(history: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
    """The evaluations of a Trainer's log, each with the training loss last logged before it."""
    curve: list[dict[str, float]] = []
    loss: dict[str, float] = {}
    for entry in history:
        if "loss" in entry:
            loss = {"train_loss": entry["loss"]}
        if "eval_loss" in entry and "dev_f1" in entry:
            at = {"step": entry["step"], "seconds": entry["seconds"]}
            curve.append({**at, **loss, "dev_loss": entry["eval_loss"], "dev_f1": entry["dev_f1"]})
    return curve


def has_effect(model: Any) -> bool:
    """Whether any of the LoRA's second matrices, which begin as zeros, is not zero."""
    return any(bool(p.any()) for name, p in model.named_parameters() if "lora_B" in name)


def _save(job: Job, model: Any, tokenizer: Any, result: Trained, out: Path) -> None:
    """Write the adapter as peft does, and beside it what it was trained for; `out` is there whole or not at all."""
    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    model.save_pretrained(partial)
    made = provenance()
    said = {
        **asdict(job.spec),
        "prompt_hash": job.spec.hash,
        "base": display_name(job.base),
        "base_fingerprint": fingerprint(job.base),
        "tokenizer": {"name": display_name(job.base), "class": type(tokenizer).__name__, "vocabulary": len(tokenizer)},
        "recipe": {"name": job.recipe_name, **job.recipe.model_dump()},
        "versions": made["versions"],
        "git": made["git"],
        **asdict(result),
    }
    write_atomically(partial / HARNESS_FILE, json.dumps(said, indent=1) + "\n")
    shutil.rmtree(out, ignore_errors=True)
    partial.replace(out)
