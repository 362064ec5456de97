"""The mappings `trainer` and `peft` of a recipe: keys of transformers' or TRL's arguments and of peft's LoraConfig.

These libraries check the values. Refused by name are the keys that the recipe has under another name, and those that would do
nothing or something wrong here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from harness.engines.shared import brief, quiet_transformers
from harness.errors import FaultsError
from harness.util.settings import first_problem

if TYPE_CHECKING:
    from adapters.recipe import FinetuneRecipe


def _table(reasons: Mapping[str, str]) -> dict[str, str]:
    return {key: reason for keys, reason in reasons.items() for key in keys.split()}


_DEV = "dev is measured as training.evaluations, training.keep and training.dev_batch_size say"
_ORDER = "rows come in packs, whose order is fixed by training.seed, so that a killed run resumes exactly"
_TRAINER = _table(
    {
        "num_train_epochs": "give training.epochs",
        "max_steps": "give training.max_steps",
        "learning_rate": "give training.learning_rate",
        "warmup_steps warmup_ratio": "give training.warmup",
        "weight_decay": "give training.weight_decay",
        "max_grad_norm": "give training.max_grad_norm",
        "seed data_seed": "give training.seed",
        "bf16 fp16 bf16_full_eval fp16_full_eval": "give training.precision",
        "gradient_checkpointing": "give training.gradient_checkpointing",
        "gradient_accumulation_steps average_tokens_across_devices": "give training.accumulation",
        "per_device_train_batch_size auto_find_batch_size": "give training.per_device_train_batch_size or training.tokens",
        "torch_compile": "give training.torch_compile",
        "use_liger_kernel liger_kernel_config": "give training.use_liger_kernel",
        "report_to": "give report_to beside trainer",
        "eval_strategy eval_steps eval_delay eval_on_start per_device_eval_batch_size eval_accumulation_steps batch_eval_metrics "
        "prediction_loss_only include_for_metrics eval_do_concat_batches eval_use_gather_object load_best_model_at_end "
        "metric_for_best_model greater_is_better": _DEV,
        "save_strategy save_steps save_only_model enable_jit_checkpoint": "a checkpoint follows every evaluation and every log",
        "logging_strategy logging_nan_inf_filter": "give trainer.logging_steps",
        "output_dir resume_from_checkpoint restore_callback_states_from_checkpoint": "the run's folder and its last checkpoint",
        "train_sampling_strategy group_by_length length_column_name ignore_data_skip accelerator_config": _ORDER,
        "label_smoothing_factor": "the loss is that of TRL's fused head, which has no label smoothing",
        "neftune_noise_alpha": "its noise depends on the length of a row, and a pack holds several rows",
        "remove_unused_columns label_names use_cache disable_tqdm do_train do_eval do_predict local_rank log_level "
        "log_level_replica use_cpu skip_memory_metrics debug": "the harness sets it",
        "fsdp fsdp_config deepspeed parallelism_config": "start the training with `accelerate launch` and a file of its own",
        "push_to_hub hub_token hub_private_repo hub_model_id hub_strategy hub_always_push hub_revision": "the harness uploads "
        "nothing during a training",
    }
)
"""Why keys of the trainer's arguments are refused."""
_START = "it initializes from the base's weights or from data, and changes a base that others share"
_OTHER = "only plain LoRA, DoRA and rsLoRA can be packed, saved and merged here"
_PEFT = _table(
    {
        "r": "give lora.r",
        "lora_alpha": "give lora.alpha",
        "lora_dropout": "give lora.dropout",
        "target_modules": "give lora.target_modules",
        "task_type peft_type peft_version auto_mapping base_model_name_or_path revision inference_mode runtime_config": "the "
        "harness sets it",
        "loftq_config eva_config corda_config lora_ga_config": _START,
        "megatron_config megatron_core use_qalora qalora_group_size velora_config monteclora_config use_bdlora arrow_config "
        "kasa_config": _OTHER,
        "alora_invocation_tokens": "it adapts only a part of a row, and rows of a pack share their beginnings",
        "layer_replication": "it makes another base: an adapter goes onto its base as it is",
        "modules_to_save trainable_token_indices": "it trains weights of the base, which an adapter here leaves as they are: "
        "give method full",
    }
)
"""Why keys of LoraConfig are refused."""
_STARTS = (True, False, "gaussian", "orthogonal")
"""The values of init_lora_weights that leave the base as it is."""
_ARGUMENTS = {"grpo": "trl:GRPOConfig"}
"""The class of a method's arguments, if it is not transformers' TrainingArguments."""


