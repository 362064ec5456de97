"""The mappings `trainer` and `peft` of a recipe: keys of transformers' or TRL's arguments and of peft's LoraConfig.

These libraries check the values. Refused by name are the keys that the recipe has under another name, and those that would do
nothing or something wrong here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, get_type_hints

from adapters.recipe import PACKED
from harness.engines.shared import brief, quiet_transformers
from harness.errors import Faults, FaultsError
from harness.util.settings import Strict, checked

if TYPE_CHECKING:
    from adapters.recipe import FinetuneRecipe

_START = "it initializes from the base's weights or from data, and changes a base that others share"
_REFUSED = {
    "num_train_epochs": "give training.epochs",
    "warmup_*": "give training.warmup",
    "data_seed": "give training.seed",
    "bf16* fp16*": "give training.precision",
    "gradient_accumulation_steps average_tokens_across_devices": "give training.accumulation",
    "auto_find_batch_size": "give training.per_device_train_batch_size or training.tokens",
    "liger_kernel_config": "give training.use_liger_kernel",
    "max_completion_length": "give training.max_new_tokens",
    "report_to": "give report_to beside trainer",
    "eval_* *_eval_* prediction_loss_only include_for_metrics load_best_model_at_end *_for_best_model greater_is_better": "dev "
    "is measured as training.evaluations, training.keep and training.dev_batch_size say",
    "save_strategy save_steps save_only_model *_jit_checkpoint": "a checkpoint follows every evaluation and every log",
    "logging_strategy logging_nan_inf_filter": "give trainer.logging_steps",
    "output_dir *_from_checkpoint": "the run's folder and its last checkpoint",
    "train_sampling_strategy group_by_length length_column_name ignore_data_skip accelerator_config": "rows come in packs, whose "
    "order is fixed by training.seed, so that a killed run resumes exactly",
    "label_smoothing_factor": "the loss is that of TRL's fused head, which has no label smoothing",
    "neftune_noise_alpha": "its noise depends on the length of a row, and a pack holds several rows",
    "remove_unused_columns label_names use_cache disable_tqdm do_* local_rank log_level* use_cpu skip_memory_metrics debug "
    "task_type peft_* auto_mapping base_model_name_or_path revision inference_mode runtime_config": "the harness sets it",
    "fsdp* deepspeed parallelism_config": "start the training with `accelerate launch` and a file of its own",
    "truncation_mode padding_free dataset_num_proc": "rows are made by the harness, and never cut",
    "push_to_hub hub_*": "the harness uploads nothing during a training",
    "r": "give lora.r",
    "lora_alpha": "give lora.alpha",
    "lora_dropout": "give lora.dropout",
    "target_modules": "give lora.target_modules",
    "loftq_config eva_config corda_config lora_ga_config": _START,
    "megatron_* *qalora* velora_config monteclora_config use_bdlora arrow_config kasa_config": "only plain LoRA, DoRA and rsLoRA "
    "can be packed, saved and merged here",
    "alora_invocation_tokens": "it adapts only a part of a row, and rows of a pack share their beginnings",
    "layer_replication": "it makes another base: an adapter goes onto its base as it is",
    "modules_to_save trainable_token_indices": "it trains weights of the base, which an adapter here leaves as they are: "
    "give method full",
}
"""Why keys are refused, by patterns."""
_STARTS = (True, False, "gaussian", "orthogonal")
"""The values of init_lora_weights that leave the base as it is."""


def check_libraries(recipe: FinetuneRecipe) -> None:
    """Raises FaultsError, with a line for each key of `trainer` and `peft` that the libraries or this harness refuse, and
    UsageError for a tracker that is not installed. Nothing is imported for a recipe without such keys."""
    faults = Faults()
    if recipe.report_to:
        from harness.training.watched import trackers

        trackers(recipe.report_to)
    if recipe.trainer:
        trl = f"trl:{recipe.method.upper()}Config"
        kind = resolve_name("transformers:TrainingArguments" if recipe.method in PACKED else trl)
        build = partial(_try_trainer, recipe, kind)
        faults.attempt(partial(_check, "trainer", recipe.trainer, kind, build, _reasons(recipe, kind), recipe.file))
    if recipe.peft and recipe.lora:
        kind, own = resolve_name("peft:LoraConfig"), {"r": recipe.lora.r, "target_modules": recipe.lora.target_modules}
        start = recipe.peft.get("init_lora_weights", True)
        reasons = _REFUSED | ({} if start in _STARTS else {"init_lora_weights": f"{_START}: give one of {_STARTS}"})
        faults.attempt(partial(_check, "peft", recipe.peft, kind, lambda given: kind(**own, **given), reasons, recipe.file))
    faults.report()


def _reasons(recipe: FinetuneRecipe, kind: Any) -> dict[str, str]:
    """Why keys of the trainer are refused with this recipe."""
    reasons = dict(_REFUSED)
    if recipe.training.per_device_train_batch_size == 1:
        del reasons["neftune_noise_alpha"]
    if recipe.training.optimizer != "adamw":
        reasons["optim"] = "give it or training.optimizer"
    for part in ("training", "grpo"):
        own = getattr(recipe, part)
        reasons |= {key: f"give {part}.{key}" for key in (type(own).model_fields if own else ())}
    if recipe.method in PACKED:
        rows = {field.name for field in fields(resolve_name("trl:SFTConfig"))} - {field.name for field in fields(kind)}
        rowed = "a key of TRL's SFTConfig; training.tokens and training.max_length make the rows"
        reasons = dict.fromkeys(rows, rowed) | reasons
    return reasons


def _try_trainer(recipe: FinetuneRecipe, kind: Any, given: Mapping[str, Any]) -> None:
    """Make the arguments and, for a weight, the optimizer and the schedule, as Trainer does. Raises what it raises."""
    from torch.nn import Linear
    from torch.optim import SGD
    from transformers import Trainer, get_scheduler

    with quiet_transformers():
        own = {"output_dir": gettempdir(), "use_cpu": True, "bf16": False, "eval_strategy": "steps", "eval_steps": 1}
        arguments = kind(**own | {"lr_scheduler_type": "constant_with_warmup" if recipe.grpo else "cosine"} | dict(given))
    if arguments.lr_scheduler_type == "reduce_lr_on_plateau" and recipe.training.keep == "best":
        raise ValueError("reduce_lr_on_plateau needs training.keep=last, since it follows the dev loss")
    Trainer.get_optimizer_cls_and_kwargs(arguments, Linear(1, 1))
    get_scheduler(arguments.lr_scheduler_type, SGD(Linear(1, 1).parameters()), 1, 10, arguments.lr_scheduler_kwargs)


def _check(
    section: str,
    given: Mapping[str, Any],
    kind: Any,
    build: Callable[[Mapping[str, Any]], Any],
    reasons: Mapping[str, str],
    file: Path,
) -> None:
    """Raises FaultsError for keys that are refused, unknown or of another type, and if the object cannot be built with all."""
    from pydantic import create_model

    def refused(key: str) -> str | None:
        patterns = ((pattern, reason) for one, reason in reasons.items() for pattern in one.split())
        return next((reason for pattern, reason in patterns if fnmatchcase(key, pattern)), None)

    def problem(some: Mapping[str, Any]) -> str | None:
        try:
            build(some)
        except Exception as error:  # noqa: BLE001 - any error of these libraries says why they refuse the values
            return brief(error)
        return None

    if faults := [f"{file}: {section}.{key}: {reason}" for key in given if (reason := refused(key))]:
        raise FaultsError(faults)
    types = {key: (hint, None) for key, hint in get_type_hints(kind).items() if not key.startswith("_") and not refused(key)}
    own = type("Own", (Strict,), {"model_config": {"arbitrary_types_allowed": True, "protected_namespaces": ()}})
    values = create_model(kind.__name__, __base__=own, **types)  # type: ignore[call-overload]
    checked(create_model("Keys", **{section: (values, ...)}), file, {section: given})  # type: ignore[call-overload]
    if why := problem(given):
        # The key without which all others fit, if there is one.
        cause = (f".{key}" for key in given if not problem({k: v for k, v in given.items() if k != key}))
        raise FaultsError([f"{file}: {section}{next(cause, '')}: {why}"])
