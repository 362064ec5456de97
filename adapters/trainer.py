"""The training loop of adapters: transformers' Trainer on packs of rows, with loss and F1 on dev along the way."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise, takewhile
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import torch
from transformers import TrainerCallback, TrainingArguments

from adapters.labels import Packing, collate, fuse_head, summed_loss
from adapters.packing import PackPlan, PackShards
from harness.engines.shared import in_bf16
from harness.training.checkpoints import last_checkpoint
from harness.training.processes import gathered, processes
from harness.training.watched import Columns, Watched, trackers

if TYPE_CHECKING:
    from adapters.recipe import FinetuneTraining


def set_threads() -> int:
    """Have torch use the free cores, or OMP_NUM_THREADS if set; returns their number.

    Two threads on busy cores wait for each other at every small operation: ten times slower than one.
    """
    if "OMP_NUM_THREADS" not in os.environ and not torch.cuda.is_available():
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        torch.set_num_threads(max(1, round(cores - os.getloadavg()[0])))
    return int(torch.get_num_threads())


class DevTrainer(Watched):
    """A Trainer that keeps the best checkpoint on dev."""

    training: FinetuneTraining
    means: Mapping[str, str]
    """The logged values whose means since the last evaluation belong to the curve, and their names there."""
    _dev_f1: Callable[..., float]
    describe: Callable[[Path], None] | None = None
    """Writes beside the weights of a checkpoint what they are."""

    def write_weights(self, folder: str) -> None:
        super().write_weights(folder)
        if self.describe and self.is_world_process_zero():
            self.describe(Path(folder))

    @property
    def columns(self) -> Columns:  # type: ignore[override]
        """The curve's values: step, seconds, the `means` and the F1 on dev."""
        own = {f"eval_{name}": name for name in self.means.values()}
        return {"step": "step", "seconds": "seconds", **own, "eval_f1": "dev_f1"}

    @property
    def tokens(self) -> int:
        """The tokens that TRL has counted in all steps. DPO and KTO count from 0 again where training was resumed."""
        logged = [int(entry["num_tokens"]) for entry in self.state.log_history if "num_tokens" in entry]
        return sum(now - last if now >= last else now for last, now in pairwise([0, *logged]))

    def go_on(self) -> None:
        """As in `Watched`. If a checkpoint also holds TRL's copy of the initial adapter, from which it measures the divergence,
        Trainer loads only that copy, so the trained adapter is loaded here."""
        checkpoint = last_checkpoint(self.folder / "checkpoints")
        if checkpoint and "ref" in getattr(self.model, "peft_config", {}):
            self.model.load_adapter(str(checkpoint), "default", is_trainable=True)
            self.model.set_adapter("default")
        super().go_on()

    def judge(self) -> dict[str, float]:
        """F1 on dev, and the `means`."""
        since = list(takewhile(lambda entry: "eval_f1" not in entry, reversed(self.state.log_history)))
        logged = {name: [entry[key] for entry in since if entry.get(key) is not None] for key, name in self.means.items()}
        means = {f"eval_{name}": fmean(values) for name, values in logged.items() if values}
        with torch.autocast(self.args.device.type, torch.bfloat16, enabled=self.args.bf16):
            return means | {"eval_f1": self._dev_f1(self.model)}

    @staticmethod
    def score(point: Mapping[str, float]) -> tuple[bool, float, float]:
        """The key by which points are ranked: F1, then the loss; the point before the first step comes last."""
        return point["step"] > 0, point["dev_f1"], -point.get("dev_loss", 0.0)

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """As in `Watched`, plus `eval_best`, by which Trainer recognizes a new best point: its step, otherwise -1."""
        metrics = super().evaluate(*args, **kwargs)
        step, best = self.state.global_step, max(self.points, key=self.score)["step"]
        return metrics | {"eval_best": float(step if step == best else -1)}


class _SaveWhenLogged(TrainerCallback):  # type: ignore[misc]
    """Saves a checkpoint whenever the loss is logged. Trainer saves after an evaluation, which may take long and be killed."""

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        control.should_save |= state.global_step % state.logging_steps == 0


