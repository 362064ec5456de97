"""`harness prompt`: let a model answer the items of a split, and score its answers."""

from __future__ import annotations

import functools
import json
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.prompting.examples import choose_shots, example_pool
from harness.prompting.options import LOCAL_ENGINES, Options
from harness.prompting.plan import (
    answered_task,
    build_engine,
    build_plan,
    chosen_base,
    counting_tokenizer,
    given_to_vllm,
    refuse_keys,
)
from harness.prompting.settings import cached, default_name, run_settings
from harness.tasks.registry import world_of
from harness.util.extras import require
from harness.util.options import ModelCommand

if TYPE_CHECKING:
    from adapters.registry import Adapter
    from harness.corpora import Source
    from harness.corpora.item import Item
    from harness.prompting.prompted import Plan
    from prompts.spec import PromptSpec

_UNCUT = 10_000_000
"""The context length of previews and dry runs if none is known: nothing is cut."""


@click.command(cls=ModelCommand, model=Options)
def prompt(options: Options) -> int:
    """Prompt a model with the items of a split and score its answers.

    \b
    harness prompt --shots 5
    harness prompt --adapter hexagons
    harness prompt --task minecraft --adapter runs/my-adapter --limit 50
    harness prompt --task hexagons,iglu --shots 5
    harness prompt --model Qwen/Qwen3-32B -- --tensor-parallel-size 2 --max-num-seqs 512
    harness prompt --engine openai --base-url http://127.0.0.1:8000/v1 --model smollm2-135m
    """
    tasks = (options.task or "").split(",")
    for task in filter(None, tasks):
        world_of(task)  # Refuses an unknown one before the first is asked.
    named = ({"task": task, "name": options.name and f"{options.name}-{task}"} for task in tasks)
    return _prompt(options) if len(tasks) == 1 else max(_prompt(options.changed(**names)) for names in named)


def _prompt(options: Options) -> int:
    """Prompt for one task. Returns the exit code."""
    from harness.prompting.adapter import as_trained, chosen_adapter, chosen_spec

    given_to_vllm(options)  # Refuses an invalid option before anything is loaded.
    adapter = chosen_adapter(options)
    options = as_trained(options, adapter)
    spec = chosen_spec(options, adapter)
    refuse_keys(options, spec)
    items, pool, source = _items(options, spec)
    if options.preview:
        return _preview(options, spec, adapter, items[: options.limit or 1], pool)
    if options.dry_run:
        return _dry_run(options, spec, adapter, items, pool)
    return _run(options, spec, adapter, items, pool, source)


def _items(options: Options, spec: PromptSpec) -> tuple[list[Item], list[Item], Source]:
    """The items to answer, the items for examples, and the corpus."""
    from harness.corpora import load, locate
    from harness.corpora.held_out import not_asked
    from harness.corpora.records import load_items

    task = answered_task(options, spec)
    items = load_items(Path(options.items_file), task) if options.items_file else load(task, options.split or "dev")
    say = functools.partial(click.echo, err=True)
    pool = not_asked(example_pool(spec, task, options.programs, say), items) if options.shots else []
    return items[: options.limit], pool, locate(task)


def _preview(options: Options, spec: PromptSpec, adapter: Adapter | None, items: list[Item], pool: list[Item]) -> int:
    """Print the exact prompts and their token counts; only the tokenizer is loaded."""
    plan = _engineless_plan(options, spec, adapter, items, pool)
    known = options.context_length or options.engine in LOCAL_ENGINES
    room = f" of {plan.renderer.budget}" if known else ""
    for item in items:
        rendered = plan.render(item)
        click.echo(rendered.text)
        count = f"{len(rendered.token_ids)} tokens" if rendered.token_ids else f"about {len(rendered.text) // 3} tokens"
        click.echo(
            f"[{item.id}: {count}{room}; {rendered.dropped_history} turns and {rendered.dropped_shots} examples left out]",
            err=True,
        )
    return 0


