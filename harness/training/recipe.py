"""Recipes of the baselines: YAML files in `harness/baselines/recipes` that say everything about a training run but its items."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from harness.engines.shared import Precision
from harness.training.curriculum import Curriculum
from harness.util.registry import choose
from harness.util.settings import Count, Fraction, Positive, Rate, Strict, checked, merged, nested, read_values

RECIPES = Path(__file__).parents[1] / "baselines" / "recipes"

Augment = Literal["none", "colors", "all"]
"""colors: other colors in each epoch; all: in Minecraft also other words and another orientation."""


class Training(Strict):
    """The settings shared by all baselines; transformers' names are in brackets if they differ."""

    epochs: Positive
    """Most epochs of all items; the papers give no maximum but HEXAGONS' 20."""
    patience: Positive
    """Training stops when the dev loss has risen in this many epochs in a row: ten in BAP v2, 12.3; open in HEXAGONS."""
    batch_size: Positive
    """Items per step, on each device (per_device_train_batch_size)."""
    optimizer: Literal["adamw", "adafactor"] = "adamw"
    """adafactor (Shazeer and Stern 2018) takes steps in proportion to the size of the weights, at most 1 / sqrt(step) of it. T5
    needs it: its attention begins with weights so small that steps of one size for all weights undo what they learn."""
    learning_rate: Rate
    """The highest learning rate."""
    schedule: Literal["constant_with_warmup", "inverse_sqrt", "linear", "cosine"] = "constant_with_warmup"
    """The learning rate after the warmup (lr_scheduler_type): constant, falling with the square root of the step (Vaswani et al.
    2017), or falling to 0 at the end of all epochs, in a straight line (linear) or half a wave (cosine)."""
    warmup: Count = 0
    """Steps in which the learning rate rises linearly from 0 to its highest (warmup_steps); at most half of all steps."""
    weight_decay: Fraction
    """Weight decay, except of biases and norms."""
    max_grad_norm: Annotated[float, Field(gt=0)]
    """Largest gradient norm; if a network names parts to clip, of each part separately."""
    curriculum: Curriculum | None = None
    """A curriculum, whose stages come first, an epoch each; `epochs` and `patience` count what follows, the paper's S_N+1."""
    precision: Precision
    """Precision of the arithmetic; weights stay in float32. auto: bfloat16 if it is faster here."""
    checkpoint_minutes: Annotated[float, Field(gt=0)]
    """A checkpoint is written after each epoch, and whenever the last one is this many minutes old."""
    seed: int


class Recipe(Strict):
    """The keys of every baseline's recipe."""

    variant: str
    augment: Augment = "none"
    training: Training


R = TypeVar("R", bound=Recipe)


def load_recipe(name: str, schema: type[R], overrides: Sequence[str] = (), *, mixed: bool = False) -> R:
    """The recipe of a baseline, checked, with the block of its variant, the block `mixed` (for items of several data sets), and
    then `key=value` overrides laid over it.

    Raises FaultsError with every unknown key and every invalid value.
    """
    path = RECIPES / f"{name}.yaml"
    values = read_values(path)
    variants: Mapping[str, Mapping[str, object]] = values.pop("variants", None) or {}
    more: Mapping[str, object] = values.pop("mixed", None) or {}
    settings = reversed(nested(overrides))
    variant = str(next((over["variant"] for over in settings if "variant" in over), values["variant"]))
    own = str(values["variant"])
    values = merged(values, variants.get(choose(f"variant of {name}", variant, {own, *variants}), {}))
    return checked(schema, path, merged(values, more if mixed else {}), overrides)
