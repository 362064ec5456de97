"""Fine-tuning of a LoRA adapter or of all weights: loss and F1 on dev, checkpoints, and a folder that describes itself."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from adapters.layout import Layout, layout_of
from adapters.model import load_base, trainable, trained_sums
from adapters.packing import PackPlan, Packs, plan_packs
from adapters.recipe import PACKED, PAIRED, FinetuneRecipe, FinetuneTraining
from adapters.registry import HARNESS_FILE, read_record, save_template
from adapters.rows import TrainingRows, make_rows
from harness.corpora.item import Item, items_hash, own_program, own_thought
from harness.engines.models.bases import (
    base_origin,
    context_length_of,
    display_name,
    fingerprint,
    load_config,
    load_tokenizer,
)
from harness.engines.models.weights import weights_fingerprint
from harness.engines.shared import memory_for
from harness.errors import HarnessError, UsageError
from harness.runs.folder import provenance
from harness.training.checkpoints import finished_at, last_checkpoint, last_state
from harness.training.curriculum import stages
from harness.training.job import Job, Trained
from harness.training.plan import first_steps, spread
from harness.training.processes import processes
from harness.util.files import filled, write_atomically
from harness.util.hashing import json_hash
from prompts.probe import described, other_hashes
from prompts.render import Renderer, answering, save_chat_template
from prompts.shots import Shots
from prompts.spec import PromptSpec

METHODS = {"grpo": "adapters.grpo:train_grpo", **dict.fromkeys(PAIRED, "adapters.preference_training:train_preferences")}
"""The function that trains by a method, unless it is `finetune`."""


@dataclass(frozen=True, kw_only=True)
class FinetuneJob(Job):
    """An adapter or a whole model, trained on prompts in one format; `name` is the recipe's."""

    recipe: FinetuneRecipe
    base: str
    """A local folder or a hub name."""
    spec: PromptSpec
    examples: Callable[[], Shots]
    """Makes `pool`, which takes long if examples are chosen by similarity."""
    dev_f1: Callable[..., float]
    """The F1 of the current model on dev items, which it answers: `harness.prompting.dev.dev_f1`."""
    start: Path | None = None
    """The folder of an adapter to start from; None for a fresh one."""
    resume: bool = False
    """Whether to go on with a finished run, whose recipe now says more epochs or steps."""
    learned: str = ""
    """From how many items the model learns programs, and how many were left out, why; in words."""
    pairs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By item id, the better and the worse answer from which the methods dpo and kto learn."""
    gold: Mapping[str, Item] = field(default_factory=dict)
    """The train split's items as the corpus has them, by id: drawn answers are scored against them."""
    held_out: Mapping[str, Any] = field(default_factory=dict)
    """The dev and test items that `items` was compared with, as `HeldOut.compared` returns it."""

    @cached_property
    def pool(self) -> Shots:
        """The train items that may be examples of train and dev items."""
        return self.examples()

    @cached_property
    def tokenizer(self) -> Any:
        """The base's. Raises EngineError if it cannot be loaded."""
        return load_tokenizer(self.base)

    @cached_property
    def config(self) -> Any:
        """The base's. Raises EngineError if it cannot be loaded."""
        return load_config(self.base)

    @cached_property
    def base_files(self) -> dict[str, Any]:
        """What tells the base's files from another's."""
        return {"base": display_name(self.base), "base_files_fingerprint": fingerprint(self.base), **base_origin(self.base)}

    @property
    def length(self) -> int:
        """Most tokens of a row: the recipe's or the model's limit."""
        most = self.recipe.training.max_length
        return min(most, context_length_of(self.config) or most)

    @cached_property
    def layout(self) -> Layout:
        """How its rows are packed. Raises EngineError for a base that is not a causal language model."""
        return layout_of(self.config, self.length, self.recipe.training.per_device_train_batch_size)

    @cached_property
    def origin(self) -> dict[str, Any]:
        """What harness.json says of the prompt format, the base and the versions: it is in every checkpoint."""
        return {
            **described(self.spec),
            "other_prompt_hashes": other_hashes(self.spec, {item.task for item in self.items}),
            "base": display_name(self.base),
            "base_fingerprint": weights_fingerprint(self.base),
            **base_origin(self.base),
            **provenance(),
        }

    @property
    def shared(self) -> list[str]:
        """Lines about what the train items have in common with dev and test."""
        alike, targets = self.held_out.get("published_alike"), self.held_out.get("shared_targets", {})
        same = f"{alike} train items say and do the same as an item of dev or test, as the corpus was published"
        told = "have a target that is trained on; harness score --by seen tells them apart"
        seen = [f"{count} of the {total} test items of {task} {told}" for task, (count, total) in targets.items()]
        return [same, *seen] if alike else seen

    @property
    def task(self) -> str:
        return self.spec.task

    def result(self, folder: Path) -> Path:
        """The folder of the trained adapter or model in a run's folder."""
        return folder / ("model" if self.recipe.method == "full" else "adapter")

    def settings(self) -> dict[str, Any]:
        return {
            "command": "finetune",
            "recipe": {"name": self.name, **self.recipe.settings()},
            **described(self.spec),
            **self.base_files,
            **({"from": fingerprint(self.start)} if self.start else {}),
            "train_items": len(self.items),
            "train_hash": items_hash(self.items),
            **self.programs(),
            **({"pairs": json_hash(self.pairs)} if self.pairs else {}),
            **({"thoughts": json_hash({item.id: own_thought(item) for item in self.items})} if self.spec.thinks else {}),
            "dev_hash": items_hash(self.dev),
        }

    def programs(self) -> dict[str, str]:
        """The hash of the items' own programs, if these are what the model learns to answer."""
        own = {item.id: program for item in self.items if (program := own_program(item))} if self.spec.format.is_program else {}
        return {"answers": json_hash(own)} if own else {}

    def is_finished(self, folder: Path) -> bool:
        return not self.resume and (self.result(folder) / HARNESS_FILE).is_file()

    def train(self, folder: Path, say: Callable[[str], None]) -> Trained:
        trained: Trained = resolve_name(METHODS.get(self.recipe.method, "adapters.finetune:finetune"))(self, folder, say)
        return trained


