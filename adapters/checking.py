"""Whether an adapter is complete, whether it changes what its base answers, and whether peft, merging and vLLM agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from adapters.dev import spread
from adapters.merging import merged_model, worth_merging
from adapters.registry import WEIGHTS_FILE, Adapter
from harness.corpora import load
from harness.corpora.item import Item
from harness.engines.engine import ENGINES, Completion, Sampling
from harness.engines.models.bases import display_name, load_config, load_tokenizer, model_context_length
from harness.engines.models.weights import snapshot
from harness.engines.shared import brief, quiet_transformers
from harness.engines.transformers import with_adapter
from harness.errors import AdapterError, EngineError
from harness.util.processes import trusts_remote_code
from harness.util.registry import resolve
from prompts.messages import read_answer
from prompts.render import PromptTooLongError, Renderer
from prompts.rendered import Rendered

PROBED = 16
"""Most tokens of the base's own answers, which are compared with the beginnings of the adapter's."""

SHORT = 512
"""Preferred limit for a prompt, in tokens: longer ones tell little more, and take a CPU minutes."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The content of an adapter's weights file."""

    count: int
    kinds: tuple[str, ...]
    """Number types: torch's names without "torch."."""


@dataclass(frozen=True, slots=True)
class Pair:
    """How often two models answer alike."""

    a: str
    b: str
    texts: int
    """Answers with equal text."""
    actions: int
    """Answers with equal parsed actions."""
    first: str | None
    """The id of the first item where the text differs."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How alike an adapter's answers are in all the ways that it can be run."""

    items: int
    changed: int
    """Items that the adapter answers with another text than its base."""
    pairs: list[Pair]
    """One for every two ways in which the adapter was run: peft, merged into its base, vLLM."""


def check_weights(adapter: Adapter) -> Weights:
    """The number and types of an adapter's weights. Raises AdapterError for weights that are empty, not finite or without effect,
    or that do not fit the configuration's rank or the base; without the base on this machine, the latter is not checked."""
    from safetensors.torch import load_file

    path = adapter.path / WEIGHTS_FILE
    try:
        weights = load_file(path)
    except Exception as error:
        raise AdapterError(f"{path} cannot be read: {brief(error)}") from error
    if not weights:
        raise AdapterError(f"{path} holds no weights")
    for name, value in weights.items():
        if not value.numel():
            raise AdapterError(f"{path}: {name} is empty: with ZeRO-3, gather the weights before they are saved")
        if not value.isfinite().all():
            raise AdapterError(f"{path}: {name} holds values that are not numbers")
        rank = value.shape[0] if "lora_A" in name else value.shape[1] if "lora_B" in name else 0
        if rank > adapter.rank:
            raise AdapterError(f"{path}: {name} has rank {rank}, but the configuration says {adapter.rank}")
    if not any(bool(value.any()) for name, value in weights.items() if "lora_B" in name):
        raise AdapterError(f"{path}: all second matrices are zero, so the adapter changes nothing")
    if Path(adapter.base).is_dir() or snapshot(adapter.base):
        with_adapter(_without_weights(adapter.base), adapter.path)
    kinds = sorted({str(value.dtype).removeprefix("torch.") for value in weights.values()})
    return Weights(sum(value.numel() for value in weights.values()), tuple(kinds))


