"""From the flags of `harness prompt` to a prompt format, an engine and a plan."""

from __future__ import annotations

import logging
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError
from harness.prompting.options import LOCAL_ENGINES, Options

if TYPE_CHECKING:
    from adapters.registry import Adapter
    from harness.engines.engine import Engine
    from harness.prompting.prompted import Plan
    from prompts.render import Renderer
    from prompts.shots import Shots
    from prompts.spec import PromptSpec
    from serialization.formats.answer import Constraint

log = logging.getLogger(__name__)

MIN_KEY = 12
"""Keys of at least this many characters are looked for in flags and templates; shorter ones are placeholders, which local servers
accept."""

CONCURRENCY = 8
"""The default number of parallel requests to an endpoint."""

SHARE = 0.2
"""The default share of the votes that a change needs with --vote share: half of the F1 that can be expected here."""


def chosen_base(options: Options, adapter: Adapter | None) -> str | None:
    """The base by name or folder: the adapter's, otherwise the one that --model names; None for the default base."""
    return adapter.base if adapter else options.model


def answered_task(options: Options, spec: PromptSpec) -> str:
    """The task whose items are answered: an adapter of another task of the same world answers them in its own format."""
    return options.task or spec.task


def refuse_keys(options: Options, spec: PromptSpec) -> None:
    """Raises UsageError if a flag or the template holds the API key of the environment: both are written to the run's folder."""
    from harness.engines.openai.endpoint import KEY_VARIABLES, key_in_environment

    key = key_in_environment() or ""
    if len(key) < MIN_KEY:
        return
    wording = spec.template
    texts = {f"--{flag.replace('_', '-')}": str(value) for flag, value in options if flag != "base_url"}
    files = {f"{wording.folder}/{name}": text for name, text in wording.files.items()}
    for place, text in (texts | files).items():
        if key in text:
            raise UsageError(f"{place} holds the key, and is written to disk: put it into {' or '.join(KEY_VARIABLES)} only")


def build_engine(options: Options, adapter: Adapter | None, merged: Path | None = None) -> Engine:
    """The engine; `merged` is the folder of the base with the adapter merged into it."""
    from harness.engines.engine import ENGINES
    from harness.engines.models.bases import resolve_base
    from harness.util.registry import resolve

    kind: Any = resolve("engine", options.engine, ENGINES)
    engine: Engine
    if options.engine == "openai":
        if not options.base_url or not options.model:
            raise UsageError("--engine openai needs --base-url and --model, e.g. --base-url http://127.0.0.1:8000/v1")
        engine = _endpoint_engine(kind, options)
    elif options.engine == "scripted":
        if not options.model:
            raise UsageError('--engine scripted needs --model FILE: JSON Lines of {"id": ..., "text": ...}')
        engine = kind(Path(options.model))
    else:
        path = adapter.path if adapter and not merged else None
        model = str(merged or resolve_base(chosen_base(options, adapter)))
        more: dict[str, Any] = {}
        if options.quantize == "nf4":
            from harness.engines.shared import quantized_weights

            double = adapter is None or adapter.trained_with.double_quantization
            more = {"quantize": quantized_weights("nf4", double=double)}
        if options.engine == "vllm":
            own = given_to_vllm(options)
            more = {"draws": options.temperature > 0, "feasible": options.constrain == "feasible", "options": own}
        engine = kind(model, adapter=path, context_length=options.context_length, **more)
    if options.batch_size:
        engine.batch_size = options.batch_size
    return engine


@cache
def given_to_vllm(options: Options) -> dict[str, Any]:
    """vLLM's own options, from --vllm and from the words after --. Raises UsageError for an option that vLLM does not know."""
    if not options.vllm and not options.vllm_words:
        return {}
    from harness.engines.vllm.options import engine_options

    return engine_options(options.vllm, options.vllm_words)


