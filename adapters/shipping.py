"""A trained adapter as a folder to keep or to ship: float16 weights, a card, and the scores of runs with it."""

import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import BaseModel

from adapters import MAX_MEGABYTES
from adapters.catalog import CARD_FILE, SCORES_FILE, ScoredRun, read_scores
from adapters.recipe import DataSource, FinetuneTraining, load_recipe
from adapters.registry import (
    CONFIG_FILE,
    HARNESS_FILE,
    TEMPLATE_FOLDER,
    WEIGHTS_FILE,
    AdapterRecord,
    find_adapter,
    read_record,
)
from eval.export import as_eval_results, eval_results
from eval.report.curves import training_svg
from harness.corpora import locate
from harness.engines.models.known import KNOWN
from harness.engines.shared import brief
from harness.errors import AdapterError, HarnessError, UsageError
from harness.runs.folder import described
from harness.tasks.registry import TASKS, world_of
from harness.util.files import filled, write_atomically
from harness.util.settings import flat
from prompts.render import CHAT_TEMPLATE
from prompts.spec import DEFAULTS

_LINEAR = ["down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"]
"""All linear layers of Llama, Qwen and their like, as an adapter names them that goes on from another."""
LOST = 1e-3
"""Largest allowed relative error of a weight matrix in float16; rounding alone causes a third of it."""

_METRICS = {"hexagons": ["f1", "exact_match"], "minecraft": ["f1"]}
"""The hub's names of the metrics."""
_CURVE = ("step", "seconds", "reward", "entropy", "train_loss", "margin", "dev_loss", "dev_f1")
"""The values that a training's curve may hold, in the order of a card's columns."""

_PICTURE = "curve.svg"


def export_adapter(name: str | Path, target: Path, scores: Sequence[ScoredRun], *, large: bool = False, note: str = "") -> float:
    """Copy an adapter to a new folder, complete or absent; returns its size in MB. `name` is as in `load_adapter`.

    The card has the adapter's own scores, these `scores`, the `note` and, where Matplotlib is installed, a picture of the
    training. Raises UsageError if the target exists, and AdapterError for weights that float16 cannot hold or, unless `large`,
    that are too many to ship.
    """
    if target.exists():
        raise UsageError(f"{target} already exists: name a new folder")
    source = find_adapter(name)
    scores = [*read_scores(source), *scores]
    weights = _half(source / WEIGHTS_FILE)
    parameters = sum(value.numel() for value in weights.values())
    if 2 * parameters > MAX_MEGABYTES * 1e6 and not large:
        raise AdapterError(
            f"{source} takes {2 * parameters / 1e6:.1f} MB; an adapter that ships may take {MAX_MEGABYTES} MB: "
            "train with a smaller lora.r, or add --large"
        )
    try:
        with filled(target) as partial:
            _write(source, partial, weights)
            if scores:
                (partial / SCORES_FILE).write_text(json.dumps([asdict(one) for one in scores], indent=1) + "\n")
            curve = _curve(source, target.name)
            if curve:
                (partial / _PICTURE).write_text(curve)
            card = render_card(target.name, source, scores, parameters, note, pictured=bool(curve))
            (partial / CARD_FILE).write_text(card)
    except OSError as error:
        raise HarnessError(f"{target} cannot be written: {error.strerror or brief(error)}") from error
    return (target / WEIGHTS_FILE).stat().st_size / 1e6


def push_adapter(
    name: str, repository: str, scores: Sequence[ScoredRun], *, note: str = "", private: bool = False, dry_run: bool = False
) -> list[Path]:
    """Upload an adapter, as `export_adapter` writes it, with its scores in the hub's format, to the repository USER/NAME; returns
    the files. It is created if it is missing. `dry_run` uploads nothing.

    The token is that of `hf auth login`. Raises HarnessError if the hub refuses the upload or cannot be reached.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.constants import EVAL_RESULTS_FOLDER
    from huggingface_hub.errors import HfHubHTTPError

    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / repository.rpartition("/")[2]
        export_adapter(name, folder, scores, large=True, note=note)
        for number, one in enumerate(read_scores(folder), start=1):
            write_atomically(
                folder / EVAL_RESULTS_FOLDER / f"{one.scores['task']}-{number}.yaml", as_eval_results(one.scores, one.decoded)
            )
        files = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
        try:
            if not dry_run:
                HfApi().create_repo(repository, private=private, exist_ok=True)
                HfApi().upload_folder(repo_id=repository, folder_path=folder, commit_message=f"Upload {folder.name}")
        except (HfHubHTTPError, OSError, ValueError) as error:
            raise HarnessError(f"{repository}: the hub takes no upload: {brief(error)}; `hf auth login` logs in") from error
    return files


def _curve(source: Path, name: str) -> str | None:
    """The picture of the training, if it was evaluated more than once and Matplotlib is installed."""
    about = read_record(source)
    if len(about.curve) < 2 or find_spec("matplotlib") is None:
        return None
    training = about.recipe.get("training", {})
    items = {key: training[f"{key}_items"] for key in ("dev_loss", "dev_f1") if f"{key}_items" in training}
    return training_svg(name, about.curve, items)


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


def _write(source: Path, partial: Path, weights: dict[str, Any]) -> None:
    """Write the adapter's files, but for its scores and its card."""
    from safetensors.torch import save_file

    config = json.loads((source / CONFIG_FILE).read_bytes())
    # The base's path is private, and wrong on any other machine.
    name, _, revision = read_record(source).base.partition("@")
    config |= {"base_model_name_or_path": name, "revision": revision or None}
    (partial / CONFIG_FILE).write_text(json.dumps(config, indent=1) + "\n")
    for file in (HARNESS_FILE, CHAT_TEMPLATE):
        if (source / file).is_file():
            shutil.copyfile(source / file, partial / file)
    if (source / TEMPLATE_FOLDER).is_dir():
        # What a link leads to is not for others.
        shutil.copytree(source / TEMPLATE_FOLDER, partial / TEMPLATE_FOLDER, symlinks=True)
    save_file({name: value.contiguous() for name, value in weights.items()}, partial / WEIGHTS_FILE, {"format": "pt"})
    (partial / WEIGHTS_FILE).chmod(0o644)