class AnswerTrainer(DevTrainer):
    """A Trainer whose batches are packs and whose loss is the mean over the answers' tokens of a whole step.

    A step has `training.accumulation` packs, over all processes. `dev_f1` answers dev items with the model as it is.
    """

    columns = {
        "step": "step",
        "seconds": "seconds",
        "eval_train_loss": "train_loss",
        "eval_loss": "dev_loss",
        "eval_f1": "dev_f1",
    }

    def __init__(
        self,
        model: Any,
        arguments: TrainingArguments,
        folder: Path,
        packs: Sequence[PackPlan],
        dev_packs: Sequence[PackPlan],
        pad: int,
        dev_f1: Callable[..., float],
        training: FinetuneTraining,
        packing: Packing,
    ) -> None:
        self.training, self.patience, self._dev_f1 = training, training.patience, dev_f1
        self._collate, self.fused = partial(_collated, packing=packing, pad=pad), fuse_head(model)
        count = processes().num_processes
        train = PackShards(packs, training.accumulation, count) if count > 1 else packs
        dev = PackShards(dev_packs, count, count)
        super().__init__(model, arguments, folder, data_collator=self._collate, train_dataset=train, eval_dataset=dev)
        if hasattr(model, "peft_config"):  # All weights of a large model take too long to write so often.
            self.add_callback(_SaveWhenLogged())
        # `compute_loss` divides by the labels of the whole step.
        self.model_accepts_loss_kwargs = True

    def get_batch_samples(self, epoch_iterator: Iterator[Any], num_batches: int, device: Any) -> tuple[list[Any], Any]:
        """The packs of a step, and the number of their labels over all processes. Trainer expects a label for every token of a
        sequence and leaves out the first, so it would count one too few for each pack."""
        packs = list(islice(epoch_iterator, num_batches))
        labels = torch.tensor(sum(len(pack["labels"]) for pack in packs), device=device)
        return packs, self.accelerator.gather(labels).sum()

    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None) -> Any:
        labels = inputs.pop("labels")
        loss = summed_loss(model, inputs, labels, fused=self.fused)
        # `num_items_in_batch` counts the labels of all processes, but gradients are averaged over processes.
        tokens = max(1, len(labels)) if num_items_in_batch is None else num_items_in_batch / self.args.world_size
        return loss / tokens

    def judge(self) -> dict[str, float]:
        """Loss and F1 on dev, and the last logged train loss."""
        with torch.autocast(self.args.device.type, torch.bfloat16, enabled=self.args.bf16):
            in_step = self.is_fsdp_enabled or self.is_deepspeed_enabled
            metrics = {"eval_loss": self.dev_loss(), "eval_f1": self._dev_f1(self.model, in_step=in_step)}
        losses = [entry["loss"] for entry in self.state.log_history if "loss" in entry]
        return metrics | ({"eval_train_loss": losses[-1]} if losses else {})

    def dev_loss(self) -> float:
        """The mean loss over the tokens of the answers."""
        total, tokens, training = 0.0, 0, self.model.training
        self.model.eval()
        with torch.no_grad():
            for number in range(self.args.process_index, len(self.eval_dataset), self.args.world_size):
                plan = self.eval_dataset[number]
                inputs = {name: value.to(self.args.device) for name, value in self._collate([plan]).items()}
                total += plan.labels * float(self.compute_loss(self.model, inputs))
                tokens += plan.labels
        self.model.train(training)
        return sum(gathered(total)) / sum(gathered(tokens))


def _collated(plans: Sequence[PackPlan], **options: Any) -> dict[str, Any]:
    (plan,) = plans
    return collate(plan.write(), **options)


def shared_arguments(training: FinetuneTraining, steps: int, folder: Path) -> dict[str, Any]:
    """Trainer's arguments that all methods have in common; checkpoints go to `folder/checkpoints`, one at each evaluation."""
    every = max(1, math.ceil(steps / training.evaluations))
    return {
        "output_dir": str(folder / "checkpoints"),
        "max_steps": steps,
        "gradient_checkpointing": training.gradient_checkpointing,
        "learning_rate": training.learning_rate,
        "lr_scheduler_type": "cosine",
        "warmup_steps": training.warmup,
        "weight_decay": training.weight_decay,
        "max_grad_norm": training.max_grad_norm,
        "use_cpu": not torch.cuda.is_available(),
        "bf16": in_bf16(training.precision),
        "eval_strategy": "steps",
        "eval_steps": every,
        "eval_on_start": last_checkpoint(folder / "checkpoints") is None,
        "save_strategy": "steps",
        "save_steps": every,
        # The best checkpoint, if it is kept, and the last.
        "save_total_limit": 2,
        "load_best_model_at_end": training.keep == "best",
        "metric_for_best_model": "eval_best" if training.keep == "best" else None,
        "greater_is_better": True,
        "remove_unused_columns": False,
        "ddp_find_unused_parameters": False,
        "dataloader_pin_memory": torch.cuda.is_available(),
        "disable_tqdm": True,
        "report_to": trackers(),
        "run_name": folder.name,
        "project": "grid-world-harness",
        "seed": training.seed,
        **({} if training.optimizer == "adamw" else {"optim": training.optimizer}),
    }


def trainer_arguments(
    training: FinetuneTraining, packs: int, folder: Path, more: Mapping[str, Any] | None = None
) -> TrainingArguments:
    """Trainer's arguments for a number of packs; checkpoints go to `folder/checkpoints`. `more` are the recipe's own."""
    shared = shared_arguments(training, max(1, packs // training.accumulation), folder)
    own = {
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": math.ceil(training.accumulation / processes().num_processes),
        "train_sampling_strategy": "sequential",
        # A worker builds packs while a GPU learns. Beside a training on a CPU it gains nothing, and as a copy of this process it
        # keeps the memory that this one frees.
        "dataloader_num_workers": int(torch.cuda.is_available()),
        "torch_compile": training.torch_compile,
        "use_liger_kernel": training.use_liger_kernel,
        # Liger's loss would replace TRL's fused head, and takes only one label per token.
        "liger_kernel_config": {"fused_linear_cross_entropy": False},
        "logging_steps": max(1, shared["eval_steps"] // 5),
        "label_names": ["labels"],
    }
    return TrainingArguments(**shared | own | dict(more or {}))
