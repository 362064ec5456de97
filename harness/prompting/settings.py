"""The settings of a run of `harness prompt`: what makes two runs the same, the default name, and which cached answers fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.prompting.options import ENDPOINT_GROUP, FLAGS, LOCAL_ENGINES, MODEL_GROUP, Options
from harness.prompting.plan import answered_task, chosen_base, given_to_vllm
from harness.util.hashing import short_hash
from prompts.shots import RANDOM

if TYPE_CHECKING:
    from adapters.registry import Adapter
    from harness.corpora.item import Item
    from harness.engines.engine import Engine
    from harness.prompting.prompted import Plan
    from prompts.spec import PromptSpec


def run_settings(
    options: Options, spec: PromptSpec, adapter: Adapter | None, items: list[Item], plan: Plan, *, merged: bool
) -> dict[str, Any]:
    """Everything that decides the predictions. `merged`: the adapter is merged into a copy of the base."""
    from harness.corpora.item import items_hash
    from harness.engines.engine import without_secrets
    from harness.engines.models.bases import DEFAULT_BASE, base_origin, display_name, fingerprint, resolve_base
    from harness.engines.vllm.options import recorded
    from prompts.probe import format_hash

    asked = {name: value for name, value in options if name in FLAGS and FLAGS[name].record}
    script = Path(options.model or "")
    base = resolve_base(chosen_base(options, adapter)) if options.engine in LOCAL_ENGINES else None
    return {
        **asked,
        "share": plan.share,
        **spec.fields,
        "think": spec.think,
        **({"think_tokens": plan.renderer.thought_tokens} if spec.thinks else {}),
        "task": answered_task(options, spec),
        "split": options.part,
        "items_file": options.items_file,
        "model": options.model or (display_name(adapter.base) if adapter else DEFAULT_BASE),
        "base_url": without_secrets(options.base_url or "") or None,
        "script_hash": short_hash([script.read_bytes()]) if options.engine == "scripted" and script.is_file() else None,
        "shots_hash": plan.pool.hash,
        "select": None if options.select == RANDOM else options.select,
        "base_files_fingerprint": fingerprint(base) if base else None,
        **(base_origin(base) if base else {}),
        "adapter_fingerprint": fingerprint(adapter.path) if adapter else None,
        "merged": merged,
        **trained_on(adapter, answered_task(options, spec)),
        "vllm": recorded(given_to_vllm(options)),
        "prompt_hash": format_hash(replace(spec, task=answered_task(options, spec))),
        "data_hash": items_hash(items),
        "items": len(items),
        "batch_size": plan.batch_size,
        "constrained": _CONSTRAINED[options.constrain],
        "max_new_tokens": plan.sampling.max_tokens,
        "context_length": plan.renderer.context_length,
    }


def trained_on(adapter: Adapter | None, task: str) -> dict[str, list[str]]:
    """The tasks that an adapter was trained on, if they are not just the one whose items it answers."""
    return {"trained_on": list(adapter.tasks)} if adapter and adapter.tasks not in ((), (task,)) else {}


OF_THE_PROMPT = {
    *("items", "constrained", "trained_on", "shots_hash", "prompt_hash", "data_hash"),
    *(name for name, flag in FLAGS.items() if flag.group not in (MODEL_GROUP, ENDPOINT_GROUP)),
}
"""Settings that affect an answer only through its prompt or its `Sampling`, both of which the cache compares anyway."""


@contextmanager
def cached(engine: Engine, options: Options, settings: dict[str, Any]) -> Iterator[Engine]:
    """The engine behind the user's cache of completions. Scripted answers are not cached."""
    if options.engine == "scripted" or not options.cache:
        yield engine
        return
    from harness.engines.cache import CachedEngine, Completions, machine

    identity = {key: value for key, value in settings.items() if key not in OF_THE_PROMPT}
    # The settings hold the URL without secrets. The cache keeps only a hash of the identity.
    identity["base_url"] = options.base_url
    if options.engine in LOCAL_ENGINES:
        identity["machine"] = machine()
    with closing(Completions()) as cache:
        yield CachedEngine(engine, identity, cache)


_CONSTRAINED: dict[str | None, bool | str] = {None: False, "format": True, "feasible": "feasible"}
"""How a run records --constrain."""


_DECODING = ("constrain", "samples", "temperature", "vote", "share")


def decoding_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say how answers were decoded, from a run's settings, without those that have their default."""
    constrain = {held: option for option, held in _CONSTRAINED.items()}.get(settings.get("constrained", False))
    values = {name: constrain if name == "constrain" else settings.get(name) for name in _DECODING}
    return {name: value for name, value in values.items() if value not in (None, Options.model_fields[name].default)}


def default_name(options: Options, spec: PromptSpec) -> str:
    """The run's name, built from its settings."""
    from harness.engines.models.bases import DEFAULT_BASE
    from harness.runs.folder import trained_name

    model = Path(options.adapter or options.model or DEFAULT_BASE)
    _, *prompt_format = spec.name.split("/")
    parts = [answered_task(options, spec), options.part, trained_name(model), *prompt_format, f"{options.shots}-shot"]
    parts += [options.select] if options.select not in (None, RANDOM) else []
    parts += [f"seed-{options.seed}"] if options.seed else []
    parts += [f"first-{options.limit}"] if options.limit else []
    parts += {"format": ["constrained"], "feasible": ["feasible"]}.get(options.constrain or "", [])
    parts += [f"{options.samples}-samples"] if options.samples > 1 else []
    parts += [options.vote] if options.vote else []
    return "_".join(parts).replace("/", "-")
