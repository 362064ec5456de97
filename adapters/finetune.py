"""LoRA fine-tuning with peft: loss and F1 on dev during training, checkpoints, and a self-describing adapter folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from adapters.dev import dev_f1, first_steps, spread
from adapters.packing import Pack, pack_rows
from adapters.recipe import FinetuneRecipe
from adapters.registry import HARNESS_FILE, save_template
from adapters.rows import Rows, epochs, make_rows, make_together, recolored
from adapters.trainer import AnswerTrainer, plain_attention, set_threads, stopped_at, trainer_arguments
from harness.corpora.item import Item
from harness.engines.bases import base_origin, display_name, load_tokenizer
from harness.engines.shared import brief, fast_bf16, keep_memory
from harness.engines.weights import weights_fingerprint
from harness.errors import EngineError, HarnessError, UsageError
from harness.runs.folder import provenance
from harness.training.checkpoints import last_checkpoint
from harness.training.curriculum import stages
from harness.training.processes import processes
from harness.training.watched import curve
from harness.util.files import write_atomically
from prompts.probe import described
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
    start: Path | None = None
    """The folder of an adapter to start from; None for a fresh one."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Target answers by item id; other items get what the format writes for their gold actions."""
    gold: Sequence[Item] = ()
    """The train items as the corpus has them, by which drawn answers are scored."""


@dataclass(frozen=True)
class Trained:
    """The result of a run. The curve has an entry for each evaluation, the first one before the first step."""

    steps: int
    kept: int
    """The step whose adapter was kept."""
    seconds: float
    items: int
    rows: int
    dropped: int
    curve: list[dict[str, float]]
    effect: bool
    """Whether training changed the adapter at all: a fresh one adds nothing to its base."""


def finetune(job: Job, folder: Path, say: Callable[[str], None]) -> Trained:
    """Train in `folder` (resuming from its last checkpoint) and write `folder/adapter`.

    Raises EngineError for a base that cannot be loaded, UsageError if it cannot be quantized, HarnessError if no row is
    short enough.
    """
    import torch
    from peft.helpers import disable_input_dtype_casting
    from transformers import set_seed
    from transformers.utils.logging import disable_progress_bar

    training = job.recipe.training
    keep_memory()
    set_seed(training.seed)
    threads = set_threads()
    own = processes()
    if not own.is_main_process:
        disable_progress_bar()
    tokenizer = load_tokenizer(job.base)
    model = with_lora(job.recipe, load_base(job), job.start)
    length = min(training.max_length, getattr(model.config, "max_position_embeddings", training.max_length))
    renderer, pool = Renderer(job.spec, tokenizer, length, 0), ShotPool(job.train, training.seed)
    share = plain_attention(model.config)
    rows, packs = _train_packs(job, renderer, pool, share)
    dev_rows = make_rows(spread(job.dev, training.dev_loss_items), renderer, pool, training.shots, length)
    for name, part in (("train", rows), ("dev", dev_rows)):
        say(f"{name}: {len(part.kept)} rows, {part.dropped} dropped: longer than {length} tokens")
        if not part.kept:
            raise HarnessError(
                f"every {name} row is longer than {length} tokens: choose a shorter --context or raise training.max_length"
            )
    say(f"{sum(len(pack.input_ids) for pack in packs):,} tokens in {len(packs)} packs, on {_machine(threads)}")
    if idle := -training.accumulation % own.num_processes:
        say(
            f"Some processes are idle at the end of every step: {training.accumulation} packs do not go round; "
            f"--set training.accumulation={training.accumulation + idle} keeps them busy, with larger steps"
        )
    if ended := stopped_at(folder, training.patience):
        packs = packs[: ended * training.accumulation]
    trainer = AnswerTrainer(
        model,
        trainer_arguments(training, len(packs), folder),
        folder,
        packs,
        list(pack_rows(dev_rows.groups, training.tokens, length, share=share)),
        tokenizer.pad_token_id or 0,
        partial(answer_dev, job, tokenizer, pool, length),
        training,
    )
    if own.process_index:
        # What dropout leaves out differs from process to process.
        torch.manual_seed(training.seed + own.process_index)
    if checkpoint := last_checkpoint(folder / "checkpoints"):
        say(f"resuming from {checkpoint}")
    # Autocast does it in its matrix products; peft would copy every input to float32 first.
    with disable_input_dtype_casting(model, fast_bf16()):
        trainer.go_on()
    history = trainer.state.log_history
    seconds = max(entry.get("seconds", 0.0) for entry in history)
    counts = {"items": len(job.train), "rows": len(rows.kept), "dropped": rows.dropped}
    points, changed = curve(history, trainer.columns), has_effect(trainer.model)
    steps = trainer.state.global_step
    kept = trainer.state.best_global_step or steps
    result = Trained(steps, kept, seconds, **counts, curve=points, effect=changed)
    # Where each process holds a part of the weights, all of them gather the whole.
    weights = trainer.accelerator.get_state_dict(trainer.model) if trainer.is_fsdp_enabled else None
    if own.is_main_process:
        whole = trainer.accelerator.unwrap_model(trainer.model)
        save_adapter(job, whole, tokenizer, result, folder / "adapter", weights)
    return result


