"""From the flags of `harness prompt` to an engine, a plan and the settings that make two runs the same."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.engines.bases import DEFAULT_BASE
from harness.engines.engine import without_secrets
from harness.errors import UsageError
from harness.runs.shot_choice import RANDOM, check_choice, choice_settings
from harness.util.hashing import short_hash

if TYPE_CHECKING:
    from adapters.registry import Adapter
    from harness.corpora.item import Item
    from harness.engines.engine import Engine
    from harness.engines.spending import Spending
    from harness.runs.prompted import Plan
    from prompts.shots import Shots
    from prompts.spec import PromptSpec

log = logging.getLogger(__name__)

MIN_KEY = 12
"""The characters of a key that is looked for in flags and templates; servers at home take any word for one."""

CONCURRENCY = 8
"""Requests to an endpoint at a time."""

CHOICE = ("select", "shot_ids", "encoder", "shot_order")
"""Flags that say which examples a prompt has."""

OUTSIDE = (
    *("name", "preview", "json", "concurrency", "items_file", "merge", "constrain", "cache", "vllm", "vllm_words"),
    *("diff", "think", "images", *CHOICE),
    *("timeout", "retries", "retry_errors", "prices", "max_cost", "max_tokens_total", "dry_run", "batch_api"),
)
"""Flags that cannot change a prediction, and those that are recorded in another form."""

IF_GIVEN = ("dialect", "reasoning_effort", "extra_body", "chat_template_kwargs", "tokenizer")
"""Flags that runs record only where they are given, as earlier runs did not have them."""

LOCAL_ENGINES = ("vllm", "transformers")
"""Engines that load the base model themselves and can put an adapter on it."""

BATCH_ENGINE = "harness.engines.batch_api:BatchEngine"
VOTES = ("mbr", "share", "likelihood")
"""How one answer is made of several: the most agreed one, the changes of enough of them, the one whose tokens are likeliest."""
SHARE = 0.2
"""Of the votes that a change needs, for --vote share: half of the F1 that can be expected here."""

LIKELIHOOD = ("vllm", "openai")
"""Engines that tell how likely an answer is."""

ONLY_FOR = {
    "adapter": (*LOCAL_ENGINES, "openai"),
    "merge": ("vllm",),
    "vllm": ("vllm",),
    "base_url": ("openai",),
    "completions": ("openai",),
    "concurrency": ("openai",),
    "constrain": ("vllm", "openai"),
    "dialect": ("openai",),
    "images": ("openai",),
    "context_length": (*LOCAL_ENGINES, "openai"),
    "reasoning_effort": ("openai",),
    "extra_body": ("openai",),
    "chat_template_kwargs": ("openai",),
    "tokenizer": ("openai",),
    "batch_api": ("openai",),
    "timeout": ("openai",),
    "retries": ("openai",),
    "prices": ("openai",),
    "max_cost": ("openai",),
    "max_tokens_total": ("openai",),
}
"""Flags that mean nothing to the other engines."""


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of `harness prompt`."""

    task: str | None
    split: str | None
    items_file: str | None
    shots: int
    engine: str
    model: str | None
    adapter: str | None
    merge: bool | None
    base_url: str | None
    context: str | None
    format: str | None
    frame: str | None
    template: str | None
    limit: int | None
    seed: int
    name: str | None
    constrain: str | None
    temperature: float
    samples: int
    share: float | None
    vote: str | None
    repair: bool
    max_new_tokens: int | None
    context_length: int | None
    batch_size: int | None
    concurrency: int | None
    completions: bool
    dialect: str | None
    reasoning_effort: str | None
    extra_body: str | None
    chat_template_kwargs: str | None
    tokenizer: str | None
    timeout: float | None
    retries: int | None
    retry_errors: bool
    prices: str | None
    max_cost: float | None
    max_tokens_total: int | None
    dry_run: bool
    batch_api: bool
    cache: bool
    vllm: tuple[str, ...]
    vllm_words: tuple[str, ...]
    """What follows -- on the command line."""
    select: str | None
    shot_ids: str | None
    encoder: str | None
    shot_order: str | None
    think: int | None
    images: str | None
    diff: tuple[str, ...]
    preview: bool
    json: bool

    @property
    def part(self) -> str:
        """The split, or the name of the file of items."""
        return Path(self.items_file).name if self.items_file else self.split or "dev"

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= 2.0:
            raise UsageError(f"--temperature {self.temperature}: a number from 0 (greedy) to 2")
        if self.samples > 1 and self.temperature == 0:
            raise UsageError(f"--samples {self.samples}: greedy answers are all the same; add --temperature, e.g. 0.7")
        if self.share is not None and self.samples == 1:
            raise UsageError(f"--share {self.share}: one answer per item leaves nothing to vote on; add --samples, e.g. 8")
        if self.vllm_words and (self.engine != "vllm" or not self.vllm_words[0].startswith("-")):
            raise UsageError(f"unexpected argument {self.vllm_words[0]!r}: only options of vLLM may follow --, for --engine vllm")
        if self.vote not in (None, *VOTES):
            raise UsageError(f"--vote {self.vote}: one of {', '.join(VOTES)}")
        if self.vote is not None and self.samples == 1:
            raise UsageError(f"--vote {self.vote}: one answer per item leaves nothing to vote on; add --samples, e.g. 8")
        if self.share is not None and self.vote not in (None, "share"):
            raise UsageError(
                f"--share {self.share}: it belongs to --vote share, not to --vote {self.vote}; leave one of them out"
            )
        if self.vote == "likelihood" and self.engine not in LIKELIHOOD:
            raise UsageError(f"--vote likelihood is for {' and '.join(LIKELIHOOD)}; --engine {self.engine} tells no likelihoods")
        if self.repair and self.samples > 1:
            raise UsageError("--repair asks again for a single answer; leave out --samples")
        check_choice(self.shots, self.select, self.shot_ids, self.encoder, self.shot_order)
        if self.think and self.constrain:
            raise UsageError(
                f"--think {self.think}: --constrain holds answers to the format, which has no thoughts; leave one out"
            )
        if self.images and self.completions:
            raise UsageError("--images are parts of chat messages: leave --completions out")
        if self.diff and not self.preview:
            raise UsageError("--diff compares prompts: add --preview")
        if self.items_file and self.split:
            raise UsageError(f"--split {self.split}: the items come from {self.items_file}; leave the flag out")
        if self.batch_api and (self.max_cost is not None or self.max_tokens_total is not None):
            raise UsageError("--batch-api asks everything at once, which no limit can stop: look at --dry-run, or leave one out")
        for flag, engines in ONLY_FOR.items():
            if getattr(self, flag) not in (None, False, ()) and self.engine not in engines:
                raise UsageError(
                    f"--{flag.replace('_', '-')} is for {' and '.join(engines)}; --engine {self.engine} does not take it"
                )
        if self.base_url is not None and not re.match(r"https?://[^/]", self.base_url):
            raise UsageError(f"--base-url {without_secrets(self.base_url)}: it must begin with http:// or https:// and a host")


