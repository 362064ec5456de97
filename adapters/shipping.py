"""A trained adapter as a folder to keep or to ship: float16 weights, a card, and the scores of runs with it."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from adapters.catalog import CARD_FILE, SCORES_FILE, ScoredRun
from adapters.recipe import load_recipe
from adapters.registry import (
    CONFIG_FILE,
    HARNESS_FILE,
    TEMPLATE_FOLDER,
    WEIGHTS_FILE,
    AdapterRecord,
    find_adapter,
    read_record,
)
from eval.export import eval_results
from harness.corpora import locate
from harness.engines.models.known import KNOWN
from harness.engines.shared import brief
from harness.errors import AdapterError, HarnessError, UsageError
from harness.prompting.settings import decoding_of
from harness.runs.folder import described, find_run
from harness.tasks.registry import get_task, world_of
from harness.util.files import filled
from harness.util.settings import flat
from prompts.chat_template import CHAT_TEMPLATE
from prompts.spec import DEFAULTS

MAX_BYTES = 12_000_000
"""Size limit of an adapter that ships with the package."""
LOST = 1e-3
"""Largest allowed relative error of a weight matrix in float16; rounding alone causes a third of it."""

_METRICS = {"hexagons": ["f1", "exact_match"], "minecraft": ["f1"]}
"""The hub's names of the metrics."""
_CURVE = ("step", "seconds", "reward", "entropy", "apart", "train_loss", "dev_loss", "dev_f1")
"""The values that a training's curve may hold, in the order of a card's columns."""


def export_adapter(name: str | Path, target: Path, scored: Sequence[str], *, large: bool = False, note: str = "") -> float:
    """Copy an adapter to a new folder, complete or absent; returns its size in MB. `name` is as in `load_adapter`.

    `scored` are runs with the adapter; their scores go into its card, as does `note`. Raises UsageError if the target exists,
    and AdapterError for weights that float16 cannot hold or, unless `large`, that are too many to ship.
    """
    if target.exists():
        raise UsageError(f"{target} already exists: name a new folder")
    source = find_adapter(name)
    scores = [_scored(run, target.name, source) for run in scored]
    weights = _half(source / WEIGHTS_FILE)
    size = sum(value.numel() * 2 for value in weights.values())
    if size > MAX_BYTES and not large:
        raise AdapterError(
            f"{source} takes {size / 1e6:.1f} MB; an adapter that ships may take {MAX_BYTES / 1e6:.0f} MB: "
            "train with a smaller lora.r, or add --large"
        )
    try:
        with filled(target) as partial:
            _write(source, partial, weights, scores)
            parameters = sum(value.numel() for value in weights.values())
            (partial / CARD_FILE).write_text(render_card(target.name, source, scores, parameters, note))
    except OSError as error:
        raise HarnessError(f"{target} cannot be written: {error.strerror or brief(error)}") from error
    return (target / WEIGHTS_FILE).stat().st_size / 1e6


def _half(path: Path) -> dict[str, Any]:
    """The weights in float16. Raises AdapterError if a matrix changes by more than `LOST`."""
    import torch
    from safetensors.torch import load_file

    try:
        stored = load_file(path)
    except Exception as error:
        raise AdapterError(f"{path} cannot be read: {brief(error)}") from error
    weights = {name: value.to(torch.float16) for name, value in stored.items()}
    for name, value in stored.items():
        exact, rounded = value.double(), weights[name].double()
        lost = float((exact - rounded).norm() / exact.norm().clamp_min(1e-30))
        if not lost <= LOST:
            raise AdapterError(f"{path}: float16 cannot hold {name}: it changes by {lost:.1%}")
    return weights