def render_card(name: str, source: Path, scores: Sequence[ScoredRun], parameters: int, note: str = "", *, pictured: bool) -> str:
    """The card in Markdown, from the files of the adapter and its run. `pictured` adds the picture of its curve from the same
    folder."""
    import jinja2

    about = read_record(source)
    try:
        settings = described(source.parents[1 if source.parent.name == "checkpoints" else 0]) or {}
    except HarnessError:
        settings = {}
    command, changed = _finetune_command(name, about, settings)
    recipe, lora = about.recipe, about.recipe.get("lora", {})
    modules = lora.get("target_modules", "its modules")
    corpora = [locate(task) for task in about.tasks or (about.task,)]
    train = [
        f"this project's sample of {one.task}" if one.kind == "sample" else f"train of {TASKS[one.task].title}" for one in corpora
    ]
    environment = jinja2.Environment(undefined=jinja2.ChainableUndefined, keep_trailing_newline=True, autoescape=False)
    return environment.from_string(files("adapters").joinpath("adapter_card.jinja").read_text()).render(
        name=name,
        front=front_matter(name, about, scores),
        about=about,
        tasks=TASKS,
        command=command,
        note=note.strip(),
        picture=_PICTURE if pictured else "",
        changed=changed,
        sources=", ".join([*train, *(f"the file {Path(file).name}" for file in settings.get("data") or ())]),
        recipe=recipe,
        lora=lora,
        modules="all linear layers" if modules in ("all-linear", _LINEAR) else modules,
        versions=", ".join(f"{key} {about.versions[key]}" for key in ("torch", "transformers", "peft") if key in about.versions),
        parameters=parameters,
        megabytes=parameters * 2 / 1e6,
        scores=scores,
        columns=[name for name in _CURVE if name == "step" or any(name in point for point in about.curve)],
        formats={"step": "%.0f", "seconds": "%.0f", "dev_f1": "%.1f"},
        base_license=KNOWN[about.base].license if about.base in KNOWN else f"see {about.base}",
        licenses=[f"{TASKS[one.task].title}: {one.license}" for one in corpora],
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
        datasets=[TASKS[task].hub_name or task for task in about.tasks or (about.task,)],
        metrics=_METRICS[world_of(about.task)],
        model_name=name if scores else None,
        eval_results=[result for one in scores for result in eval_results(one.scores)] or None,
    )
    text: str = data.to_yaml()
    return text.strip()


def _finetune_command(name: str, about: AdapterRecord, settings: Mapping[str, Any]) -> tuple[str, bool]:
    """The command that retrains this adapter, and whether its recipe is missing here."""
    recipe = {key: value for key, value in about.recipe.items() if key != "name"}
    # Recipes of earlier versions had more keys.
    if "training" in recipe:
        recipe["training"] = _only(FinetuneTraining, recipe["training"])
    if "data" in recipe:
        recipe["data"] = [_only(DataSource, source) for source in recipe["data"]]
    named = str(about.recipe.get("name", "RECIPE"))
    try:
        here = flat(load_recipe(named).model_dump())
    except HarnessError:
        here = {}
    words = ["harness", "finetune", named, "--task", about.task]
    defaults = DEFAULTS[about.task] | {"frame": "world", "template": None}
    given = {
        key: [getattr(about, key)] for key in ("context", "format", "frame", "template") if getattr(about, key) != defaults[key]
    }
    given |= {"data": [Path(file).name for file in settings.get("data") or ()]} | (settings.get("given") or {})
    words += [word for flag, values in given.items() for value in values for word in (f"--{flag}", value)]
    changed = {key: value for key, value in flat(recipe).items() if here and here.get(key) != value}
    if (here.get("lora.target_modules"), changed.get("lora.target_modules")) == ("all-linear", _LINEAR):
        del changed["lora.target_modules"]
    changes = [f"{key}={json.dumps(value)}" for key, value in changed.items()]
    words += [word for change in changes for word in ("--set", change)]
    return shlex.join([*words, "--base", about.base, "--name", name]), not here


def _only(schema: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of keys that a schema has."""
    return {key: value for key, value in values.items() if key in schema.model_fields}
