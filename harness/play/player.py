"""The players: the parser, a trained baseline, or a language model, here or behind an endpoint."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from adapters.registry import CONFIG_FILE, known_adapters, served_adapter
from harness.baselines import BASELINES, Ruled, load_predictor
from harness.engines.models.bases import DEFAULT_BASE, resolve_base
from harness.prompting.adapter import as_trained, chosen_adapter, chosen_spec, examples_note, merged_folder, model_name
from harness.prompting.options import LOCAL_ENGINES, Options
from harness.prompting.plan import build_engine, build_plan, refuse_keys
from harness.prompting.settings import cached, run_settings
from harness.runs.answering import Predictor
from harness.training.trainable import Trainable
from harness.util.registry import choose, resolve

_OF_ITEMS = ("split", "limit", "items", "items_file", "data_hash", "task", "seed")
"""Settings of `harness prompt` that say which items are asked."""


class GamePlayer(NamedTuple):
    """A predictor that plays. `settings` holds everything that decides its answers."""

    predictor: Predictor
    title: str
    settings: dict[str, Any]


def baseline_player(name: str, task: str) -> GamePlayer:
    """Raises UsageError for a baseline that does not know the task, or has no checkpoint."""
    baseline: Trainable[Any] | Ruled = resolve("baseline", name, BASELINES)()
    choose(f"task of {name}", task, baseline.tasks)
    predictor, _, taken = load_predictor(baseline, name, task)
    source = f" from {taken['checkpoint']}" if taken else ""
    return GamePlayer(predictor, f"{name}{source}", {"model": name, **taken, "batch_size": predictor.batch_size})


@contextmanager
def prompted_player(options: Options, say: Callable[[str], None]) -> Iterator[GamePlayer]:
    """A language model as described by the flags of `harness prompt`, for as long as the context lasts."""
    from harness.prompting.examples import live_shots
    from harness.prompting.prompted import Prompted

    adapter = chosen_adapter(options)
    spec = chosen_spec(options, adapter)
    refuse_keys(options, spec)
    # The seed of the games does not choose an adapter's examples.
    own = adapter.trained_with.examples if adapter and options.shots is None else None
    options = as_trained(options, adapter)
    pool = live_shots(own or options, spec)
    if own and adapter and (note := examples_note(str(options.adapter), adapter)):
        say(note)
    if options.engine in LOCAL_ENGINES and adapter is None:
        resolve_base(options.model)  # The default base may have to be converted, which shows its own status.
    merged = merged_folder(options, adapter, say)
    with closing(build_engine(options, adapter, merged)) as engine:
        plan = build_plan(options, spec, engine.tokenizer, engine.context_length, engine.batch_size, pool)
        settings = run_settings(options, spec, adapter, [], plan, merged=merged is not None)
        kept = {key: value for key, value in settings.items() if key not in _OF_ITEMS}
        names = f"{spec.context_name}, {spec.format_name}; {options.shots} shots"
        title = f"{model_name(options, adapter)}, {options.engine}; {names}"
        with cached(engine, options, settings) as asked:
            yield GamePlayer(Prompted(plan, asked), title, kept)


def adapters_task(model: str | None) -> str | None:
    """The task of the adapter with this name or in this folder; None if the model is something else."""
    return served_adapter(model).spec.task if model and _is_adapter(model) else None


def _is_adapter(model: str) -> bool:
    return model in known_adapters() or any((Path(model) / part / CONFIG_FILE).is_file() for part in ("", "adapter"))


def as_known(model: str | None, options: Options) -> Options:
    """The options with the model as the adapter of that name, or as the base. Raises UsageError for a name that is neither known
    nor a folder nor a hub name."""
    if model is None or options.adapter is not None:
        return options.changed(model=model)
    if _is_adapter(model):
        # An endpoint knows the adapter by its name, which also determines the prompt format.
        return options.changed(model=model if options.base_url else None, adapter=model)
    if "/" not in model and not Path(model).is_dir() and options.engine in LOCAL_ENGINES:
        choose("model", model, [*BASELINES, *known_adapters(), DEFAULT_BASE])
    return options.changed(model=model)