def finetune(job: FinetuneJob, folder: Path, say: Callable[[str], None]) -> Trained:
    """Train in `folder` (resuming from its last checkpoint) and write `job.result(folder)`.

    Raises EngineError for a base that cannot be loaded, UsageError if it cannot be quantized, HarnessError if no row is
    short enough or memory runs out.
    """
    import torch
    from peft.helpers import disable_input_dtype_casting

    training = job.recipe.training
    where = set_up(job.recipe)
    tokenizer = job.tokenizer
    model = trainable(job.recipe, load_base(job.recipe, job.base, job.layout), job.start)
    before = trained_sums(model)
    prepared = prepare(job)
    for line in prepared.counts:
        say(line)
    rows, packs = prepared.rows, prepared.packs
    trainer = _trainer(job, folder, model, prepared)
    steps = trainer.args.max_steps
    counts = {"items": len(job.items), "rows": len(rows), "dropped": rows.dropped, "tokens": 0}
    say(f"packs: {len(packs):,}; steps: {steps:,}; tokens of a whole epoch: {packs.tokens:,}; {where}")
    if processes().process_index:
        # Dropout masks differ from process to process.
        torch.manual_seed(training.seed + processes().process_index)
    describe_checkpoints(job, trainer, counts, say)
    checkpointing = "" if training.gradient_checkpointing else ", or --set training.gradient_checkpointing=true"
    then = f"{checkpointing}, and another --name if there are checkpoints; --dry-run estimates the memory"
    # Autocast casts inputs in its matrix products; peft would copy every input to float32 first.
    with (
        disable_input_dtype_casting(model, trainer.args.bf16),
        memory_for(training.tokens, "--set training.tokens=", then, unit="tokens"),
    ):
        trainer.go_on()
    counts["tokens"] = sum(pack.tokens for pack in packs) if processes().is_main_process else 0
    return finish(job, folder, trainer, tokenizer, counts, changed=trained_sums(model) != before)