def _engineless_plan(options: Options, spec: PromptSpec, adapter: Adapter | None, items: list[Item], pool: list[Item]) -> Plan:
    """The plan of a run; only the tokenizer is loaded."""
    from harness.engines.models.bases import model_context_length, resolve_base

    model = chosen_base(options, adapter)
    tokenizer = counting_tokenizer(options, model)
    length = options.context_length
    if not length:
        length = model_context_length(resolve_base(model)) if options.engine in LOCAL_ENGINES else _UNCUT
    return build_plan(options, spec, tokenizer, length, 1, choose_shots(options, items, pool))


def _dry_run(options: Options, spec: PromptSpec, adapter: Adapter | None, items: list[Item], pool: list[Item]) -> int:
    """Print the requests, and how many tokens they take at most; answers that later prompts show count as empty."""
    from prompts.render import PromptTooLongError

    plan = _engineless_plan(options, spec, adapter, items, pool)
    prompt, requests, unfit = 0, 0, 0
    for item in items:
        try:
            rendered = plan.render(item)
        except PromptTooLongError:
            unfit += 1
            continue
        requests += plan.samples
        counted = len(rendered.token_ids) or plan.renderer.estimate(rendered.text)
        prompt += plan.samples * counted
    facts = {
        "requests": requests,
        "prompt_tokens": prompt,
        "prompt_tokens_exact": plan.renderer.tokenizer is not None,
        "completion_tokens_at_most": requests * plan.sampling.max_tokens,
        "items_that_do_not_fit": unfit,
    }
    lines = [f"{name.replace('_', ' ')}: {count}" for name, count in facts.items()]
    click.echo(json.dumps(facts) if options.as_json else "\n".join(lines))
    return 0


def _run(options: Options, spec: PromptSpec, adapter: Adapter | None, items: list[Item], pool: list[Item], source: Source) -> int:
    from rich.console import Console

    from eval.finishing import finish
    from harness.engines.models.bases import resolve_base
    from harness.engines.openai.engine import OpenAIEngine, TokenUsage
    from harness.prompting.adapter import merged_folder, model_name
    from harness.prompting.prompted import Prompted
    from harness.runs.answering import answer_items
    from harness.runs.folder import RUNS, Run, described, log_to
    from prompts.render import thinking
    from prompts.rendered import ON

    if options.engine in LOCAL_ENGINES:
        require(options.engine)
    name = options.name or default_name(options, spec)
    origin = "" if options.items_file else f" of {source.name}"
    click.echo(
        f"{answered_task(options, spec)} {options.part}: {len(items)} items{origin}; engine {options.engine}, "
        f"model {model_name(options, adapter)}; "
        f"{spec.context_name}, {spec.format_name}, {spec.frame} frame; {options.shots} shots; {RUNS / name}",
        err=options.as_json,
    )
    with ExitStack() as stack:
        if options.engine in LOCAL_ENGINES and adapter is None:
            resolve_base(options.model)  # The default base may have to be converted, which shows its own status.
        shots = choose_shots(options, items, pool)
        merged = merged_folder(options, adapter, functools.partial(click.echo, err=True))
        with Console(stderr=True).status("loading the model"):
            engine = stack.enter_context(closing(build_engine(options, adapter, merged)))
        begun = described(RUNS / name)
        if begun and not options.batch_size:
            # A run resumes with its own batch size even if the default has changed.
            engine.batch_size = begun.get("batch_size") or engine.batch_size
        plan = build_plan(options, spec, engine.tokenizer, engine.context_length, engine.batch_size, shots)
        if not spec.thinks and options.think is None and plan.renderer.is_chat and thinking(engine.tokenizer, ON):
            click.echo("thinking is off, and the model's chat template can turn it on: --think on", err=True)
        settings = run_settings(options, spec, adapter, items, plan, merged=merged is not None)
        run = stack.enter_context(closing(Run(RUNS / name, settings)))
        log_to(run.folder)
        if isinstance(engine, OpenAIEngine):
            engine.used = sum(map(TokenUsage.of_record, run.records), TokenUsage())
        engine = stack.enter_context(cached(engine, options, settings))
        answers = Prompted(plan, engine)
        answer_items(run, items, answers, functools.partial(click.echo, err=True))
        if found := getattr(engine, "cached", 0):
            click.echo(f"{found} of {getattr(engine, 'answered', found)} answers came from the cache", err=True)
    return finish(run, items, as_json=options.as_json, longest="--max-new-tokens")