def _train_packs(job: Job, renderer: Renderer, pool: ShotPool, share: bool) -> tuple[Rows, list[Pack]]:
    """The rows of the first epoch, and the packs of the whole run, in order."""
    training = job.recipe.training
    length = renderer.budget

    def make(epoch: int) -> Rows:
        if epoch and not training.recolor:
            return first
        items, answers = recolored(job.train, job.answers, epoch, training.seed)
        return make_together(items, lambda part: make_rows(part, renderer, pool, training.shots, length, answers))

    first = make_together(job.train, lambda part: make_rows(part, renderer, pool, training.shots, length, job.answers))
    if not first.kept:
        return first, []
    packs = _curriculum_packs(job, first, length, share)
    wanted = (training.max_steps or 0) * training.accumulation
    for epoch in epochs(make, training.tokens, length, training.seed, share=share):
        wanted = wanted or max(training.accumulation, round(training.epochs * len(epoch)))
        packs += epoch
        if len(packs) >= wanted:
            break
    return first, packs[: wanted - wanted % training.accumulation]


def _curriculum_packs(job: Job, rows: Rows, length: int, share: bool) -> list[Pack]:
    """The stages of a curriculum, if there is one."""
    training = job.recipe.training
    if not training.curriculum:
        return []
    kept = rows.kept
    by_id = {item.id: item for item in job.train}
    curriculum = stages([by_id[row.id] for row in kept], training.curriculum, training.seed)
    packs = (pack_rows(([kept[n]] for n in stage), training.tokens, length, share=share) for stage in curriculum)
    return list(chain.from_iterable(packs))


def _machine(threads: int) -> str:
    count = processes().num_processes
    return f"{threads} threads" if count == 1 else f"{count} processes with {threads} threads each"


def answer_dev(job: Job, tokenizer: Any, pool: ShotPool, length: int, model: Any, *, in_step: bool = False) -> float:
    """F1 of a model on the dev items that the recipe asks during training; `in_step` is that of `dev_f1`."""
    training = job.recipe.training
    room = min(training.max_new_tokens, length // 2)
    items = (first_steps if job.spec.rolls_out else spread)(job.dev, training.dev_f1_items)
    return dev_f1(model, tokenizer, job.spec, items, pool, training.shots, room, length, in_step=in_step)


def load_base(job: Job) -> Any:
    """The model, for training. Raises EngineError if it cannot be loaded, UsageError if it cannot be quantized here."""
    import torch
    from transformers import AutoModelForCausalLM

    from adapters.attention import register

    how = _quantized(job) if job.recipe.quantize else {"dtype": torch.bfloat16 if fast_bf16() else torch.float32}
    # Packs need a custom mask, which the usual GPU attention does not accept.
    attention = "sdpa" if torch.cuda.is_available() else register()
    try:
        return AutoModelForCausalLM.from_pretrained(job.base, attn_implementation=attention, **how)
    except (OSError, ValueError) as error:
        raise EngineError(f"--base {job.base}: the model cannot be loaded: {brief(error)}") from error


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
    return {"quantization_config": config, "device_map": {"": processes().local_process_index}}


def with_lora(recipe: FinetuneRecipe, model: Any, start: Path | None = None) -> Any:
    """The model with an adapter; only the adapter is trained. Raises UsageError if `start` does not match the recipe."""
    from peft import LoraConfig, PeftModel, get_peft_model, prepare_model_for_kbit_training

    lora, checkpointing = recipe.lora, recipe.training.gradient_checkpointing
    if recipe.quantize:
        model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=checkpointing)
    if start is None:
        config = LoraConfig(
            r=lora.r, lora_alpha=lora.alpha, lora_dropout=lora.dropout, target_modules=lora.target_modules, task_type="CAUSAL_LM"
        )
        adapted = get_peft_model(model, config)
    else:
        adapted = PeftModel.from_pretrained(model, start, is_trainable=True)
        there = adapted.peft_config["default"]
        # Peft looks the base up on every save, by a name that may be none of the hub's.
        there.base_model_name_or_path = model.name_or_path
        if (there.r, there.lora_alpha) != (lora.r, lora.alpha):
            raise UsageError(
                f"--from {start}: rank {there.r}, alpha {there.lora_alpha}; the recipe has {lora.r} and {lora.alpha}: "
                f"--set lora.r={there.r} --set lora.alpha={there.lora_alpha}"
            )
    if checkpointing:
        adapted.enable_input_require_grads()
    return adapted


def has_effect(model: Any) -> bool:
    """Whether any of the LoRA's second matrices, which start as zeros, is nonzero."""
    return any(bool(p.any()) for name, p in model.named_parameters() if "lora_B" in name)


def save_adapter(job: Job, model: Any, tokenizer: Any, result: Trained, out: Path, weights: Any = None) -> None:
    """Write the adapter as peft does, with its metadata beside it; `out` is complete or absent.

    `weights` are the model's, where it holds only a part of them itself.
    """
    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    # GRPO keeps a copy of the adapter as it was, which is not part of the result.
    model.save_pretrained(partial, selected_adapters=["default"], state_dict=weights)
    origin = provenance()
    description = {
        **described(job.spec),
        "base": display_name(job.base),
        "base_fingerprint": weights_fingerprint(job.base),
        **base_origin(job.base),
        "tokenizer": {"name": display_name(job.base), "class": type(tokenizer).__name__, "vocabulary": len(tokenizer)},
        "recipe": {"name": job.recipe_name, **job.recipe.model_dump()},
        "versions": origin["versions"],
        "git": origin["git"],
        **asdict(result),
    }
    save_template(job.spec, partial)
    write_atomically(partial / HARNESS_FILE, json.dumps(description, indent=1) + "\n")
    shutil.rmtree(out, ignore_errors=True)
    partial.replace(out)