def _write(source: Path, partial: Path, weights: dict[str, Any], scores: Sequence[ScoredRun]) -> None:
    """Write the adapter's files, but for its card. Raises AdapterError if the weights read back differ from those written."""
    import torch
    from safetensors.torch import load_file, save_file

    config = json.loads((source / CONFIG_FILE).read_bytes())
    # The base's path is private, and wrong on any other machine.
    name, _, revision = read_record(source).base.partition("@")
    config |= {"base_model_name_or_path": name, "revision": revision or None}
    (partial / CONFIG_FILE).write_text(json.dumps(config, indent=1) + "\n")
    shutil.copyfile(source / HARNESS_FILE, partial / HARNESS_FILE)
    if (source / CHAT_TEMPLATE).is_file():
        shutil.copyfile(source / CHAT_TEMPLATE, partial / CHAT_TEMPLATE)
    if (source / TEMPLATE_FOLDER).is_dir():
        # What a link leads to is not for others.
        shutil.copytree(source / TEMPLATE_FOLDER, partial / TEMPLATE_FOLDER, symlinks=True)
    save_file({name: value.contiguous() for name, value in weights.items()}, partial / WEIGHTS_FILE, {"format": "pt"})
    (partial / WEIGHTS_FILE).chmod(0o644)
    read = load_file(partial / WEIGHTS_FILE)
    if read.keys() != weights.keys() or not all(torch.equal(read[name], weights[name]) for name in weights):
        raise AdapterError(f"{partial / WEIGHTS_FILE} does not hold what was written to it")
    if scores:
        (partial / SCORES_FILE).write_text(json.dumps([asdict(one) for one in scores], indent=1) + "\n")


def _scored(run: str, name: str, source: Path) -> ScoredRun:
    """A run's scores. Raises UsageError for a run that has none or used another adapter."""
    folder = find_run(run)
    settings = _settings(folder)
    path = folder / SCORES_FILE
    try:
        scores = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"--scores {run}: {path} cannot be read ({brief(error)}); make it with `harness score --save`") from None
    used = settings.get("adapter")
    if not used or find_adapter(str(used)).resolve() != source.resolve():
        raise UsageError(f"--scores {run}: the run used {used or 'no adapter'}, not {source}")
    return ScoredRun(_prompt_command(name, read_record(source).task, settings), scores, decoding_of(settings))


def _settings(folder: Path) -> dict[str, Any]:
    try:
        return described(folder) or {}
    except HarnessError:
        return {}


def _prompt_command(name: str, task: str, settings: Mapping[str, Any]) -> str:
    """The command that makes a run with the adapter under its own name; `task` is the adapter's."""
    words = ["harness", "prompt", "--adapter", name, "--split", str(settings.get("split", "dev"))]
    for key, default in (("task", task), ("shots", 0), ("engine", "vllm"), ("limit", None), ("seed", 0)):
        if settings.get(key, default) != default:
            words += [f"--{key}", str(settings[key])]
    return shlex.join([*words, *(word for key, value in decoding_of(settings).items() for word in (f"--{key}", str(value)))])


def render_card(name: str, source: Path, scores: Sequence[ScoredRun], parameters: int, note: str = "") -> str:
    """The card in Markdown, from the files of the adapter and its run."""
    import jinja2

    about, settings = read_record(source), _settings(source.parent)
    command, changed = _finetune_command(name, about, settings)
    recipe = about.recipe
    modules: Any = recipe.get("lora", {}).get("target_modules", "its modules")
    corpora = [locate(task) for task in about.tasks or (about.task,)]
    train = [
        f"this project's sample of {one.task}" if one.kind == "sample" else f"train of {get_task(one.task).title}"
        for one in corpora
    ]
    environment = jinja2.Environment(undefined=jinja2.ChainableUndefined, keep_trailing_newline=True, autoescape=False)
    return environment.from_string(files("adapters").joinpath("adapter_card.jinja").read_text()).render(
        name=name,
        front=front_matter(name, about, scores),
        about=about,
        title=get_task(about.task).skill or get_task(about.task).benchmark,
        command=command,
        note=note.strip(),
        changed=changed,
        sources=", ".join([*train, *(f"the file {Path(file).name}" for file in settings.get("data") or ())]),
        compared=_compared(about.held_out),
        recipe=recipe,
        lora=recipe.get("lora", {}),
        modules="all linear layers" if modules == "all-linear" else modules,
        training=_training(recipe),
        versions=", ".join(f"{key} {about.versions[key]}" for key in ("torch", "transformers", "peft") if key in about.versions),
        parameters=parameters,
        megabytes=parameters * 2 / 1e6,
        scores=scores,
        columns=[name for name in _CURVE if name == "step" or any(name in point for point in about.curve)],
        formats={"step": "%.0f", "seconds": "%.0f", "dev_f1": "%.1f"},
        base_license=KNOWN[about.base].license if about.base in KNOWN else f"see {about.base}",
        licenses=[f"{get_task(one.task).title}: {one.license}" for one in corpora],
    )


