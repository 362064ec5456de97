"""Recipes: YAML files that say everything about a training run. Unknown keys are refused, and all faults are reported at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, model_validator

from adapters.options import BASE, MAX_STEPS, Prompt
from harness.engines.models.bases import display_name
from harness.engines.shared import Precision
from harness.errors import Faults, UsageError
from harness.simulators.games import EndlessName
from harness.tasks.registry import TaskName
from harness.training.curriculum import Curriculum
from harness.util.registry import Table
from harness.util.settings import (
    Count,
    Fraction,
    Positive,
    Rate,
    Strict,
    checked,
    described_schema,
    merged,
    nested,
    read_values,
    settings_file,
)

PACKED = ("lora", "full")
"""The methods that train on packs; with the others, TRL makes the batches."""
PAIRED = ("dpo", "kto")
"""The methods that learn from pairs of better and worse answers."""
RECIPES = Path(__file__).parent / "recipes"
SCHEMA = RECIPES / "recipe.schema.json"
"""Lets editors complete keys and mark faults; `make docs` writes it."""


class DataSource(Strict):
    """Where train items come from: one of `split`, `simulate` and `file`."""

    split: Literal["train"] | None = None
    """The train split of the recipe's task, or of `task`."""
    task: TaskName | None = None
    """With `split`: another task of the same world, whose items are prompted as the task's own; null: the task itself."""
    simulate: EndlessName | None = None
    """The items that `harness simulate NAME --items N --seed S` writes, made on the fly."""
    file: str | None = None
    """A file of items, as `harness simulate` and `harness augment` write them."""
    items: Positive | None = None
    """How many items to simulate."""
    seed: Count = 0
    """The seed of the simulator and of the changes that `augment` draws."""
    augment: Positive = 1
    """Size of the source as a multiple of its items; beyond them come variants of whole games or drawing procedures, in other
    colors and, in Minecraft, in other words and turned. 1: no variants."""

    @model_validator(mode="after")
    def _one_kind(self) -> DataSource:
        given = [key for key in ("split", "simulate", "file") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"give one of split, simulate and file, not {' and '.join(given) or 'none'}")
        if self.task and not self.split:
            raise ValueError("task goes with split, as in {split: train, task: minecraft}")
        if (self.simulate is None) != (self.items is None):
            raise ValueError("simulate and items go together, as in {simulate: random, items: 1000}")
        return self

    @property
    def name(self) -> str:
        """The source's name in messages and in a run's settings."""
        if self.split:
            return f"{self.split} split" + (f" of {self.task}" if self.task else "")
        if self.simulate:
            return f"simulate {self.simulate} --items {self.items} --seed {self.seed}"
        return Path(self.file or "").name


class Lora(Strict):
    """The adapter; a full fine-tuning has none."""

    r: Positive
    """The rank. vLLM rounds it up to one of 1, 8, 16, 32, 64, 128, 256, 320 and 512; it serves none above."""
    alpha: Positive
    """The adapter is scaled by alpha / r."""
    dropout: Fraction
    """Dropout before the adapter's first matrix."""
    target_modules: str | list[str]
    """The layers that get an adapter, by their names; all-linear for all but the output layer."""


