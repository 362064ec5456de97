"""Recipes: YAML files that say everything about a training run but the data it finds. Unknown keys are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import UsageError
from harness.util.registry import choose

RECIPES = Path(__file__).parent / "recipes"

T = TypeVar("T")

Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0, le=1)]


class Strict(BaseModel):
    """A part of a recipe: all keys are there, and no other."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Lora(Strict):
    r: Literal[1, 8, 16, 32, 64, 128, 256]
    """The rank; vLLM serves these ranks without waste."""
    alpha: Positive
    dropout: Fraction
    target_modules: str | list[str]


class Curriculum(Strict):
    """How training begins: with as many stages as there are buckets, of one epoch each, before epochs of all items.

    See `adapters.curriculum`.
    """

    difficulty: Literal["D", "L_A", "L_I", "D+L_A", "D+L_I", "L_A+L_I", "D+L_A+L_I"]
    """The metric, or several of them: the mean of an item's ranks by each."""
    buckets: Annotated[int, Field(ge=2)]
    """Of as many items each, give or take one, by rising difficulty."""


class FinetuneTraining(Strict):
    epochs: Annotated[float, Field(gt=0)]
    max_steps: Positive | None
    """Where this is not null it decides instead of the epochs."""
    train_items: Positive | None
    """Train on so many items instead of the whole train split: for learning curves."""
    learning_rate: Rate
    warmup: Annotated[float, Field(ge=0, lt=1)]
    """Of the steps."""
    weight_decay: Fraction
    max_grad_norm: Annotated[float, Field(gt=0)]
    tokens: Positive
    """Tokens on the device at a time: rows are packed up to so many, and what they begin with in common stands once."""
    accumulation: Positive
    """Packs to one step."""
    recolor: bool
    """Exchange the colors of every drawing procedure or game at random, anew in each epoch after the first."""
    max_length: Positive
    """In tokens: longer rows are dropped and counted, never cut."""
    gradient_checkpointing: bool
    shots: Count
    """Examples in front of every item, in training and on dev."""
    evaluations: Positive
    """Spread evenly over the run, beside the one before the first step; a checkpoint is written at each."""
    dev_loss_items: Positive
    """Dev items whose loss is measured: a fixed, evenly spread choice."""
    dev_f1_items: Positive
    """Dev items that are answered by generation at each evaluation: likewise."""
    max_new_tokens: Positive
    """Of an answer on dev."""
    curriculum: Curriculum | None = None
    """Its stages come first; their rows count towards the epochs."""
    seed: int


class FinetuneRecipe(Strict):
    """How `harness finetune` trains a LoRA adapter."""

    kind: Literal["finetune"]
    quantize: Literal["nf4"] | None
    """4-bit base weights (QLoRA); needs an NVIDIA GPU and bitsandbytes."""
    lora: Lora
    training: FinetuneTraining


def recipe_path(name: str) -> Path:
    """The file of a recipe given by the name of a shipped one or by its path. Raises UsageError if there is none."""
    if name.endswith((".yaml", ".yml")) or "/" in name:
        path = Path(name)
        if not path.is_file():
            raise UsageError(f"no recipe file at {path}")
        return path
    known = {path.stem: path for path in RECIPES.rglob("*.yaml")}
    return known[choose("recipe", name, known)]


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


def overridden(values: Mapping[str, Any], overrides: Sequence[str], check: Callable[[Mapping[str, Any], str], T]) -> T:
    """What `check` makes of the values with all overrides laid over them; its second argument says where a problem lies.

    Raises what `check` raises for them together, which names the override that it begins with: a pair of values may fit
    where the first of them alone does not.
    """
    stages = list(accumulate(map(nested, overrides), merged, initial=values))
    problem = None
    for stage, override in zip(reversed(stages), (*reversed(overrides), None), strict=True):
        try:
            checked = check(stage, f" (--set {override})" if override else "")
        except UsageError as error:
            problem = error
        else:
            if problem is None:
                return checked
            break
    assert problem is not None
    raise problem


def read_values(path: Path) -> dict[str, Any]:
    """What a recipe's file holds. Raises UsageError if it is no mapping in YAML."""
    try:
        values = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path} is not a recipe in YAML: {error}") from None
    if not isinstance(values, dict):
        raise UsageError(f"{path} is not a recipe: it must hold a mapping")
    return values


def nested(override: str) -> dict[str, Any]:
    """`a.b=1` as {"a": {"b": 1}}. Raises UsageError for what is not of this form."""
    key, equals, text = override.partition("=")
    if not equals or not all(key.split(".")):
        raise UsageError(f"--set {override}: write key=value, as in training.learning_rate=1e-4")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        raise UsageError(f"--set {override}: {text!r} is not a value in YAML") from None
    for part in reversed(key.split(".")):
        value = {part: value}
    result: dict[str, Any] = value
    return result


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`values` with those of `over` laid over them, mappings key by key."""
    result = dict(values)
    for key, value in over.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, Mapping) else value
    return result


def _check(path: Path, values: Mapping[str, Any], where: str = "") -> FinetuneRecipe:
    try:
        return FinetuneRecipe.model_validate(values)
    except ValidationError as error:
        raise UsageError(f"{path}{where}: {problem_of(error)}") from None


def problem_of(error: ValidationError) -> str:
    """The key that does not fit, and why."""
    # A key that does not exist says more than the missing one that it may stand for.
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    key = ".".join(map(str, first["loc"]))
    problem = "no such key" if first["type"] == "extra_forbidden" else first["msg"]
    return f"{key or 'content'}: {problem}"
