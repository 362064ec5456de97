"""Learning from pairs of better and worse answers with TRL: DPO (Rafailov et al. 2023) and KTO (Ethayarajh et al. 2024).

Against the model as it was at the start, chosen answers become likelier than rejected ones: with DPO within each pair, with KTO
answer by answer. TRL implements both; this module adds the rows, which `Renderer` makes, and dev.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from datasets import Dataset
from trl import DPOConfig, DPOTrainer, KTOConfig, KTOTrainer

from adapters.finetune import FinetuneJob, describe_checkpoints, finish, set_up
from adapters.model import load_base, trained_sums, with_lora
from adapters.trainer import DevTrainer, shared_arguments
from harness.engines.shared import brief, memory_for
from harness.errors import HarnessError, UsageError
from harness.training.checkpoints import finished_at, last_state
from harness.training.job import Trained
from harness.training.processes import processes
from prompts.render import Renderer
from prompts.rendered import TrainingRow

KINDS = {"dpo": (DPOConfig, DPOTrainer), "kto": (KTOConfig, KTOTrainer)}
"""By method, TRL's arguments and TRL's trainer."""


class PairTrainer(DevTrainer):
    """What is ours in either trainer. Its rows hold token ids."""

    means = {"loss": "train_loss", "rewards/margins": "margin"}

    def _prepare_dataset(self, dataset: Dataset, *_: Any) -> Dataset:
        # TRL would end answers in its own way, and tokenize them together with their prompts.
        return dataset


def answered_pairs(job: FinetuneJob, say: Callable[[str], None]) -> list[list[TrainingRow]]:
    """By pair, the row with the chosen and the row with the rejected answer, unless one is too long. Raises HarnessError if there
    is no pair."""
    renderer, length = Renderer(job.spec, job.tokenizer, job.length, 0), job.length
    every = [[renderer.training_row(item, answer=text) for text in job.pairs[item.id]] for item in job.items]
    pairs = [pair for pair in every if max(map(len, pair)) <= length]
    say(f"{len(pairs):,} pairs, {len(every) - len(pairs):,} dropped: longer than {length} tokens")
    if not pairs:
        raise HarnessError(f"every pair is longer than {length} tokens: raise training.max_length")
    return pairs


def columns_of(method: str, pairs: list[list[TrainingRow]], size: int, seed: int) -> list[dict[str, Any]]:
    """TRL's rows, in random order. KTO also reads each prompt with an answer that is not its own, but the one before it in its
    batch of `size` rows."""
    rows: list[dict[str, Any]] = []
    for best, worst in pairs:
        prompt = {"prompt_ids": best.prompt_ids}
        if method == "dpo":
            rows.append({**prompt, "chosen_ids": best.completion_ids, "rejected_ids": worst.completion_ids})
        else:
            rows += [{**prompt, "completion_ids": row.completion_ids, "label": row is best} for row in (best, worst)]
    Random(f"{seed}/pairs").shuffle(rows)
    for batch in (rows[start : start + size] for start in range(0, len(rows), size) if method == "kto"):
        for row, before in zip(batch, [batch[-1], *batch], strict=False):
            row["KL_completion_ids"] = before["completion_ids"]
    return rows


def train_preferences(job: FinetuneJob, folder: Path, say: Callable[[str], None]) -> Trained:
    """Train in `folder` (resuming from its last checkpoint) and write `folder/adapter`, as `adapters.finetune.finetune` does.

    Raises HarnessError if no pair is short enough, and UsageError for keys of `trainer` that TRL refuses.
    """
    training, method = job.recipe.training, job.recipe.method
    where = set_up(job.recipe)
    model = with_lora(job.recipe, load_base(job.recipe, job.base, job.layout), job.start)
    before, pairs = trained_sums(model), answered_pairs(job, say)
    size, together = training.per_device_train_batch_size or 8, processes().num_processes
    share = math.ceil(training.accumulation / together)
    rows = columns_of(method, pairs, size, training.seed)
    steps = training.max_steps or max(1, round(training.epochs * len(rows) / (size * share * together)))
    say(f"{steps} steps of {size * share * together} {'pairs' if method == 'dpo' else 'answers'}, on {where}")
    own = {
        "per_device_train_batch_size": size,
        "gradient_accumulation_steps": share,
        "max_length": None,
        "logging_steps": 1,
    }
    steps = steps if job.resume else finished_at(last_state(folder)) or steps
    counts = {"items": len(job.items), "rows": len(pairs), "dropped": len(job.items) - len(pairs), "tokens": 0}
    with memory_for(size, "--set training.per_device_train_batch_size=", unit="rows"):
        trainer = _trainer(job, folder, model, rows, shared_arguments(training, steps, folder) | own)
        describe_checkpoints(job, trainer, counts, say)
        trainer.go_on()
    counts["tokens"] = trainer.tokens
    return finish(job, folder, trainer, job.tokenizer, counts, changed=trained_sums(model) != before)


def _trainer(job: FinetuneJob, folder: Path, model: Any, rows: list[dict[str, Any]], own: dict[str, Any]) -> Any:
    """TRL's trainer, after a first step without a gradient: some values of `trainer` TRL only checks when it computes a loss.
    Raises UsageError for what it refuses."""
    training, data = job.recipe.training, Dataset.from_list(rows)
    kind, base = KINDS[job.recipe.method]
    # `judge` evaluates in place of TRL, which insists on a data set all the same.
    given = {"train_dataset": data, "eval_dataset": data.select([0]), "processing_class": job.tokenizer}
    try:
        arguments = kind(**own | job.recipe.arguments)
        trainer: Any = type("Trainer", (PairTrainer, base), {})(model, arguments, folder, **given)
        first = [trainer.train_dataset[number] for number in range(min(2, len(rows)))]
        trainer.prediction_step(model, trainer.data_collator(first), True)
    except (ValueError, NotImplementedError) as error:
        raise UsageError(f"trainer: {brief(error)}") from error
    trainer.training, trainer.patience = training, training.patience
    trainer._dev_f1 = partial(job.dev_f1, job, job.tokenizer, job.length)
    return trainer