def front_matter(name: str, about: AdapterRecord, scores: Sequence[ScoredRun]) -> str:
    """The head of a card, which the Hugging Face hub reads, in YAML: base, task, license, data, and scores as a model-index."""
    from huggingface_hub import ModelCardData

    data = ModelCardData(
        license="other",
        language="en",
        library_name="peft",
        base_model=KNOWN[about.base].hub_name if about.base in KNOWN else about.base.partition("@")[0],
        base_model_relation="adapter",
        pipeline_tag="text-generation",
        datasets=[get_task(task).hub_name or task for task in about.tasks or (about.task,)],
        metrics=_METRICS[world_of(about.task)],
        model_name=name if scores else None,
        eval_results=[result for one in scores for result in eval_results(one.scores)] or None,
    )
    text: str = data.to_yaml()
    return text.strip()


def _compared(held: Mapping[str, Any]) -> str:
    """Sentences on what is known of dev and test items among the train items."""
    if not held:
        return "Whether any of them is a dev or test item was not recorded."
    counts = " and ".join(f"the {count:,} of {get_task(task).title}" for task, count in held["items"].items())
    sentences = [f"None is a dev or test item: by id, by target and by what is said and done, they were compared with {counts}."]
    if alike := held["published_alike"]:
        sentences.append(f"{alike} train items of the corpora, as published, say and do the same as one of dev or test.")
    for task, (count, total) in held["shared_targets"].items():
        sentences.append(f"{count:,} of the {total:,} test items of {get_task(task).title} have a target that was trained on.")
    return " ".join(sentences)


def _training(recipe: Mapping[str, Any]) -> str:
    """The recipe's numbers, in words."""
    training, grpo = recipe.get("training", {}), recipe.get("grpo")
    by_gold = {"epochs": "{:g} epochs", "tokens": "{:,} tokens a pack", "accumulation": "{} packs a step"}
    phrases = {
        "learning_rate": "learning rate {:g}",
        **({} if grpo else by_gold),
        "weight_decay": "weight decay {:g}",
        "shots": "{} examples in front of an item",
        "seed": "seed {}",
    }
    parts = [text.format(training[key]) for key, text in phrases.items() if key in training]
    drawn = [f"{grpo['generation_batch_size']} drawn answers a step, {grpo['num_generations']} to an item"] if grpo else []
    return ", ".join([*drawn, *parts, *(["colors exchanged at random"] if training.get("recolor") else [])])


def _finetune_command(name: str, about: AdapterRecord, settings: Mapping[str, Any]) -> tuple[str, bool]:
    """The command that retrains this adapter, and whether its recipe is missing here."""
    recipe = {key: value for key, value in about.recipe.items() if key != "name"}
    named = str(about.recipe.get("name", "RECIPE"))
    try:
        here = flat(load_recipe(named).model_dump())
    except HarnessError:
        here = {}
    words = ["harness", "finetune", named, "--task", about.task]
    defaults = DEFAULTS[about.task] | {"frame": "world"}
    for key in ("context", "format", "frame"):
        words += [f"--{key}", getattr(about, key)] if getattr(about, key) != defaults[key] else []
    for file in settings.get("data") or ():
        words += ["--data", str(Path(file).name)]
    for flag, values in (settings.get("given") or {}).items():
        words += [word for value in values for word in (f"--{flag}", value)]
    for key, value in flat(recipe).items():
        if here and here.get(key) != value:
            words += ["--set", f"{key}={json.dumps(value)}"]
    return shlex.join([*words, "--base", about.base, "--name", name]), not here