def chosen_adapter(options: Options) -> Adapter | None:
    """The adapter named by --adapter, if any. Raises as `load_adapter` does."""
    if options.adapter is None:
        return None
    from adapters.registry import load_adapter, served_adapter

    if options.engine not in LOCAL_ENGINES:
        return served_adapter(options.adapter)
    adapter: Adapter = load_adapter(options.adapter, options.model)
    return adapter


def merges(options: Options, adapter: Adapter | None) -> bool:
    """Whether the engine gets a model with the adapter merged into it, which is many times faster on a CPU."""
    if adapter is None or options.engine != "vllm":
        return False
    from adapters.merging import worth_merging

    return worth_merging(adapter) if options.merge is None else options.merge


def chosen_base(options: Options, adapter: Adapter | None) -> str | None:
    """The base by name or folder: what --model names, or else the adapter's own; None for the default one."""
    return adapter.base if adapter else options.model


def chosen_spec(options: Options, adapter: Adapter | None) -> PromptSpec:
    """The prompt format: with an adapter, or a model that was fine-tuned here, its own and no other."""
    from adapters.registry import trained_spec
    from prompts.spec import PromptSpec
    from prompts.template import get_template

    spec = adapter.spec if adapter else trained_spec(options.model) if options.engine in LOCAL_ENGINES else None
    if spec is None:
        names = options.task or "hexagons", options.context, options.format, options.frame, options.template
        return replace(PromptSpec.make(*names, options.images), think=options.think or 0)
    trainee = f"the adapter {options.adapter}" if adapter else f"the model {options.model}"
    for key in ("task", "context", "format", "frame"):
        asked, trained = getattr(options, key), getattr(spec, key)
        if asked not in (None, trained):
            raise UsageError(f"--{key} {asked}: {trainee} was trained with {trained}; leave the flag out")
    if options.think or options.images:
        raise UsageError(f"--{'think' if options.think else 'images'}: {trainee} was trained without; leave the flag out")
    if options.template is not None and get_template(options.template).hash != spec.wording.hash:
        raise UsageError(f"--template {options.template}: {trainee} was trained with another; leave the flag out")
    return spec