def _trainer(job: FinetuneJob, folder: Path, model: Any, prepared: Prepared) -> Any:
    from adapters.trainer import AnswerTrainer, trainer_arguments

    training, packs = job.recipe.training, prepared.packs
    if not job.resume and (ended := finished_at(last_state(folder))):
        packs = packs[: ended * training.accumulation]
    trainer = AnswerTrainer(
        model,
        trainer_arguments(training, len(packs), folder, job.recipe.arguments),
        folder,
        packs,
        prepared.dev_packs,
        job.tokenizer.pad_token_id or 0,
        partial(job.dev_f1, job, job.tokenizer, job.length),
        training,
        job.layout.packing,
    )
    trainer.patient_from = prepared.packs.staged // training.accumulation
    return trainer


def set_up(recipe: FinetuneRecipe) -> str:
    """Prepare this process for training; returns the threads and processes that train, in words. Raises UsageError if FSDP is to
    divide a model that must be whole."""
    from transformers import set_seed
    from transformers.utils.logging import disable_progress_bar

    from adapters.trainer import set_threads

    if recipe.method not in PACKED and os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true":
        raise UsageError(
            f"method {recipe.method} needs the whole model in each process, and FSDP divides it: launch without FSDP"
        )
    set_seed(recipe.training.seed)
    threads, own = set_threads(), processes()
    if not own.is_main_process:
        disable_progress_bar()
    return f"{threads} threads" if own.num_processes == 1 else f"{own.num_processes} processes with {threads} threads each"


def describe_checkpoints(job: FinetuneJob, trainer: Any, counts: Mapping[str, int], say: Callable[[str], None]) -> None:
    """Have every checkpoint tell what it is, so that it is an adapter or a model like any other; says from which one training
    resumes."""

    def describe(folder: Path) -> None:
        result = replace(_so_far(job, trainer, counts), kept=trainer.state.global_step)
        save_description(job, trainer.accelerator.unwrap_model(trainer.model), job.tokenizer, result, folder)

    trainer.describe = describe
    if checkpoint := last_checkpoint(trainer.folder / "checkpoints"):
        say(f"resuming from {checkpoint}")


def _so_far(job: FinetuneJob, trainer: Any, counts: Mapping[str, int]) -> Trained:
    steps = trainer.state.global_step
    seconds = max((entry.get("seconds", 0.0) for entry in trainer.state.log_history), default=0.0)
    kept = trainer.state.best_global_step or steps
    counts = {**counts, "dev_f1_items": len(answered_on_dev(job))}
    return Trained(steps=steps, kept=kept, seconds=seconds, curve=trainer.points, counts=counts)


def finish(job: FinetuneJob, folder: Path, trainer: Any, tokenizer: Any, counts: Mapping[str, int], *, changed: bool) -> Trained:
    """The result of a training that is over; the first process also writes `job.result(folder)`."""
    result = replace(_so_far(job, trainer, counts), effect=changed)
    # If each process holds a part of the weights, all of them must take part in gathering the whole.
    weights = trainer.accelerator.get_state_dict(trainer.model) if trainer.is_fsdp_enabled else None
    if trainer.is_world_process_zero():
        save_trained(job, trainer.accelerator.unwrap_model(trainer.model), tokenizer, result, job.result(folder), weights)
    return result


@dataclass(frozen=True)
class Prepared:
    """The data of a training."""

    job: FinetuneJob
    renderer: Renderer
    rows: TrainingRows
    """The first epoch's."""
    packs: Packs
    dev_rows: TrainingRows
    dev_packs: list[PackPlan]

    @property
    def counts(self) -> list[str]:
        """How many rows there are, a line for train and one for dev, and how they are packed."""
        parts = {"train": self.rows, "dev": self.dev_rows}
        why = f"longer than {self.job.length} tokens"
        return [
            *(f"{name}: {len(part)} rows, {part.dropped} dropped: {why}" for name, part in parts.items()),
            str(self.job.layout),
        ]


