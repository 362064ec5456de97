"""Adapters by name: where they are, what their folders must hold, and which ones are refused."""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import AliasPath, BaseModel, Field, ValidationError, field_validator

from adapters.options import Prompt
from harness.engines.models.bases import base_origin, display_name, fingerprint, load_config, resolve_base
from harness.engines.models.weights import base_folder, downloaded, weights_fingerprint
from harness.engines.shared import adapter_rank, brief, missing_for_quantization, quantized_weights
from harness.engines.transformers import empty_model, with_adapter
from harness.errors import AdapterError, EngineError, UsageError
from harness.runs.folder import RUNS, trained_name
from harness.tasks.registry import TASKS
from harness.util.files import cache_folder, made_once
from harness.util.registry import choose
from prompts.probe import format_hash
from prompts.render import CHAT_TEMPLATE
from prompts.rendered import OFF
from prompts.shots import ShotChoice
from prompts.spec import PromptSpec
from prompts.template import DEFAULT

HARNESS_FILE = "harness.json"
CONFIG_FILE = "adapter_config.json"
WEIGHTS_FILE = "adapter_model.safetensors"
TEMPLATE_FOLDER = "template"
"""Holds a copy of the prompt template, if it is a user's own."""

_FILES = (CONFIG_FILE, HARNESS_FILE, WEIGHTS_FILE, CHAT_TEMPLATE, "README.md", "scores.json", f"{TEMPLATE_FOLDER}/*/*")
"""The files of an adapter on the hub that are downloaded."""
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")

SHIPPED = Path(__file__).parent / "trained"
"""Adapters that come with the package: a folder each, whose name is the adapter's."""


class TrainedWith(BaseModel):
    """The examples and the precision of the base in training, read from its recipe."""

    shots: int = Field(default=0, validation_alias=AliasPath("training", "shots"))
    """Examples in front of every item."""
    select: str | None = Field(default=None, validation_alias=AliasPath("prompt", "select"))
    """How they were chosen, as in `harness prompt --select`; None: at random, the same for all items."""
    seed: int = Field(default=0, validation_alias=AliasPath("training", "seed"))
    """The seed of their choice."""
    quantize: str | None = None
    """The base's weights: "nf4", or None for full precision."""
    double_quantization: bool = True

    @property
    def examples(self) -> ShotChoice:
        """The choice of the examples in front of every item."""
        return ShotChoice(self.shots, self.seed, self.select)

    @property
    def weights(self) -> dict[str, Any]:
        """Options with which the engine transformers loads the base as it was in training; empty if this machine cannot."""
        if not self.quantize or missing_for_quantization():
            return {}
        return {"quantize": quantized_weights(self.quantize, double=self.double_quantization)}


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter that fits its base and this harness's prompt format."""

    path: Path
    rank: int
    spec: PromptSpec
    """The prompt format it was trained with, the only one it may be used with."""
    base: str
    """The base to load it on: a local folder or a hub name."""
    tasks: tuple[str, ...] = ()
    """The tasks of the items that it was trained on, its own first."""
    trained_with: TrainedWith = field(default_factory=TrainedWith)

    @property
    def specs(self) -> dict[str, PromptSpec]:
        """Its prompt format for each task that it was trained on."""
        return {task: replace(self.spec, task=task) for task in self.tasks or (self.spec.task,)}