def _without_weights(base: str) -> Any:
    """The base on the `meta` device. Raises EngineError if its configuration cannot be read."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"), quiet_transformers():
        return AutoModelForCausalLM.from_config(load_config(base), trust_remote_code=trusts_remote_code())


def agreement(
    adapter: Adapter, count: int, engines: Sequence[str], say: Callable[[str], None], max_tokens: int = 64
) -> Agreement:
    """Ask the same dev items of the base alone, the base with the adapter on it (peft), and the merged model in each engine.

    All answers are greedy; transformers computes in float32 on a CPU. If an adapter is not merged by default, vLLM loads it
    with its base. Raises AdapterError if the adapter changes no answer of its base, EngineError if a model gives no answer,
    and whatever `merged_model` raises.
    """
    tokenizer = load_tokenizer(adapter.base)
    renderer = Renderer(adapter.spec, tokenizer, model_context_length(adapter.base), max_tokens)
    fitting = _chosen(load(adapter.spec.task, "dev"), count, renderer)
    if not fitting:
        raise EngineError(f"no prompt of a dev item fits the context of {display_name(adapter.base)}")
    sampling = Sampling(max_tokens=max_tokens, stop=renderer.stop, stop_token_ids=renderer.stop_token_ids)

    def answers(name: str, engine: str, model: str, sampling: Sampling = sampling, **options: Any) -> list[Completion]:
        say(f"{name}: {len(fitting)} prompts")
        return _ask(resolve("engine", engine, ENGINES)(model, **options), [prompt for _, prompt in fitting], sampling)

    answered = {"peft": answers("peft", "transformers", adapter.base, adapter=adapter.path)}
    # A base that was not trained on the prompts talks on and on; its first words are enough to tell it apart.
    begun = answers("the base alone", "transformers", adapter.base, replace(sampling, max_tokens=min(max_tokens, PROBED)))
    changed = sum(_other(full, first) for full, first in zip(answered["peft"], begun, strict=True))
    if not changed:
        raise AdapterError(f"{adapter.path} changes nothing: {len(fitting)} dev items get the answers of the base alone")
    if worth_merging(adapter):
        for engine in engines:
            # Asked for anew: an engine may answer for longer than the folder is kept.
            answered[f"merged, {engine}"] = answers(f"merged, {engine}", engine, str(merged_model(adapter, say)))
    elif "vllm" in engines:
        answered["vllm"] = answers("vllm", "vllm", adapter.base, adapter=adapter.path)
    return Agreement(len(fitting), changed, [_pair(a, b, answered, fitting, adapter) for a, b in combinations(answered, 2)])


def _chosen(items: Sequence[Item], count: int, renderer: Renderer) -> list[tuple[Item, Rendered]]:
    """At most `count` items and their prompts: short ones, spread over the split, or the shortest if there are too few."""
    rendered = [(item, prompt) for item in spread(items, 4 * count) if (prompt := _render(renderer, item))]
    short = [pair for pair in rendered if len(pair[1].token_ids) <= SHORT]
    return spread(short, count) if len(short) >= count else sorted(rendered, key=lambda pair: len(pair[1].token_ids))[:count]


def _other(full: Completion, begun: Completion) -> bool:
    """Whether an answer differs from another that may have been cut, perhaps within a character."""
    cut = begun.finish_reason == "length"
    return not full.text.startswith(begun.text.rstrip("\ufffd")) if cut else full.text != begun.text


def _pair(
    a: str, b: str, answered: Mapping[str, Sequence[Completion]], fitting: Sequence[tuple[Item, Rendered]], adapter: Adapter
) -> Pair:
    differing, actions = [], 0
    for (item, _), one, other in zip(fitting, answered[a], answered[b], strict=True):
        if one.text != other.text:
            differing.append(item.id)
        actions += read_answer(one.text, item, adapter.spec).actions == read_answer(other.text, item, adapter.spec).actions
    return Pair(a, b, len(fitting) - len(differing), actions, next(iter(differing), None))


def _ask(engine: Any, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
    # Prompts of similar length share a batch, which needs less padding.
    order = sorted(range(len(prompts)), key=lambda n: len(prompts[n].token_ids))
    try:
        answered = dict(zip(order, engine.generate([prompts[n] for n in order], sampling), strict=True))
    finally:
        engine.close()
    for n, prompt in enumerate(prompts):
        if answered[n].error is not None:
            raise EngineError(f"{prompt.id}: {answered[n].error}")
    return [answered[n] for n in range(len(prompts))]


def _render(renderer: Renderer, item: Item) -> Rendered | None:
    try:
        return renderer.render(item)
    except PromptTooLongError:
        return None