class FinetuneTraining(Strict):
    """The trainer's settings."""

    epochs: Annotated[float, Field(gt=0)]
    """How often the train items are seen."""
    max_steps: int | None = MAX_STEPS
    train_items: Positive | None
    """Train on this many items instead of the whole train split: for learning curves."""
    optimizer: Literal["adamw", "paged_adamw_32bit", "adafactor"] = "adamw"
    """paged_adamw_32bit (bitsandbytes, on an NVIDIA GPU) moves AdamW's states to the CPU when the GPU's memory is full."""
    learning_rate: Rate
    """The highest learning rate. After the warmup it falls along a cosine; with method grpo it stays constant."""
    warmup: Annotated[float, Field(ge=0, lt=1)]
    """Share of the steps in which the learning rate rises from 0."""
    weight_decay: Fraction
    """Weight decay of all trained weights but biases and norms."""
    max_grad_norm: Annotated[float, Field(gt=0)]
    """Gradients are clipped to this norm."""
    precision: Precision = "auto"
    """Precision of the arithmetic, and of a frozen base's weights. auto: bfloat16 if it is faster here."""
    tokens: Positive
    """Most tokens per pack; the shared beginnings of its rows count once."""
    per_device_train_batch_size: Positive | None = None
    """Most rows per pack; null: as many as `tokens` holds. 1: the rows are computed one by one, as in most published work. With
    methods dpo and kto, rows per batch; null: 8."""
    accumulation: Positive
    """Packs or, with methods dpo and kto, batches per step."""
    recolor: bool
    """Permute the colors of every drawing procedure or game at random, differently in each epoch after the first."""
    max_length: Positive
    """Most tokens per row: longer rows are dropped and counted, never cut."""
    gradient_checkpointing: bool
    """Keep only the inputs of layers and recompute the rest in the backward pass: less memory, a third more time."""
    attn_implementation: Literal["sdpa", "flex_attention", "flash_attention_2"] | None = None
    """The attention, by transformers' names; null: `sdpa` on a GPU, our own on a CPU. `flex_attention` skips what a pack's mask
    hides; `flash_attention_2` takes no mask and needs one row per pack. Both need a GPU."""
    torch_compile: bool = False
    """Compile the model with torch.compile: minutes before the first steps, and faster steps."""
    use_liger_kernel: bool = False
    """Compute norms, rotary embeddings and feed-forward layers with Liger's kernels; needs a GPU and the package liger-kernel."""
    shots: Count = 0
    """Examples in front of every item, in training and on dev; `prompt.shots` means the same."""
    evaluations: Positive
    """Evaluations spread evenly over the run, besides the one before the first step; each writes a checkpoint."""
    keep: Literal["best", "last"] = "best"
    """best: the adapter with the highest F1 on dev, among equals with the lowest loss. last: the one at the end of training."""
    patience: Positive | None = None
    """Stop after this many evaluations in a row without a new best; null: never."""
    dev_loss_items: Positive
    """Dev items whose loss is measured: a fixed, evenly spread choice."""
    dev_f1_items: Positive
    """Dev items that are answered at each evaluation, for F1: also a fixed choice."""
    dev_batch_size: Positive | None = None
    """Dev items answered together; null: as many as free GPU memory holds, 16 on a CPU."""
    max_new_tokens: Positive
    """Longest answer on dev."""
    thought_tokens: Positive = 512
    """Longest thought on dev and, with `max_new_tokens`, in learning from the scorer, if the model thinks."""
    cells: bool = False
    """If answers are programs: also learn from items without a program of their own, with answers that list the cells."""
    curriculum: Curriculum | None = None
    """A curriculum. Its stages come first; `epochs` and `patience` count the epochs after them."""
    seed: int
    """Seed of everything that is drawn at random."""


class Grpo(Strict):
    """Learning from the scorer: see `adapters.grpo`. Keys that TRL's GRPOConfig also has bear its names."""

    num_generations: Annotated[int, Field(ge=2)]
    """Answers drawn for each item."""
    generation_batch_size: Positive
    """Answers per step, over all processes: items times `num_generations`."""
    per_device_train_batch_size: Positive
    """Answers computed together; times the number of processes, it divides `generation_batch_size`."""
    exact: Annotated[float, Field(ge=0)]
    """Added to the reward, which is the F1, for an exact match."""
    unread: Annotated[float, Field(ge=0)]
    """Subtracted from the reward if a part of the answer cannot be read."""
    beta: Annotated[float, Field(ge=0)]
    """Weight of the divergence from the adapter that training started from."""
    loss_type: Literal["grpo", "dapo", "dr_grpo", "bnpo"]
    """How the loss is averaged over answers and tokens."""
    use_vllm: bool
    """Draw the answers with vLLM during the training; needs an NVIDIA GPU."""
    vllm_mode: Literal["colocate", "server"] = "colocate"
    """Where vLLM runs: in each training process, or as a server on GPUs of its own."""
    vllm_server_base_url: str | None = None
    """With the mode server: the server's address; null: http://0.0.0.0:8000."""
    vllm_tensor_parallel_size: Positive = 1
    """With the mode colocate: GPUs over which a copy of vLLM is spread; divides the number of processes."""
    vllm_gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)] = 0.3
    """With the mode colocate: the share of a GPU's memory that vLLM takes."""