def check_libraries(recipe: FinetuneRecipe, file: Path) -> None:
    """Raises FaultsError, with a line for each key of `trainer` and `peft` that the libraries or this harness refuse, and
    UsageError for a tracker that is not installed. Nothing is imported for a recipe without such keys."""
    if recipe.report_to:
        from harness.training.watched import trackers

        trackers(recipe.report_to)
    faults = [*_trainer_faults(recipe), *_peft_faults(recipe)] if recipe.trainer or recipe.peft else []
    if faults:
        raise FaultsError(f"{file}: {fault}" for fault in faults)


def _trainer_faults(recipe: FinetuneRecipe) -> Iterator[str]:
    if not recipe.trainer:
        return
    kind = resolve_name(_ARGUMENTS.get(recipe.method, "transformers:TrainingArguments"))
    packed = kind.__name__ == "TrainingArguments"
    rows = _names(resolve_name("trl:SFTConfig")) - _names(kind) if packed else set()
    refused = _TRAINER | dict.fromkeys(rows, "a key of TRL's SFTConfig; training.tokens and training.max_length make the rows")
    if recipe.grpo:
        refused |= {key: f"give grpo.{key}" for key in type(recipe.grpo).model_fields}
        refused["max_completion_length"] = "give training.max_new_tokens"
    if recipe.training.per_device_train_batch_size == 1:
        del refused["neftune_noise_alpha"]
    if recipe.training.optimizer != "adamw":
        refused["optim"] = "give it or training.optimizer"

    def build(given: Mapping[str, Any]) -> None:
        with quiet_transformers():
            _try_trainer(recipe, kind(output_dir=gettempdir(), use_cpu=True, bf16=False, **given), given)

    yield from _faults("trainer", recipe.trainer, kind, refused, build)


def _try_trainer(recipe: FinetuneRecipe, arguments: Any, given: Mapping[str, Any]) -> None:
    """Build the optimizer and the schedule for a weight, as Trainer does. Raises what it raises."""
    from torch.nn import Linear
    from torch.optim import SGD
    from transformers import Trainer, get_scheduler

    if given.keys() & {"optim", "optim_args"}:
        Trainer.get_optimizer_cls_and_kwargs(arguments, Linear(1, 1))
    if given.keys() & {"lr_scheduler_type", "lr_scheduler_kwargs"}:
        if arguments.lr_scheduler_type == "reduce_lr_on_plateau" and recipe.training.keep == "best":
            raise ValueError("reduce_lr_on_plateau needs training.keep=last, since it follows the dev loss")
        get_scheduler(arguments.lr_scheduler_type, SGD(Linear(1, 1).parameters()), 1, 10, arguments.lr_scheduler_kwargs)


def _peft_faults(recipe: FinetuneRecipe) -> Iterator[str]:
    from peft import LoraConfig

    assert recipe.lora is not None
    own = {"r": recipe.lora.r, "lora_alpha": recipe.lora.alpha, "target_modules": recipe.lora.target_modules}
    if recipe.peft.get("init_lora_weights", True) not in _STARTS:
        yield f"peft.init_lora_weights: {_START}: {recipe.peft['init_lora_weights']!r}; give one of {_STARTS}"
        return
    yield from _faults("peft", recipe.peft, LoraConfig, _PEFT, lambda given: LoraConfig(**own, **given))


def _faults(
    section: str, given: Mapping[str, Any], kind: Any, refused: Mapping[str, str], build: Callable[[Mapping[str, Any]], object]
) -> Iterator[str]:
    """What is wrong with the keys of a section: each by itself, and if all are right, with all of them together."""
    hints, wrong = get_type_hints(kind), False
    for key, value in given.items():
        if problem := refused.get(key) or _unknown(key, kind) or _problem(hints[key], value, partial(build, {key: value})):
            wrong = True
            yield f"{section}.{key}: {problem}"
    if not wrong and (problem := _problem(Any, None, partial(build, given))):
        yield f"{section}: {problem}"


def _unknown(key: str, kind: Any) -> str | None:
    near = get_close_matches(key, names := _names(kind), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return None if key in names else f"{kind.__name__} has no such key{hint}"


def _problem(hint: Any, value: Any, build: Callable[[], object]) -> str | None:
    try:
        with suppress(NameError, TypeError):  # pydantic does not know every type
            TypeAdapter(hint, config={"arbitrary_types_allowed": True}).validate_python(value)
    except ValidationError as error:
        return first_problem(error).removeprefix("content: ")
    try:
        build()
    except Exception as error:  # noqa: BLE001 - any error of these libraries says why they refuse the value
        return brief(error)
    return None


def _names(kind: Any) -> set[str]:
    return {field.name for field in fields(kind)}
