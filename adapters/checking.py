"""Whether an adapter is complete, and whether the merged model answers as base and adapter do unmerged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.dev import spread
from adapters.merging import merged_model
from adapters.registry import WEIGHTS_FILE, Adapter
from harness.corpora import load
from harness.corpora.item import Item
from harness.engines.engine import ENGINES, Completion, Sampling
from harness.engines.shared import brief
from harness.engines.transformers import TransformersEngine
from harness.errors import AdapterError, EngineError
from harness.util.registry import resolve
from prompts.messages import read_answer
from prompts.render import PromptTooLongError, Renderer
from prompts.rendered import Rendered


@dataclass(frozen=True, slots=True)
class Weights:
    """What an adapter's file of weights holds."""

    count: int
    kinds: tuple[str, ...]
    """Number types: torch's names without "torch."."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """On how many items two models agree."""

    items: int
    texts: int
    """Answers with equal text."""
    actions: int
    """Answers with equal parsed actions."""
    first: str | None
    """The id of the first item where the actions differ."""


def check_weights(adapter: Adapter) -> Weights:
    """Raises AdapterError for weights that are not finite, of another rank or without any effect."""
    from safetensors.torch import load_file

    path = adapter.path / WEIGHTS_FILE
    try:
        weights = load_file(path)
    except Exception as error:
        raise AdapterError(f"{path} cannot be read: {brief(error)}") from error
    if not weights:
        raise AdapterError(f"{path} holds no weights")
    for name, value in weights.items():
        if not value.isfinite().all():
            raise AdapterError(f"{path}: {name} holds values that are not numbers")
        rank = value.shape[0] if "lora_A" in name else value.shape[1] if "lora_B" in name else 0
        if rank > adapter.rank:
            raise AdapterError(f"{path}: {name} has rank {rank}, but the configuration says {adapter.rank}")
    if not any(bool(value.any()) for name, value in weights.items() if "lora_B" in name):
        raise AdapterError(f"{path}: all second matrices are zero, so the adapter changes nothing")
    kinds = sorted({str(value.dtype).removeprefix("torch.") for value in weights.values()})
    return Weights(sum(value.numel() for value in weights.values()), tuple(kinds))


def agreement(adapter: Adapter, count: int, engine: str, say: Callable[[str], None], max_tokens: int = 64) -> Agreement:
    """Ask the base with the adapter on it (peft, float32) and the merged model in `engine` the same dev items, greedily.

    Raises EngineError if one of them gives no answer, and whatever `merged_model` raises.
    """
    items = spread(load(adapter.spec.task, "dev"), count)
    side = TransformersEngine(adapter.base, adapter=adapter.path)
    renderer = Renderer(adapter.spec, side.tokenizer, side.context_length, max_tokens)
    fitting = [(item, prompt) for item in items if (prompt := _render(renderer, item))]
    sampling = Sampling(max_tokens=max_tokens, stop=renderer.stop)
    theirs = _ask(side, [prompt for _, prompt in fitting], sampling)
    with merged_model(adapter, say) as merged:
        ours = _ask(_engine(engine, merged), [prompt for _, prompt in fitting], sampling)
    differing, texts = [], 0
    for (item, _), one, other in zip(fitting, theirs, ours, strict=True):
        texts += one.text == other.text
        if read_answer(one.text, item, adapter.spec).actions != read_answer(other.text, item, adapter.spec).actions:
            differing.append(item.id)
    return Agreement(len(fitting), texts, len(fitting) - len(differing), next(iter(differing), None))


def _engine(name: str, model: Path) -> Any:
    return resolve("engine", name, ENGINES)(str(model))


def _ask(engine: Any, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
    try:
        answers = list(engine.generate(prompts, sampling))
    finally:
        engine.close()
    for prompt, answer in zip(prompts, answers, strict=True):
        if answer.error is not None:
            raise EngineError(f"{prompt.id}: {answer.error}")
    return answers


def _render(renderer: Renderer, item: Item) -> Rendered | None:
    try:
        return renderer.render(item)
    except PromptTooLongError:
        return None