def _endpoint_engine(kind: Any, options: Options) -> Engine:
    from harness.engines.openai.request_shape import extra_fields

    given = {"timeout": options.timeout, "max_retries": options.retries}
    engine: Engine = kind(
        options.base_url,
        options.model,
        concurrency=options.concurrency or CONCURRENCY,
        chat=not options.completions,
        context_length=options.context_length,
        extra=extra_fields(options.extra_body),
        tokenizer=counting_tokenizer(options, None),
        max_tokens=options.max_tokens_total,
        say=tell,
        **{key: value for key, value in given.items() if value is not None},
    )
    return engine


def tell(line: str) -> None:
    """Print a line for the user, and write it to the run's log."""
    log.warning(line)
    print(line, file=sys.stderr)


def counting_tokenizer(options: Options, model: str | None) -> Any:
    """The tokenizer that counts the prompts of an engine, without its model; None if only an endpoint has it.

    Raises EngineError if it cannot be loaded.
    """
    from harness.engines.models.bases import load_tokenizer, resolve_base

    name = model if options.engine in LOCAL_ENGINES else options.tokenizer
    return load_tokenizer(resolve_base(name)) if options.engine in LOCAL_ENGINES or name else None


def build_plan(options: Options, spec: PromptSpec, tokenizer: Any, context_length: int, batch_size: int, shots: Shots) -> Plan:
    from harness.engines.engine import Sampling
    from harness.prompting.prompted import Plan
    from prompts.render import THOUGHT_TOKENS, Renderer

    longest = options.max_new_tokens or spec.format.longest
    renderer = Renderer(spec, tokenizer, context_length, longest, options.think_tokens or THOUGHT_TOKENS)
    if spec.thinks and options.engine not in LOCAL_ENGINES:
        raise UsageError(f"--engine {options.engine}: what was trained with thoughts is asked with {' or '.join(LOCAL_ENGINES)}")
    if renderer.thinking is None and options.think_tokens:
        raise UsageError(f"--think-tokens {options.think_tokens}: the model does not think; add --think on")
    # A chat endpoint ends its answers itself, and some begin them with a blank line.
    chats = options.engine == "openai" and not options.completions
    if chats and spec.template.is_plain:
        why = "is plain text, and the endpoint would make a chat of it: add --completions"
        raise UsageError(f"--template {spec.template_name} {why}")
    constraint, feasible = held_by(renderer, options.constrain)
    sampling = Sampling(
        max_tokens=longest,
        temperature=options.temperature,
        seed=options.seed,
        stop=() if chats else renderer.stop,
        stop_token_ids=() if chats else renderer.stop_token_ids,
        constraint=constraint,
        tools=spec.world if chats and spec.format_name == "tools" and not (constraint or feasible) else None,
        # In this process log-probabilities cost little, and with them another --vote finds the same answers in the cache.
        logprobs=options.vote == "likelihood" or (options.samples > 1 and options.engine == "vllm"),
    )
    share = options.share or (SHARE if options.vote == "share" else None)
    return Plan(
        renderer,
        sampling,
        shots,
        options.shots or 0,
        batch_size,
        options.samples,
        share,
        likeliest=options.vote == "likelihood",
        feasible=feasible,
    )


def held_by(renderer: Renderer, constrain: str | None) -> tuple[Constraint | None, bool]:
    """What holds answers to a --constrain: the format's grammar, or the state of the world, with which an engine knows the
    grammar too. In Minecraft, feasibility depends on the state; on a board, every tile can be painted.

    Raises UsageError for feasible programs: programs are run as a whole.
    """
    from serialization.formats.feasible import FORMATS

    spec = renderer.spec
    feasible = constrain == "feasible" and spec.world == "minecraft"
    if feasible and spec.format_name not in FORMATS:
        raise UsageError(f"constrain feasible: answers in the format {spec.format_name} are run as a whole; use constrain format")
    return (renderer.constraint if constrain and not feasible else None), feasible
