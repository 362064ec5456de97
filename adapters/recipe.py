"""Recipes: YAML files that say everything about a training run but the data it finds. Unknown keys are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from harness.errors import UsageError
from harness.training.curriculum import Curriculum
from harness.util.registry import choose
from harness.util.settings import Count, Fraction, Positive, Rate, Strict, first_problem, merged, overridden, read_values

RECIPES = Path(__file__).parent / "recipes"


class Lora(Strict):
    r: Literal[1, 8, 16, 32, 64, 128, 256]
    """The rank; vLLM serves these ranks without waste."""
    alpha: Positive
    dropout: Fraction
    target_modules: str | list[str]


class FinetuneTraining(Strict):
    epochs: Annotated[float, Field(gt=0)]
    max_steps: Positive | None
    """Overrides the epochs unless null."""
    train_items: Positive | None
    """Train on this many items instead of the whole train split: for learning curves."""
    learning_rate: Rate
    warmup: Annotated[float, Field(ge=0, lt=1)]
    """Share of the steps."""
    weight_decay: Fraction
    max_grad_norm: Annotated[float, Field(gt=0)]
    tokens: Positive
    """Most tokens per pack; the shared beginnings of its rows count once."""
    accumulation: Positive
    """Packs per step."""
    recolor: bool
    """Permute the colors of every drawing procedure or game at random, differently in each epoch after the first."""
    lasting: bool
    """Minecraft: learn the actions of a turn without those that later ones of the turn undo."""
    max_length: Positive
    """In tokens: longer rows are dropped and counted, never cut."""
    gradient_checkpointing: bool
    shots: Count
    """Examples in front of every item, in training and on dev."""
    evaluations: Positive
    """Evaluations spread evenly over the run, besides the one before the first step; each writes a checkpoint."""
    keep: Literal["best", "last"] = "best"
    """The adapter of the evaluation with the highest F1 on dev, of equal ones that with the lowest loss; or the last one."""
    patience: Positive | None = None
    """Stop after this many evaluations in a row that were not better than the best before; null for never."""
    dev_loss_items: Positive
    """Dev items whose loss is measured: a fixed, evenly spread choice."""
    dev_f1_items: Positive
    """Dev items that are answered by generation at each evaluation: likewise."""
    max_new_tokens: Positive
    """Longest answer on dev."""
    curriculum: Curriculum | None = None
    """Its stages come first; their rows count towards the epochs."""
    seed: int


class Grpo(Strict):
    """Learning from the scorer: see `adapters.grpo`."""

    answers: Annotated[int, Field(ge=2)]
    """Answers drawn for each item."""
    prompts: Positive
    """Items per step."""
    together: Positive
    """Neighbors of one procedure or game that are computed together; divides `prompts`."""
    exact: Annotated[float, Field(ge=0)]
    """Added to the reward, which is the F1, for an exact match."""
    unread: Annotated[float, Field(ge=0)]
    """Taken from it for an answer that cannot be read as a whole."""
    kl: Annotated[float, Field(ge=0)]
    """Weight of the divergence from the adapter that training started from (TRL's beta)."""
    loss: Literal["grpo", "dapo", "dr_grpo", "bnpo"]
    """TRL's loss_type."""
    vllm: bool
    """Draw the answers with vLLM beside the training; needs an NVIDIA GPU."""

    @model_validator(mode="after")
    def _whole_parts(self) -> Grpo:
        if self.prompts % self.together:
            raise ValueError(f"prompts ({self.prompts}) must be a multiple of together ({self.together})")
        return self


class FinetuneRecipe(Strict):
    """How `harness finetune` trains a LoRA adapter."""

    kind: Literal["finetune"]
    grpo: Grpo | None = None
    """Learn from the scorer instead of from gold answers."""
    quantize: Literal["nf4"] | None
    """4-bit base weights (QLoRA); needs an NVIDIA GPU and bitsandbytes."""
    lora: Lora
    training: FinetuneTraining


def recipe_path(name: str) -> Path:
    """The file of a recipe, by the name of a shipped one or by path. Raises UsageError if there is none."""
    if name.endswith((".yaml", ".yml")) or "/" in name:
        path = Path(name)
        if not path.is_file():
            raise UsageError(f"no recipe file at {path}")
        return path
    recipes = {path.stem: path for path in RECIPES.rglob("*.yaml")}
    return recipes[choose("recipe", name, recipes)]


def load_recipe(name: str, overrides: Sequence[str] = (), *, base: str | None = None) -> FinetuneRecipe:
    """The recipe with the overrides ("dotted.key=value", the value in YAML) put over it.

    `base` is the display name of a base model: what the recipe says of it under `bases` is put over the recipe first. Raises
    UsageError, which names the file and the key, for a key that does not exist and a value that does not fit.
    """
    path = recipe_path(name)
    values = read_values(path)
    blocks = values.pop("bases", None) or {}
    _check(path, values)
    if not isinstance(blocks, dict) or not all(isinstance(block, Mapping) for block in blocks.values()):
        raise UsageError(f"{path}: bases must be a mapping from names of bases to mappings")
    made = {known: merged(values, block) for known, block in blocks.items()}
    for known, over in made.items():
        _check(path, over, f" (bases.{known})")
    return overridden(made.get(base, values), overrides, partial(_check, path))


def _check(path: Path, values: Mapping[str, Any], where: str = "") -> FinetuneRecipe:
    try:
        return FinetuneRecipe.model_validate(values)
    except ValidationError as error:
        raise UsageError(f"{path}{where}: {first_problem(error)}") from None