class FinetuneRecipe(Strict):
    """How `harness finetune` trains: the base, what it reads and writes, on which items, and by which method."""

    kind: Literal["finetune"]
    """The kind of file."""
    base: str | None = BASE
    task: TaskName | None = None
    """As in --task; null: hexagons."""
    prompt: Prompt = Prompt()
    """The prompt format."""
    data: Annotated[list[DataSource], Field(min_length=1)] = [DataSource(split="train")]
    """Where the train items come from."""
    method: Literal["lora", "full", "grpo", "dpo", "kto"] = "lora"
    """lora trains an adapter, full trains all weights of the base, grpo trains an adapter that learns from the scorer, dpo and
    kto one that learns from the better and worse answers of --pairs."""
    grpo: Grpo | None = None
    """Settings of the method grpo, and of no other."""
    quantize: Literal["nf4"] | None
    """4-bit base weights (QLoRA); needs an NVIDIA GPU and bitsandbytes."""
    double_quantization: bool = True
    """Quantize the scales of 4-bit weights, too."""
    lora: Lora | None = None
    """The adapter of all methods but full."""
    training: FinetuneTraining
    """How long, how fast and in what portions the model is trained."""
    trainer: dict[str, Any] = {}
    """More keys of transformers' TrainingArguments or of TRL's GRPOConfig, DPOConfig or KTOConfig, by the method: {beta: 0.2}."""
    peft: dict[str, Any] = {}
    """More keys of peft's LoraConfig, as in {use_dora: true}."""
    report_to: list[Literal["tensorboard", "wandb", "mlflow", "trackio"]] | None = None
    """Trackers of the train loss, the dev loss and the dev F1; null: TensorBoard, if it is installed."""
    _file: Path = PrivateAttr(Path())

    @model_validator(mode="after")
    def _agrees(self) -> FinetuneRecipe:
        shots, before = self.prompt.shots, self.training.shots
        if shots is not None and before not in (0, shots):
            raise ValueError(f"training.shots is {before} and prompt.shots {shots}: leave training.shots out")
        if self.method != "full" and self.lora is None:
            raise ValueError(f"method {self.method} needs the key lora with r, alpha, dropout and target_modules")
        if (self.method == "grpo") != (self.grpo is not None):
            raise ValueError(f"method is {self.method}: method grpo needs the key grpo, and no other method takes it")
        unused = (
            {"curriculum", "attn_implementation", "torch_compile", "use_liger_kernel"} if self.method not in PACKED else set()
        )
        unused |= {"shots", "recolor", "cells"} if self.method in PAIRED else set()
        given = self.training.model_dump() | {"shots": self.shots}
        if asked := sorted(key for key in unused if given[key]):
            section = "prompt" if asked[0] == "shots" and shots else "training"
            raise ValueError(f"method {self.method} takes no {asked[0]}: leave out {section}.{asked[0]}")
        if self.method in PAIRED and self.data != [DataSource(split="train")]:
            raise ValueError(f"method {self.method} learns from --pairs only: leave out data")
        if self.method == "full" and self.peft:
            raise ValueError("method full trains no adapter: leave out peft")
        if self.method == "full" and self.quantize:
            raise ValueError(f"method full trains all weights: set quantize to null, not {self.quantize}")
        return self

    @property
    def file(self) -> Path:
        """The file that it was read from."""
        return self._file

    @property
    def shots(self) -> int:
        """Examples in front of every item."""
        return self.training.shots if self.prompt.shots is None else self.prompt.shots

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the trainer that the recipe gives by the libraries' names."""
        return self.trainer | ({} if self.report_to is None else {"report_to": self.report_to})

    def settings(self) -> dict[str, Any]:
        """The recipe's part of a run's settings. Flags may change base, task and prompt: the run records the outcome in keys of
        its own."""
        # Runs from before these keys existed do without them.
        unused = {key for key in ("trainer", "peft") if not getattr(self, key)}
        settings = self.model_dump(exclude={"base", "task", "prompt", "report_to", *unused})
        settings["training"]["shots"] = self.shots
        settings["prompt"] = {"select": self.prompt.select}
        return settings


def recipe_path(name: str) -> Path:
    """The file of a recipe: see `settings_file`."""
    return settings_file(name, Table("recipe", {path.stem: path for path in RECIPES.rglob("*.yaml")}))


def load_recipe(name: str, overrides: Sequence[str] = (), *, base: str | None = None) -> FinetuneRecipe:
    """The recipe with the overrides ("dotted.key=value", the value in YAML) put over it.

    `base` is the base model if neither the file nor an override names one: the recipe's block for the base's display name under
    `bases` is put over the recipe first. Raises UsageError for an invalid file, and FaultsError with every unknown key and every
    invalid value.
    """
    path = recipe_path(name)
    values = read_values(path)
    blocks = values.pop("bases", None) or {}
    if not isinstance(blocks, dict) or not all(isinstance(block, Mapping) for block in blocks.values()):
        raise UsageError(f"{path}: bases must be a mapping from names of bases to mappings")
    made = {known: merged(values, block) for known, block in blocks.items()}
    named = [over["base"] for over in (values, *nested(overrides)) if "base" in over][-1:]
    base = next(filter(None, named), base)
    block = made.get(display_name(str(base or "")), values)
    faults = Faults()
    if faults.attempt(partial(checked, FinetuneRecipe, path, values)):
        for known, over in made.items():
            faults.attempt(partial(checked, FinetuneRecipe, path, over, where=f" (bases.{known})"))
    recipe = faults.attempt(partial(checked, FinetuneRecipe, path, block, overrides))
    faults.report()
    assert recipe is not None
    recipe = recipe.model_copy(update={"base": base})
    recipe._file = path
    return recipe


def recipe_schema() -> dict[str, Any]:
    """The JSON Schema of a recipe's file, with the keys' docstrings as descriptions."""
    schema = described_schema(FinetuneRecipe)
    schema["properties"]["bases"] = {
        "type": ["object", "null"],
        "description": "Overrides of the recipe for a base of this name.",
        "additionalProperties": {
            "type": "object",
            "propertyNames": {"enum": list(FinetuneRecipe.model_fields)},
        },
    }
    return schema