def refuse_keys(options: Options, spec: PromptSpec) -> None:
    """Raises UsageError where a flag or the template holds the key of the environment: both are written to the run's folder."""
    from harness.engines.endpoint import KEY_VARIABLES, key_in_environment

    key = key_in_environment() or ""
    if len(key) < MIN_KEY:
        return
    folder = spec.wording.folder
    texts = {f"--{flag.replace('_', '-')}": str(value) for flag, value in asdict(options).items() if flag != "base_url"}
    files = {str(path): path.read_text(errors="replace") for path in (folder.iterdir() if folder else ()) if path.is_file()}
    for place, text in (texts | files).items():
        if key in text:
            raise UsageError(f"{place} holds the key, and is written to disk: {' or '.join(KEY_VARIABLES)} is the place for it")


def build_engine(options: Options, adapter: Adapter | None, merged: Path | None = None) -> Engine:
    """The engine; `merged` is the folder of the base with the adapter merged into it."""
    from harness.engines.bases import resolve_base
    from harness.engines.engine import ENGINES
    from harness.util.registry import resolve

    kind: Any = resolve("engine", options.engine, ENGINES)
    engine: Engine
    if options.engine == "openai":
        if not options.base_url or not options.model:
            raise UsageError("--engine openai needs --base-url and --model, e.g. --base-url http://127.0.0.1:8000/v1")
        engine = _endpoint_engine(resolve("engine", "batch", {"batch": BATCH_ENGINE}) if options.batch_api else kind, options)
    elif options.engine == "scripted":
        if not options.model:
            raise UsageError('--engine scripted needs --model FILE: JSON Lines of {"id": ..., "text": ...}')
        engine = kind(Path(options.model))
    else:
        path = adapter.path if adapter and not merged else None
        model = str(merged or resolve_base(chosen_base(options, adapter)))
        more: dict[str, Any] = {}
        if options.engine == "vllm":
            feasible = options.constrain == "feasible"
            more = {"draws": options.temperature > 0, "feasible": feasible, "options": given_to_vllm(options)}
        engine = kind(model, adapter=path, context_length=options.context_length, **more)
    if options.batch_size:
        engine.batch_size = options.batch_size
    return engine


@cache
def given_to_vllm(options: Options) -> dict[str, Any]:
    """vLLM's own options: those of --vllm, and those that follow --. Raises UsageError for what vLLM does not know."""
    if not options.vllm and not options.vllm_words:
        return {}
    from harness.engines.vllm_options import engine_options

    return engine_options(options.vllm, options.vllm_words)


def recorded_for_vllm(options: Options) -> dict[str, Any]:
    """The setting "vllm" of a run, only where options are given that may change an answer."""
    if not (given := given_to_vllm(options)):
        return {}
    from harness.engines.vllm_options import recorded

    return {"vllm": told} if (told := recorded(given)) else {}


def _endpoint_engine(kind: Any, options: Options) -> Engine:
    from harness.engines.request_shape import DIALECTS, extra_fields

    given = {"timeout": options.timeout, "max_retries": options.retries}
    engine: Engine = kind(
        options.base_url,
        options.model,
        concurrency=options.concurrency or CONCURRENCY,
        chat=not options.completions,
        context_length=options.context_length,
        extra=extra_fields(options.reasoning_effort, options.extra_body, options.chat_template_kwargs),
        tokenizer=counting_tokenizer(options, None),
        spending=spending_of(options),
        say=tell,
        dialect=options.dialect or DIALECTS[0],
        **{key: value for key, value in given.items() if value is not None},
    )
    return engine


def tell(line: str) -> None:
    """A line for the user and the run's log."""
    log.warning(line)
    print(line, file=sys.stderr)