class AdapterRecord(BaseModel):
    """The content of harness.json: an adapter and its training."""

    task: str
    context: str
    format: str
    frame: str
    template: str | None = None
    think: str = OFF
    prompt_hash: str
    other_prompt_hashes: dict[str, str] = {}
    """By task, the prompt hashes of the other tasks whose items it was also trained on."""
    trained_on: list[str] = []
    """All tasks whose items it, or the adapter that it started from, was trained on; empty if they are not recorded."""
    base: str
    base_fingerprint: str | None
    base_revision: str | None = None
    chat_template_hash: str | None = None
    chat_template_date: str | None = None
    recipe: dict[str, Any] = {}
    trained_with: TrainedWith = Field(default=TrainedWith(), validation_alias="recipe")
    items: int = 0
    rows: int = 0
    dropped: int = 0
    steps: int = 0
    kept: int | None = None
    """The step at which this adapter was saved; None: at the last one."""
    tokens: int = 0
    """The tokens of all steps; 0 if they were not counted."""
    seconds: float = 0.0
    curve: list[dict[str, float]] = []
    dev_f1_items: int = 0
    """How many dev items were answered for each F1 of the curve; 0 if they were not counted."""
    versions: dict[str, str] = {}
    git: str | None = None
    held_out: dict[str, Any] = {}
    """The dev and test items that its training items were checked against (`HeldOut.compared`); empty if they were not."""
    imported: dict[str, Any] | None = None
    """Where it came from, if it was not trained here; nothing is then known of its training."""

    @field_validator("recipe")
    @classmethod
    def _in_sections(cls, recipe: dict[str, Any]) -> dict[str, Any]:
        # Otherwise `trained_with` would fall back to its defaults.
        if not all(isinstance(recipe.get(section, {}), dict) for section in ("prompt", "training")):
            raise ValueError("prompt and training must each hold settings")
        return recipe

    @property
    def prompt_format(self) -> str:
        return "/".join(filter(None, (self.context, self.format, self.frame, self.template)))

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks whose items it was trained on, its own first; none for an imported one."""
        known = (self.task, *self.trained_on, *self.other_prompt_hashes)
        return () if self.imported else tuple(dict.fromkeys(known))


def load_adapter(name: str | Path, base: str | None) -> Adapter:
    """An adapter for a base model, by the name of a shipped one, by the folder or name of the run that made it, or by its name on
    the hub, USER/NAME or USER/NAME@REVISION.

    With `base` None, the base is the one that it was trained on. Raises UsageError for an unknown name, AdapterError for an
    incomplete folder and for an adapter of another base, of another prompt format or with weights other than LoRA's.
    """
    return checked_adapter(find_adapter(name), base)


def checked_adapter(path: Path, base: str | None) -> Adapter:
    """The adapter in a folder that `find_adapter` found; otherwise as `load_adapter`."""
    saved = read_record(path)
    adapter = _adapter(path, saved)
    return replace(adapter, base=_checked_base(path, saved, base, plain=adapter.spec.template.is_plain))


def spec_to_train(task: str, prompt: Prompt, base: str | None, start: Path | None) -> PromptSpec:
    """The prompt format that the flags and the recipe ask for; if they ask for nothing, the format of the adapter to start from,
    provided that it is of the task."""
    names = prompt.context, prompt.format, prompt.frame, prompt.template, prompt.think
    if start is not None and not any(names) and (spec := checked_adapter(start, base).spec).task == task:
        return spec
    return PromptSpec.make(task, *names)


def served_adapter(name: str | Path) -> Adapter:
    """An adapter that a server puts on its base. Of the checks of `load_adapter`, only that of the prompt format is made."""
    path = find_adapter(name)
    return _adapter(path, read_record(path))


def _adapter(path: Path, saved: AdapterRecord) -> Adapter:
    spec = _spec(path, saved)
    return Adapter(path, adapter_rank(path), spec, saved.base, saved.tasks, saved.trained_with)


def trained_spec(model: str | None) -> PromptSpec | None:
    """The prompt format of a whole model in a folder that was fine-tuned here; None for any other model.

    Raises AdapterError if the format has changed since.
    """
    folder = Path(model or "")
    if not model or not (folder / HARNESS_FILE).is_file():
        return None
    return _spec(folder, read_record(folder))


def save_template(spec: PromptSpec, folder: Path) -> None:
    """Copy a user's own prompt template into an adapter's folder, so that it is found wherever the folder goes."""
    wording = spec.template
    if wording.folder and not wording.is_shipped:
        for name, text in wording.files.items():
            copy = folder / TEMPLATE_FOLDER / wording.folder.name / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(text.encode())


def train_items(folder: Path, expected: str) -> int:
    """How many items the adapter in `folder`, given as in `load_adapter`, was trained on.

    Raises AdapterError if its fingerprint is not the expected one (it was trained again), and if the number is not recorded.
    """
    path = find_adapter(folder)
    if (actual := fingerprint(path)) != expected:
        raise AdapterError(f"{path} ({actual}) is not the adapter that the run used ({expected})")
    if not (items := read_record(path).items):
        raise AdapterError(f"{path / HARNESS_FILE} does not say how many items it was trained on")
    return items


def adapter_folders() -> list[Path]:
    """The folders of all adapters that have a name: first the shipped ones, then the runs' own."""
    files = *sorted(SHIPPED.glob(f"*/{CONFIG_FILE}")), *sorted(RUNS.glob(f"*/adapter/{CONFIG_FILE}"))
    return [file.parent for file in files]


def known_adapters() -> dict[str, Path]:
    """The adapters' folders by name. If a run has the name of a shipped one, the shipped one has it."""
    folders: dict[str, Path] = {}
    for folder in adapter_folders():
        folders.setdefault(trained_name(folder), folder)
    return folders


def shipped_adapters() -> dict[str, Path]:
    """The folders of the adapters that come with the package, by name."""
    return {name: folder for name, folder in known_adapters().items() if folder.parent == SHIPPED}


def named_adapters(names: Sequence[str]) -> dict[str, str]:
    """The folder or name of each adapter given as `NAME` or `NAME=DIR`, by its NAME. Raises UsageError for another form and for
    a name that is given twice."""
    named: dict[str, str] = {}
    for one in names:
        name, equals, folder = one.partition("=")
        if not name or (equals and not folder):
            raise UsageError(f"--adapter {one}: write NAME or NAME=DIR, the name to call it by and the adapter's folder")
        if name in named:
            raise UsageError(f"--adapter {one}: the name {name} is taken; each adapter needs its own")
        named[name] = folder or name
    return named


