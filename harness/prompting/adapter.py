"""How a model is asked with an adapter: the options of `harness prompt` together with what the adapter records of itself."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

from adapters.catalog import SCORES_FILE, ScoredRun
from adapters.merging import merged_model, worth_merging
from adapters.registry import Adapter, TrainedWith, find_adapter, load_adapter, read_record, served_adapter, trained_spec
from harness.corpora import locate
from harness.engines.models.bases import DEFAULT_BASE, display_name
from harness.engines.shared import brief, missing_for_quantization
from harness.errors import UsageError
from harness.prompting.options import LOCAL_ENGINES, Options
from harness.prompting.plan import tell
from harness.prompting.settings import decoding_of
from harness.runs.folder import described, find_run
from harness.tasks.registry import DEFAULT_TASK, world_of
from prompts.rendered import ON
from prompts.shots import RANDOM
from prompts.spec import PromptSpec
from prompts.template import get_template


def chosen_adapter(options: Options) -> Adapter | None:
    """The adapter named by --adapter, if any. Raises as `load_adapter` does."""
    if options.adapter is None:
        return None
    return load_adapter(options.adapter, options.model) if options.engine in LOCAL_ENGINES else served_adapter(options.adapter)


def as_trained(options: Options, adapter: Adapter | None) -> Options:
    """The options, completed from the adapter's training: its examples and, if this machine supports it, the precision of its
    base. Tells the user what differs from the training."""
    was = adapter.trained_with if adapter else TrainedWith()
    chosen = options.select or RANDOM
    if options.shots is None:
        select = options.select or (was.select if was.shots else None)
        options = options.changed(shots=was.shots, select=select, seed=options.seed or was.seed)
    elif adapter and (options.shots, chosen if options.shots else was.select) != (was.shots, was.select or RANDOM):
        tell(f"{options.shots} examples ({chosen}): the adapter was trained with {was.shots} ({was.select or RANDOM})")
    if not was.quantize or options.engine not in LOCAL_ENGINES:
        return options
    if options.engine == "transformers" and options.quantize is None and not missing_for_quantization():
        return options.changed(quantize=was.quantize)
    if options.quantize != was.quantize:
        tell(
            f"the adapter was trained on a base in 4 bits ({was.quantize}) but is asked on one in full precision: "
            f"on a GPU with bitsandbytes, --engine transformers --quantize {was.quantize} asks it as it was trained"
        )
    return options


def examples_note(name: str, adapter: Adapter) -> str | None:
    """A warning if an adapter needs examples and this machine has only the shipped sample's; otherwise None."""
    shots = adapter.trained_with.shots
    if not shots or locate(adapter.spec.task).kind == "official":
        return None
    return (
        f"{name} was trained with {shots} examples in front of every item, and now gets examples from the shipped sample: "
        f"`harness data get {adapter.spec.task}` downloads the corpus that it was trained on"
    )


def merges(options: Options, adapter: Adapter | None) -> bool:
    """Whether the engine gets a model with the adapter merged into it, which is many times faster on a CPU."""
    if adapter is None or options.engine != "vllm":
        return False
    return worth_merging(adapter) if options.merge is None else options.merge


def merged_folder(options: Options, adapter: Adapter | None, say: Callable[[str], None]) -> Path | None:
    """The folder of the merged model; None if not merging."""
    return merged_model(adapter, say) if adapter and merges(options, adapter) else None


def model_name(options: Options, adapter: Adapter | None) -> str:
    """The model's name in the first line of a command's output."""
    base = options.model or (display_name(adapter.base) if adapter else DEFAULT_BASE)
    if adapter is None:
        return base
    how = "merged" if merges(options, adapter) else "not merged" if options.engine in LOCAL_ENGINES else "served"
    return f"{base} + {options.adapter} ({how})"


def chosen_spec(options: Options, adapter: Adapter | None) -> PromptSpec:
    """The prompt format that the adapter or the fine-tuned model was trained with, otherwise the options'. Raises UsageError for
    options that contradict the training."""
    spec = adapter.spec if adapter else trained_spec(options.model) if options.engine in LOCAL_ENGINES else None
    if spec is None:
        names = options.task or DEFAULT_TASK, options.context, options.format, options.frame, options.template
        return PromptSpec.make(*names, think=options.thinks)
    trainee = f"the adapter {options.adapter}" if adapter else f"the model {options.model}"
    for key in ("task", "context", "format", "frame"):
        asked, trained = getattr(options, key), spec.fields[key]
        if asked not in (None, trained) and not (key == "task" and world_of(asked) == spec.world):
            raise UsageError(f"--{key} {asked}: {trainee} was trained with {trained}; leave the flag out")
    if options.thinks not in (None, spec.think):
        raise UsageError(
            f"--think {options.think or ON} {options.reasoning_effort or ''}".rstrip()
            + f": {trainee} was trained with think {spec.think}; leave the flags out"
        )
    if options.template is not None and get_template(options.template).hash != spec.template.hash:
        raise UsageError(f"--template {options.template}: {trainee} was trained with another; leave the flag out")
    return spec


def scored_run(run: str, adapter: str, name: str) -> ScoredRun:
    """The scores of a run with an adapter, and the command that makes such a run with the adapter as `name`.

    Raises UsageError for a run that has no scores or used another adapter.
    """
    folder, source = find_run(run), find_adapter(adapter)
    settings, path = described(folder) or {}, folder / SCORES_FILE
    try:
        scores = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"--scores {run}: {path} cannot be read ({brief(error)}); make it with `harness score --save`") from None
    used = settings.get("adapter")
    if not used or find_adapter(str(used)).resolve() != source.resolve():
        raise UsageError(f"--scores {run}: the run used {used or 'no adapter'}, not {source}")
    decoding = decoding_of(settings)
    words = ["harness", "prompt", "--adapter", name, "--split", str(settings.get("split", "dev"))]
    if items_file := settings.get("items_file"):
        words[-2:] = ["--items", str(items_file)]
    about = read_record(source)
    longest = PromptSpec.make(about.task, about.context, about.format, about.frame).format.longest
    defaults = {"task": about.task, "shots": 0, "engine": "vllm", "limit": None, "seed": about.trained_with.seed}
    defaults |= {"base_url": None, "extra_body": None, "tokenizer": None, "max_new_tokens": longest}
    given = {key: settings.get(key, default) for key, default in defaults.items() if settings.get(key, default) != default}
    # Of other engines, the model is the adapter's base.
    given |= {"model": settings.get("model")} if "base_url" in given else {}
    words += [word for key, value in (given | decoding).items() for word in (f"--{key.replace('_', '-')}", str(value))]
    words += ["--completions"] if settings.get("completions") else []
    return ScoredRun(shlex.join(words), scores, decoding)