def spending_of(options: Options) -> Spending:
    """The price of the model and the limits. Raises UsageError for a limit in money where no price is known."""
    from harness.engines.spending import Spending, read_prices

    prices = read_prices(Path(options.prices) if options.prices else None)
    price = prices.of(options.model or "")
    if options.max_cost is not None and price is None:
        raise UsageError(
            f"--max-cost {options.max_cost:g}: no price is known for {options.model}: give a table with --prices FILE"
        )
    share = prices.batch if options.batch_api else 1.0
    return Spending(price, prices.currency, options.max_cost, options.max_tokens_total, share)


def counting_tokenizer(options: Options, model: str | None) -> Any:
    """The tokenizer that counts the prompts of an engine, without its model; None if only an endpoint has it.

    Raises EngineError if it cannot be loaded.
    """
    from harness.engines.bases import load_tokenizer, resolve_base

    name = model if options.engine in LOCAL_ENGINES else options.tokenizer
    return load_tokenizer(resolve_base(name)) if options.engine in LOCAL_ENGINES or name else None


def answer_tokens(options: Options, spec: PromptSpec) -> int:
    """The longest answer, in tokens: --max-new-tokens or the format's and the thought's."""
    return options.max_new_tokens or spec.written.longest + spec.think


def build_plan(options: Options, spec: PromptSpec, tokenizer: Any, context_length: int, batch_size: int, shots: Shots) -> Plan:
    from harness.engines.engine import Sampling
    from harness.runs.prompted import Plan
    from prompts.render import Renderer

    renderer = Renderer(spec, tokenizer, context_length, answer_tokens(options, spec))
    # A chat endpoint ends its answers itself, and some begin them with a blank line.
    chats = options.engine == "openai" and not options.completions
    if options.constrain and spec.frame == "pose":
        raise UsageError("--constrain holds answers to whole numbers, which --frame pose has not: leave one of them out")
    if chats and spec.wording.is_plain:
        raise UsageError(f"--template {spec.template} is plain text, and the endpoint would make a chat of it: add --completions")
    if spec.think and renderer.stop and not chats and options.engine != "scripted":
        raise UsageError("--think: a model without a chat template, or with a template in plain text, ends at an empty line")
    feasible = options.constrain == "feasible" and held_to_state(spec)
    if options.dialect:
        _check_dialect(options.dialect, options.constrain, feasible, spec)
    sampling = Sampling(
        max_tokens=answer_tokens(options, spec),
        temperature=options.temperature,
        seed=options.seed,
        stop=() if chats else renderer.stop,
        # What is feasible is of the format, where the engine knows the state.
        constraint=spec.written.constraint() if options.constrain and not feasible else None,
        # In this process they cost little, and another vote finds the same answers in the cache.
        logprobs=options.vote == "likelihood" or (options.samples > 1 and options.engine == "vllm"),
    )
    share = options.share or (SHARE if options.vote == "share" else None)
    return Plan(
        renderer,
        sampling,
        shots,
        options.shots,
        batch_size,
        options.samples,
        share,
        likeliest=options.vote == "likelihood",
        repair=options.repair,
        feasible=feasible,
    )


def _check_dialect(dialect: str, constrain: str | None, feasible: bool, spec: PromptSpec) -> None:
    """Raises UsageError for a dialect that holds no answers, or not to this format."""
    from harness.engines.request_shape import held

    if constrain is None:
        raise UsageError(f"--dialect {dialect} says how answers are held to a format: add --constrain format")
    if feasible:
        raise UsageError("--constrain feasible is for endpoints of harness serve, which need no --dialect: leave it out")
    held(spec.written.constraint(), dialect)


def held_to_state(spec: PromptSpec) -> bool:
    """Whether what is feasible depends on the state of the world: in Minecraft; on a board, every tile can be painted.

    Raises UsageError for programs, which are run as a whole.
    """
    from serialization.formats.feasible import FORMATS

    if spec.task != "minecraft":
        return False
    if spec.format not in FORMATS:
        raise UsageError(f"--constrain feasible: answers in the format {spec.format} are run as a whole; use --constrain format")
    return True


