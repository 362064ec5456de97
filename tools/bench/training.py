"""Fine-tuning: against TRL's SFTTrainer, and two processes against one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from harness.corpora import load
from harness.engines.shared import fast_bf16
from tools.bench.measuring import ROOT, Benchmark, Pairs, Skipped, seconds

if TYPE_CHECKING:
    from transformers import Trainer

    from adapters.recipe import FinetuneRecipe
    from adapters.rows import TrainingRows


def finetuning(procedures: int = 3) -> Pairs:
    """Tokens of rows a second in fine-tuning the default base: as `harness finetune` does it, and with TRL's SFTTrainer and
    its packing on the same rows; a procedure at a time, after an uncounted one. Both have the same loss
    (tests/unit/adapters/test_packing.py)."""
    from adapters.recipe import load_recipe
    from adapters.rows import make_rows
    from harness.engines.models.bases import DEFAULT_BASE, load_tokenizer, resolve_base
    from prompts.render import Renderer
    from prompts.shots import ShotPool
    from prompts.spec import PromptSpec

    base = resolve_base(None)
    recipe = load_recipe("llama-lora", ["training.evaluations=1", "training.accumulation=1"], base=DEFAULT_BASE)
    train = load("hexagons", "train")
    names = list(dict.fromkeys(item.cluster for item in train))[: procedures + 1]
    renderer = Renderer(PromptSpec.make("hexagons"), load_tokenizer(base), 8192, 0)

    def rates(name: str) -> tuple[float, float]:
        rows = make_rows([item for item in train if item.cluster == name], renderer, ShotPool([], 0), 0, 8192)
        tokens = rows.size
        with tempfile.TemporaryDirectory() as folder:
            packed = tokens / seconds(_packed(base, recipe, rows, Path(folder)).train)
        with tempfile.TemporaryDirectory() as folder:
            return packed, tokens / seconds(_plain(base, recipe, rows, folder).train)

    return [rates(name) for name in names][1:]


def _packed(base: str, recipe: FinetuneRecipe, rows: TrainingRows, folder: Path) -> Trainer:
    from transformers import AutoModelForCausalLM

    from adapters.attention import register
    from adapters.finetune import with_lora
    from adapters.packing import Packing, plan_packs
    from adapters.trainer import AnswerTrainer, trainer_arguments

    training = recipe.training
    packs = list(plan_packs(rows.read, rows.groups, training.tokens, 4096))
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation=register(), dtype="auto")
    arguments = trainer_arguments(training, len(packs), folder)
    arguments.set_evaluate(strategy="no")
    arguments.eval_on_start = False
    arguments.set_save(strategy="no")
    return AnswerTrainer(
        with_lora(recipe, model), arguments, folder, packs, [], 0, lambda model, **_: 0.0, training, Packing.TREE
    )


def _plain(base: str, recipe: FinetuneRecipe, rows: TrainingRows, folder: str) -> Trainer:
    import datasets
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.trainer_callback import PrinterCallback
    from trl import SFTConfig, SFTTrainer

    from adapters.finetune import with_lora
    from harness.engines.models.bases import load_tokenizer

    columns = {
        "input_ids": [row.token_ids for row in rows],
        "completion_mask": [[0] * len(row.prompt_ids) + [1] * len(row.completion_ids) for row in rows],
    }
    arguments = SFTConfig(
        folder,
        packing=True,
        max_length=max(4096, *map(len, rows)),
        completion_only_loss=True,
        num_train_epochs=1,
        per_device_train_batch_size=1,
        gradient_checkpointing=False,
        use_cpu=not torch.cuda.is_available(),
        bf16=fast_bf16(),
        report_to="none",
        disable_tqdm=True,
        save_strategy="no",
    )
    model = with_lora(recipe, AutoModelForCausalLM.from_pretrained(base, dtype="float32"))
    data = datasets.Dataset.from_dict(columns)
    trainer = SFTTrainer(model, arguments, train_dataset=data, processing_class=load_tokenizer(base))
    trainer.remove_callback(PrinterCallback)
    return trainer


def processes(procedures: int = 4, steps: int = 2) -> Pairs:
    """Tokens a second of fine-tuning the default base: two processes, with a thread or a GPU each, and one. Both take the same
    packs."""
    import torch

    from adapters.recipe import load_recipe
    from harness.engines.models.bases import DEFAULT_BASE, resolve_base

    if torch.cuda.device_count() == 1:
        raise Skipped("two processes need two GPUs")
    resolve_base(None)
    tokens = load_recipe("llama-lora", base=DEFAULT_BASE).training.tokens
    keys = {
        "tokens": tokens // 2,
        "accumulation": 4,
        "evaluations": 1,
        "dev_loss_items": 1,
        "dev_f1_items": 1,
        "max_new_tokens": 1,
    }
    words = ["finetune", "llama-lora", "--limit", str(8 * procedures), "--max-steps", str(steps)]
    words += [word for key, value in keys.items() for word in ("--set", f"training.{key}={value}")]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}

    def rate(count: int) -> float:
        launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)] if count > 1 else []
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, *launcher, "-m", "harness.cli", *words, "--name", "timed"]
            subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
            tokens = json.loads((Path(folder) / "runs/timed/adapter/harness.json").read_text())["tokens"]
            points = [json.loads(line) for line in (Path(folder) / "runs/timed/curve.jsonl").read_text().splitlines()]
        # Between the two evaluations lies the training, and one answer of one token.
        return float(tokens) / float(points[-1]["seconds"] - points[0]["seconds"])

    # Every measurement is a process of its own, which nothing warms up.
    return [(rate(2), rate(1)) for _ in range(3)]


BENCHMARKS = [
    Benchmark("training: packs / TRL's SFTTrainer", "tokens/s", 2.0, finetuning),
    Benchmark("processes: two / one", "tokens/s", 1.6, processes),
]
