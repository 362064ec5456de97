"""The classic baselines: models that map items directly to actions, each with its own recipe and checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.runs.answering import Predictor
    from harness.training.trainable import Trainable

    Baseline = Trainable[Any]

BASELINES = {
    "rules": "harness.baselines.rules.baseline:Rules",
    "parser": "harness.baselines.parser:Parser",
    "bert-transformer": "harness.baselines.bert_transformer.baseline:BertTransformer",
    "cnn-gru": "harness.baselines.cnn_gru.baseline:CnnGru",
    "deberta": "harness.baselines.deberta.baseline:Deberta",
    "t5": "harness.baselines.t5.baseline:T5",
}


@dataclass(frozen=True, slots=True)
class Decoding:
    """How actions are chosen, deterministically. A baseline supports only some of the fields: see `Trainable.decoding`."""

    steps: int = 10
    """The maximum number of decoder steps per item, including the stop. The papers use 10, and 20 in BAP v2, section 6."""
    constrained: bool = False
    """Whether to choose among feasible actions only."""
    beams: int = 3
    """The width of the beam search over text; 1 is greedy."""
    samples: int | None = None
    """Draw this many answers and let them vote, instead of taking the greedy answer: see `harness.prompting.voting`."""
    share: float = 0.15
    """The share of votes that an action needs to become part of the answer."""


DECODING = Decoding()
"""The default decoding."""


@runtime_checkable
class Ruled(Protocol):
    """A baseline without training, which therefore has no recipe and no checkpoints."""

    @property
    def tasks(self) -> tuple[str, ...]: ...

    @property
    def decoding(self) -> tuple[str, ...]: ...

    def predictor(self, task: str) -> Predictor:
        """The predictor for one of its tasks."""


def choose_decoding(name: str, baseline: Baseline | Ruled, values: Mapping[str, Any]) -> Decoding:
    """The decoding with the given values; None and False mean the default. Raises UsageError for unsupported options."""
    options = {key: value for key, value in values.items() if value is not None and value is not False}
    for key in options:
        if key not in baseline.decoding:
            flags = ", ".join(f"--{own}" for own in baseline.decoding)
            raise UsageError(f"--{key}: {name} has no such option; it has {flags or 'none'}")
    if "share" in options and "samples" not in options:
        raise UsageError("--share counts the votes of drawn answers: add --samples")
    return replace(Decoding(), **options)


def load_predictor(
    baseline: Baseline | Ruled, name: str, task: str, checkpoint: str | None = None, decoding: Decoding = DECODING
) -> tuple[Predictor, str, dict[str, Any]]:
    """The predictor for a task, its name, and the settings that identify it.

    `checkpoint` is one that `find_model` accepts; by default, the task's own is loaded. Raises UsageError if there is no such
    checkpoint, or if one is given to a baseline without checkpoints.
    """
    from harness.runs.folder import trained_name
    from harness.training.checkpoints import default_model, digest, find_model, model_source, read_config

    if isinstance(baseline, Ruled):
        if checkpoint:
            raise UsageError(f"--checkpoint {checkpoint}: {name} is rules only and has no checkpoints")
        return baseline.predictor(task), name, {}
    folder = find_model(checkpoint) if checkpoint else default_model(name, task)
    taken = {"checkpoint": model_source(folder), "checkpoint_hash": digest(folder)}
    return baseline.load(folder, decoding), trained_name(folder), taken | {"train_items": read_config(folder, name).get("items")}