def prepare(job: FinetuneJob) -> Prepared:
    """Rows and packs; the base's weights are not needed. Raises HarnessError if no row is short enough."""
    training, length, packing = job.recipe.training, job.length, job.layout.packing
    renderer = Renderer(job.spec, job.tokenizer, length, 0)

    def rows_of(items: Sequence[Item], recolor: str | None = None) -> TrainingRows:
        return make_rows(items, renderer, job.pool, job.recipe.shots, length, recolor)

    def later(epoch: int) -> TrainingRows:
        return rows_of(job.items, f"{training.seed}/{epoch}") if training.recolor else rows

    rows, dev_rows = rows_of(job.items), rows_of(spread(job.dev, training.dev_loss_items))
    for name, part in (("train", rows), ("dev", dev_rows)):
        if not part:
            raise HarnessError(
                f"every {name} row is longer than {length} tokens: choose a shorter --context or raise training.max_length"
            )
    learned = [job.items[rows.item(n)] for n in range(len(rows))]
    curriculum = training.curriculum
    begun = stages(learned, curriculum, training.seed, renderer.history_tokens) if curriculum else []
    packs = Packs(rows, begun, training, length, packing, later)
    dev_packs = list(plan_packs(dev_rows, dev_rows.groups, training.tokens, length, packing))
    return Prepared(job, renderer, rows, packs, dev_rows, dev_packs)


def answered_on_dev(job: FinetuneJob) -> list[Item]:
    """The dev items that are answered at each evaluation: as many as the recipe says, or all if there are fewer."""
    return (first_steps if job.spec.rolls_out else spread)(job.dev, job.recipe.training.dev_f1_items)


def answer_room(training: FinetuneTraining, length: int) -> int:
    """Most tokens of an answer on dev, if a row may have `length` tokens."""
    return min(training.max_new_tokens, length // 2)


def save_trained(job: FinetuneJob, model: Any, tokenizer: Any, result: Trained, out: Path, weights: Any = None) -> None:
    """Write the adapter or the model, with its metadata; `out` is complete or absent. A model is stored in its base's
    precision (float32 if its configuration says none), with its tokenizer. `weights` are the whole model's, if this process holds
    only a part of them.
    """
    import torch

    with filled(out) as partial:
        if job.recipe.method == "full":
            dtype = getattr(job.config, "dtype", None) or torch.float32
            stored = {name: value.to(dtype) for name, value in weights.items()} if weights else None
            model.to(dtype).save_pretrained(partial, state_dict=stored)
        else:
            # TRL keeps a copy of the initial adapter, which is not part of the result.
            model.save_pretrained(partial, selected_adapters=["default"], state_dict=weights)
        save_description(job, model, tokenizer, result, partial)


def save_description(job: FinetuneJob, model: Any, tokenizer: Any, result: Trained, folder: Path) -> None:
    """Write all but the weights of an adapter or a model, so that it can be asked."""
    if job.recipe.method == "full":
        answering(tokenizer, job.spec.think).save_pretrained(folder)
    else:
        # Peft's card has blanks to fill in; `harness adapters export` writes a complete one.
        (folder / "README.md").unlink(missing_ok=True)
        save_chat_template(tokenizer, folder, job.spec.think)
    save_template(job.spec, folder)
    write_atomically(folder / HARNESS_FILE, json.dumps(_description(job, model, tokenizer, result), indent=1) + "\n")


def _description(job: FinetuneJob, model: Any, tokenizer: Any, result: Trained) -> dict[str, Any]:
    """The content of harness.json."""
    recipe = job.recipe.settings()
    if job.recipe.method != "full":
        recipe["lora"] |= _own_lora(model, job.start)
    return {
        **job.origin,
        "trained_on": sorted({item.task for item in job.items}.union(read_record(job.start).tasks if job.start else ())),
        "held_out": dict(job.held_out),
        "tokenizer": {"name": display_name(job.base), "class": type(tokenizer).__name__, "vocabulary": len(tokenizer)},
        "recipe": {"name": job.name, **recipe},
        "steps": result.steps,
        "kept": result.kept,
        "seconds": result.seconds,
        **{key: count for key, count in result.counts.items() if key != "tokens"},
        "curve": result.curve,
        "effect": result.effect,
        "tokens": result.counts["tokens"],
    }


def _own_lora(model: Any, start: Path | None) -> dict[str, Any]:
    """The LoRA settings that may differ from the recipe's: further training keeps those of the adapter that it starts from."""
    config = model.peft_config["default"]
    targets = config.target_modules
    own = {} if start is None else {"target_modules": targets if isinstance(targets, str) else sorted(targets)}
    return {"dropout": config.lora_dropout, **own}