def run_settings(options: Options, spec: PromptSpec, adapter: Adapter | None, items: list[Item], plan: Plan) -> dict[str, Any]:
    """Everything that decides the predictions."""
    from harness.engines.bases import base_origin, display_name, fingerprint, resolve_base
    from harness.runs.folder import items_hash
    from prompts.probe import format_hash

    asked = {k: v for k, v in asdict(options).items() if k not in (*OUTSIDE, *IF_GIVEN, "template")}
    asked["share"] = plan.share
    if options.samples == 1:
        del asked["samples"], asked["share"]  # So that runs begun before there was voting resume.
    for flag in ("vote", "repair"):
        if not asked[flag]:
            del asked[flag]
    base = resolve_base(chosen_base(options, adapter)) if options.engine in LOCAL_ENGINES else None
    return {
        **asked,
        **spec.fields,
        "split": options.part,
        **({"items_file": options.items_file} if options.items_file else {}),
        "model": options.model or (display_name(adapter.base) if adapter else DEFAULT_BASE),
        "base_url": without_secrets(options.base_url or "") or None,
        "script_hash": _file_hash(Path(options.model)) if options.engine == "scripted" and options.model else None,
        "shots_hash": plan.pool.hash,
        **choice_settings(options),
        "base_fingerprint": fingerprint(base) if base else None,
        **(base_origin(base) if base else {}),
        "adapter_fingerprint": fingerprint(adapter.path) if adapter else None,
        **({"merged": True} if merges(options, adapter) else {}),
        **recorded_for_vllm(options),
        "prompt_hash": format_hash(spec),
        "data_hash": items_hash(items),
        "items": len(items),
        "batch_size": plan.batch_size,
        "constrained": _CONSTRAINED[options.constrain],
        **{key: value for key in IF_GIVEN if (value := getattr(options, key)) is not None},
        "max_new_tokens": plan.sampling.max_tokens,
        "context_length": plan.renderer.budget + plan.sampling.max_tokens,
    }


OF_THE_PROMPT = (
    *("task", "split", "shots", "context", "format", "frame", "template", "seed", "limit", "items", "items_file", "batch_size"),
    *(
        "samples",
        "share",
        "vote",
        "repair",
        "temperature",
        "constrained",
        "max_new_tokens",
        "shots_hash",
        "prompt_hash",
        "data_hash",
    ),
)
"""Settings that decide an answer only by its prompt, or by `Sampling`, which the cache knows apart."""


@contextmanager
def cached(engine: Engine, options: Options, settings: dict[str, Any]) -> Iterator[Engine]:
    """The engine behind the user's cache of completions. Scripted answers have none."""
    if options.engine == "scripted" or not options.cache:
        yield engine
        return
    from harness.engines.cache import CachedEngine, Completions, machine

    identity = {key: value for key, value in settings.items() if key not in OF_THE_PROMPT}
    # The settings have it without what may be secret. Only a hash of all this is kept.
    identity["base_url"] = options.base_url
    if options.engine in LOCAL_ENGINES:
        identity["machine"] = machine()
    with closing(Completions()) as cache:
        yield CachedEngine(engine, identity, cache)


_CONSTRAINED: dict[str | None, bool | str] = {None: False, "format": True, "feasible": "feasible"}
"""How a run records --constrain."""


def _file_hash(path: Path) -> str | None:
    return short_hash([path.read_bytes()]) if path.is_file() else None


def default_name(options: Options, spec: PromptSpec) -> str:
    """The run's name, built from its settings."""
    model = Path(options.adapter or options.model or DEFAULT_BASE)
    model_name = model.parent.name if model.name in ("adapter", "model") else model.name
    _, *prompt_format = spec.name.split("/")
    parts = [spec.task, options.part, model_name, *prompt_format, f"{options.shots}-shot"]
    parts += [options.select] if options.select not in (None, RANDOM) else []
    parts += [Path(options.encoder).name] if options.encoder else []
    parts += [options.shot_order] if options.shot_order else []
    parts += [f"seed-{options.seed}"] if options.seed else []
    parts += [f"first-{options.limit}"] if options.limit else []
    parts += {"format": ["constrained"], "feasible": ["feasible"]}.get(options.constrain or "", [])
    parts += [f"{options.samples}-samples"] if options.samples > 1 else []
    parts += [options.vote] if options.vote else []
    parts += ["repair"] if options.repair else []
    return "_".join(parts).replace("/", "-")
