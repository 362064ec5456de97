"""Fine-tuning against TRL's SFTTrainer."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.packing import PackPlan, plan_packs
from harness.corpora import load
from harness.engines.models.bases import load_config
from harness.engines.shared import in_bf16
from prompts.rendered import TrainingRow
from tools.bench.measuring import Pairs, parts, seconds, small_model

if TYPE_CHECKING:
    from transformers import Trainer

    from adapters.recipe import FinetuneRecipe


STEPS, PARTS, TOKENS, VOCABULARY = 200, 4, 1536, 4096


def finetuning() -> Pairs:
    """Tokens of rows a second in fine-tuning a small model: as `harness finetune` does it, and with TRL's SFTTrainer and its
    packing on the same rows, in about 200 steps. A quarter of the rows is taken at a time, after an uncounted group. A pack
    has the loss of its rows one by one (tests/unit/adapters/test_kernels.py)."""
    from adapters.recipe import load_recipe
    from adapters.rows import make_rows
    from harness.engines.models.bases import DEFAULT_BASE, load_tokenizer, resolve_base
    from prompts.render import Renderer
    from prompts.shots import ShotPool
    from prompts.spec import PromptSpec

    settings = [f"training.tokens={TOKENS}", "training.evaluations=1", "training.accumulation=1"]
    recipe = load_recipe("llama-lora", settings, base=DEFAULT_BASE)
    renderer = Renderer(PromptSpec.make("hexagons"), load_tokenizer(resolve_base(None)), TOKENS, 0)
    groups: list[list[TrainingRow]] = []
    for _, items in groupby(load("hexagons", "train"), lambda item: item.cluster):
        made = make_rows(list(items), renderer, ShotPool([], 0), 0, TOKENS)
        groups += [[_small(made[number]) for number in group] for group in made.groups]
        if sum(len(row) for group in groups for row in group) > STEPS * TOKENS:
            break
    with tempfile.TemporaryDirectory() as base:
        small_model(base, VOCABULARY)
        pairs = [_rates(base, recipe, part) for part in (groups[:1], *parts(groups, PARTS))]
    return pairs[1:]


def _small(row: TrainingRow) -> TrainingRow:
    """The row in a small vocabulary, so that the output head takes as small a share of the model as in larger models."""
    prompt, answer = (tuple(token % VOCABULARY for token in ids) for ids in (row.prompt_ids, row.completion_ids))
    return replace(row, prompt_ids=prompt, completion_ids=answer)


def _rates(base: str, recipe: "FinetuneRecipe", groups: Sequence[Sequence[TrainingRow]]) -> tuple[float, float]:
    """Tokens of rows a second of each. They differ because packs hold what rows share once."""
    rows = [row for group in groups for row in group]
    ends = [0, *accumulate(map(len, groups))]
    packs = list(plan_packs(rows, [range(*pair) for pair in pairwise(ends)], TOKENS, TOKENS))
    tokens = sum(map(len, rows))
    with tempfile.TemporaryDirectory() as folder:
        first = tokens / seconds(_packed(base, recipe, packs, Path(folder)).train)
    with tempfile.TemporaryDirectory() as folder:
        return first, tokens / seconds(_plain(base, recipe, rows, folder).train)


def _packed(base: str, recipe: "FinetuneRecipe", packs: Sequence[PackPlan], folder: Path) -> "Trainer":
    from transformers import AutoModelForCausalLM

    from adapters.layout import attention_of, layout_of
    from adapters.model import with_lora
    from adapters.trainer import AnswerTrainer, trainer_arguments

    training = recipe.training
    layout = layout_of(load_config(base), TOKENS)
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation=attention_of(layout, None))
    arguments = trainer_arguments(training, len(packs), folder)
    arguments.set_evaluate(strategy="no")
    arguments.eval_on_start = False
    arguments.set_save(strategy="no")
    return AnswerTrainer(
        with_lora(recipe, model), arguments, folder, packs, [], 0, lambda model, **_: 0.0, training, layout.packing
    )


def _plain(base: str, recipe: "FinetuneRecipe", rows: Sequence[TrainingRow], folder: str) -> "Trainer":
    import datasets
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.trainer_callback import PrinterCallback
    from trl import SFTConfig, SFTTrainer

    from adapters.model import with_lora
    from harness.engines.models.bases import load_tokenizer, resolve_base

    columns = {
        "input_ids": [row.token_ids for row in rows],
        "completion_mask": [[0] * len(row.prompt_ids) + [1] * len(row.completion_ids) for row in rows],
    }
    arguments = SFTConfig(
        folder,
        packing=True,
        max_length=TOKENS,
        completion_only_loss=True,
        num_train_epochs=1,
        per_device_train_batch_size=1,
        gradient_checkpointing=False,
        use_cpu=not torch.cuda.is_available(),
        bf16=in_bf16(),
        report_to="none",
        disable_tqdm=True,
        save_strategy="no",
    )
    model = with_lora(recipe, AutoModelForCausalLM.from_pretrained(base))
    data = datasets.Dataset.from_dict(columns)
    trainer = SFTTrainer(model, arguments, train_dataset=data, processing_class=load_tokenizer(resolve_base(None)))
    trainer.remove_callback(PrinterCallback)
    return trainer