def find_adapter(name: str | Path) -> Path:
    """The folder of a complete adapter; `name` as in `load_adapter`."""
    given = Path(name)
    places = (given, given / "adapter", SHIPPED / given, RUNS / given / "adapter")
    path = next((place for place in places if (place / CONFIG_FILE).is_file()), None) or from_hub(str(name))
    if path is None and len(given.parts) == 1 and not any(place.is_dir() for place in (given, RUNS / given)):
        choose("adapter", str(name), known_adapters())
    for file in (CONFIG_FILE, HARNESS_FILE, WEIGHTS_FILE):
        if path is None or not (path / file).is_file():
            raise AdapterError(
                f"{path or name} holds no adapter of this harness: {file} is not there; make one with `harness finetune`, "
                "or import a published one with `harness adapters import`"
            )
    assert path is not None
    return path


def from_hub(name: str) -> Path | None:
    """The folder of an adapter that the hub has as USER/NAME or USER/NAME@REVISION, downloaded once; None for another name.

    It is a copy in the user's cache, because the hub's own cache holds links, which an adapter's folder must not. Raises
    AdapterError if the hub has no such repository or cannot be reached."""
    if not _HUB_NAME.fullmatch(name) or Path(name).parts[0] in (os.curdir, os.pardir) or Path(name).parent.is_dir():
        return None
    try:
        source = downloaded(name, _FILES)
    except EngineError as error:
        raise AdapterError(f"{name} holds no adapter: no such folder is here, and {error}") from error
    target = cache_folder() / "adapters" / f"{name.partition('@')[0].replace('/', '--')}@{source.name[:12]}"

    def copy(partial: Path) -> None:
        for file in (file for pattern in _FILES for file in source.glob(pattern) if file.is_file()):
            (partial / file.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, partial / file.relative_to(source))

    try:
        made_once(target, copy)
    except OSError as error:
        raise AdapterError(f"{target} cannot be written: {error.strerror or brief(error)}") from error
    return target


def read_record(folder: Path) -> AdapterRecord:
    """The content of harness.json. Raises AdapterError if it is missing or invalid."""
    path = folder / HARNESS_FILE
    try:
        return AdapterRecord.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "content"
        raise AdapterError(f"{path}: {where}: {first['msg']}; the adapter must be trained again") from None
    except OSError as error:
        raise AdapterError(f"{path} cannot be read: {error.strerror}") from None


def _checked_base(path: Path, saved: AdapterRecord, name: str | None, *, plain: bool) -> str:
    """The base to load an adapter on, by default the one that it was trained on. Raises AdapterError for another one, for one
    with another chat template unless prompts are `plain`, and if its own is in a folder that is not known here."""
    base = resolve_base(saved.base if name is None else name)
    was, now = saved.base_fingerprint, weights_fingerprint(base)
    if name is None and "/" not in base and not Path(base).is_dir() and not now:
        raise AdapterError(f"{path} was trained on the base {saved.base} in a local folder: give that folder with --base")
    # If the weights are not on this machine, the name has to do.
    if was != now if was and now else saved.base != display_name(base):
        own, other = f"{saved.base} ({was or 'weights unknown'})", f"{display_name(base)} ({now or 'weights unknown'})"
        raise AdapterError(f"{path} was trained on the base {own}, not on {other}: name its own with --base, or train it again")
    # The same weights may come with another chat template, and then prompts differ from the training's.
    here, keys = base_origin(base), ("chat_template_hash", "chat_template_date")
    known = saved.chat_template_hash is not None and (Path(base).is_dir() or "chat_template_hash" in here)
    for key in keys if known and not plain else ():
        if (then := getattr(saved, key)) != here.get(key):
            revision = f" of its revision {saved.base_revision[:12]}" if saved.base_revision else ""
            raise AdapterError(
                f"{path} was trained with another chat template of {saved.base} ({then} then, {here.get(key) or 'none'} now): "
                f"give --base a copy with the template{revision}, or train it again"
            )
    return base


def _spec(path: Path, saved: AdapterRecord) -> PromptSpec:
    template = saved.template or DEFAULT
    own = path / TEMPLATE_FOLDER / template
    if template != Path(template).name or not own.resolve().is_relative_to(path.resolve()):
        raise AdapterError(f"{path / HARNESS_FILE}: template: {template[:80]!r} leads out of the adapter's folder")
    try:
        template = str(own) if own.is_dir() else template
        spec = PromptSpec.make(saved.task, saved.context, saved.format, saved.frame, template, saved.think)
    except UsageError as error:
        raise AdapterError(f"{path} was trained with an unknown prompt format: {error}") from None
    for task, was in {saved.task: saved.prompt_hash, **saved.other_prompt_hashes}.items():
        if task not in TASKS or TASKS[task].world != spec.world:
            raise AdapterError(f"{path} was trained on an unknown task too: no task named {task!r} in {spec.world}")
        one = replace(spec, task=task)
        if (now := format_hash(one)) != was:
            raise AdapterError(
                f"{path} was trained with the prompt format {one.name} as it was then ({was}); "
                f"its text is another now ({now}): {'import' if saved.imported else 'train'} the adapter again"
            )
    return spec


def check_weights(adapter: Adapter) -> int:
    """The number of an adapter's weights. Raises AdapterError for weights that are empty, not finite or without effect,
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
    if base_folder(adapter.base):
        with_adapter(empty_model(load_config(adapter.base)), adapter.path)
    return sum(value.numel() for value in weights.values())
