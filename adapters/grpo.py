"""Learning from the scorer: GRPO (Shao et al. 2024) with TRL, where an answer's reward is its score as the task defines it.

For each item the model draws a group of answers. Those that score above their group's mean become likelier, the others less
likely. TRL implements the algorithm; this module adds the prompts and rewards, the packs (a prompt with several answers, and the
common beginning of several prompts, are computed once), and alarms for known failures.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import chain, count, takewhile
from pathlib import Path
from random import Random
from typing import Any

import torch
from packaging.requirements import Requirement
from packaging.version import Version

from adapters.finetune import (
    FinetuneJob,
    answer_dev,
    effect,
    examples,
    finish,
    load_base,
    longest_row,
    machine,
    set_up,
    with_lora,
)
from adapters.layout import keep_sources, layout_of, scored
from adapters.packing import Packing, collate, pack_of
from adapters.recipe import FinetuneTraining, Grpo
from adapters.rollouts import SampledAnswer, draw
from adapters.trainer import DevTrainer, shared_arguments
from eval.items import sizes
from harness.corpora.item import Item
from harness.engines.models.bases import load_tokenizer
from harness.engines.shared import brief, memory_for
from harness.errors import HarnessError, UsageError
from harness.training.checkpoints import finished_at, last_checkpoint, last_state
from harness.training.job import Trained
from harness.training.processes import processes
from prompts.messages import read_answer
from prompts.render import PromptTooLongError, Renderer
from prompts.rendered import TrainingRow
from prompts.shots import Shots
from prompts.spec import PromptSpec
from serialization.formats.answer import losses

with warnings.catch_warnings():
    # It concerns only training with vLLM, where `refuse` checks the version.
    warnings.filterwarnings("ignore", "TRL currently supports vLLM versions")
    # Deprecations within torch, meant for its developers.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    # Silences the warning that rollout functions may change: the tests would notice.
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    from trl import GRPOConfig, GRPOTrainer

FADED = 0.1
"""Entropy has collapsed when it stays below this share of its initial value."""
APART = 0.25
"""Largest mean difference of an answer token's log-probability between drawing and training: rounding in bfloat16 causes about
0.02, answers of another model cause several units."""
PATIENCE = 5
"""Steps in a row for which a fault must last to stop the training."""


def train_grpo(job: FinetuneJob, folder: Path, say: Callable[[str], None]) -> Trained:
    """Train in `folder` (resuming from its last checkpoint) and write `folder/adapter`, as `adapters.finetune.finetune` does.

    Prompts show `job.items`; answers are scored against the same items in `job.gold`, if it has them. Raises HarnessError if no
    prompt is short enough, and if an alarm goes off.
    """
    from peft.helpers import disable_input_dtype_casting

    training, settings = job.recipe.training, job.recipe.grpo
    assert settings is not None
    refuse(settings)
    own, threads = set_up(training)
    check_parts(settings, own.num_processes)
    tokenizer = load_tokenizer(job.base)
    model, packs = _policy(job, settings)
    length = longest_row(job, model.config)
    changed = effect(model, fresh=job.start is None)
    pool = examples(job)
    renderer = Renderer(job.spec, tokenizer, length, training.max_new_tokens)
    prompts = _prompts(job, renderer, pool)
    dropped = len(job.items) - len(prompts)
    say(f"{len(prompts)} prompts, {dropped} dropped: longer than {length - training.max_new_tokens} tokens")
    shown = {item.id: item for item in job.items if item.id in prompts}
    steps = training.max_steps or max(1, round(training.epochs * len(shown) / settings.prompts))
    ids = order(list(shown.values()), settings, steps, training.seed)
    say(f"{steps} steps of {settings.prompts} prompts with {settings.num_generations} answers each, on {machine(threads)}")
    steps = finished_at(last_state(folder)) or steps
    trainer = PolicyTrainer(
        model,
        grpo_arguments(training, settings, steps, folder, renderer.stop_token_ids),
        folder,
        ids,
        prompts,
        Reward(job.spec, shown, {**shown, **job.gold}, settings),
        tokenizer,
        partial(answer_dev, job, tokenizer, pool, length),
        training,
        packs=packs,
        stop_token_ids=renderer.stop_token_ids,
    )
    if checkpoint := last_checkpoint(folder / "checkpoints"):
        say(f"resuming from {checkpoint}")
    with disable_input_dtype_casting(model, trainer.args.bf16), _memory(training, settings.per_device_train_batch_size):
        trainer.go_on()
    tokens = max((int(entry["num_tokens"]) for entry in trainer.state.log_history if "num_tokens" in entry), default=0)
    counts = {"items": len(job.items), "rows": len(prompts), "dropped": dropped, "tokens": tokens}
    return finish(job, folder, trainer, tokenizer, counts, changed())


def _policy(job: FinetuneJob, settings: Grpo) -> tuple[Any, bool]:
    """The base with its adapter, and whether answers are computed as packs. Raises UsageError for a base that only vLLM can draw
    answers from."""
    model = with_lora(job.recipe, load_base(job), job.start)
    layout = layout_of(model.config, longest_row(job, model.config))
    if not (layout.plain or settings.use_vllm):
        raise UsageError(
            f"{job.base} has layers that do not attend to all earlier tokens: learning from the scorer needs vLLM: "
            "--set grpo.use_vllm=true"
        )
    return model, layout.packing is Packing.TREE


def _memory(training: FinetuneTraining, answers: int) -> AbstractContextManager[None]:
    """Turns running out of memory into an error with advice."""
    checkpointing = "" if training.gradient_checkpointing else ", or training.gradient_checkpointing=true"
    then = f", or fewer grpo.num_generations{checkpointing}"
    return memory_for(answers, "--set grpo.per_device_train_batch_size=", then, unit="answers")


def refuse(settings: Grpo) -> None:
    """Raises UsageError for settings that do not work together, before anything is loaded."""
    if os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true":
        raise UsageError(
            "learning from the scorer needs the whole model in each process, and FSDP divides it: launch without FSDP"
        )
    if settings.use_vllm and (wrong := unsupported_vllm()):
        raise UsageError(f"grpo.use_vllm: {wrong}; install one that it supports, or --set grpo.use_vllm=false")


def unsupported_vllm() -> str | None:
    """Why TRL cannot draw answers with the installed vLLM, by TRL's own version requirements; None if it can."""
    needed = [Requirement(line) for line in requires("trl") or ()]
    supported = next(one.specifier for one in needed if one.name == "vllm" and one.marker)
    try:
        there = Version(Version(version("vllm")).base_version)
    except PackageNotFoundError:
        return f"vllm is not installed, and TRL {version('trl')} needs {supported}"
    return None if there in supported else f"vllm {there} is installed, and TRL {version('trl')} supports {supported}"


def check_parts(settings: Grpo, processes: int) -> None:
    """Raises UsageError if the processes cannot be divided evenly among copies of vLLM, or the parts of a step, of `together`
    prompts each, among the processes."""
    if settings.use_vllm and settings.vllm_mode == "colocate" and processes % settings.vllm_tensor_parallel_size:
        raise UsageError(
            f"{processes} processes cannot be shared among copies of vLLM that take {settings.vllm_tensor_parallel_size} GPUs "
            "each: --set grpo.vllm_tensor_parallel_size=1, or start a multiple of that many processes"
        )
    parts = settings.prompts // settings.together
    if parts % processes:
        answers = settings.per_device_train_batch_size * processes * (parts // processes + 1)
        raise UsageError(
            f"a step's {parts} parts of {settings.together} prompts cannot be shared among {processes} processes: "
            f"--set grpo.generation_batch_size={answers}, or start fewer processes"
        )


def _prompts(job: FinetuneJob, renderer: Renderer, pool: Shots) -> dict[str, tuple[int, ...]]:
    """The prompts that fit whole, as tokens, by item id. Raises HarnessError if there are none."""
    prompts = {}
    for item in job.items:
        try:
            rendered = renderer.render(item, pool.choose(item, job.recipe.shots), pool.arrange)
        except PromptTooLongError:
            continue
        if not rendered.dropped_history and not rendered.dropped_shots:
            prompts[item.id] = rendered.token_ids
    if not prompts:
        raise HarnessError(
            f"every prompt is longer than {renderer.budget} tokens: choose a shorter --context or raise training.max_length"
        )
    return prompts


class Reward:
    """The score of an answer: F1, plus a bonus for an exact match, minus a penalty if part of the text cannot be read.

    HEXAGONS: action-based F1 of the step on the gold board before it. Minecraft: F1 of net actions, strict.
    """

    __name__ = "score"

    def __init__(self, spec: PromptSpec, items: Mapping[str, Item], gold: Mapping[str, Item], settings: Grpo) -> None:
        """`items` are as prompts show them, perhaps with a model's own earlier answers; answers are scored against `gold`."""
        self._spec, self._items, self._gold, self._settings = spec, items, gold, settings

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        """The rewards of answers to the items whose ids `prompts` holds."""
        parsed = [read_answer(text, self._items[name], self._spec) for name, text in zip(prompts, completions, strict=True)]
        scored = sizes(self._spec.task, [self._gold[name] for name in prompts], [answer.actions for answer in parsed])
        settings = self._settings
        rewards = []
        for size, answer in zip(scored, parsed, strict=True):
            unread = bool(losses(answer.discarded))
            # Otherwise an unreadable answer would be right for an item without actions.
            earned = size.f1 + settings.exact * size.exact if answer.actions or not unread else 0.0
            rewards.append(earned - settings.unread * unread)
        return rewards


def order(items: Sequence[Item], settings: Grpo, steps: int, seed: int) -> list[str]:
    """The item ids of all steps in random order, but `settings.together` neighbors of a procedure or game at a time.

    The prompts of neighbors begin alike.
    """
    clusters: dict[str, list[str]] = {}
    for item in items:
        clusters.setdefault(item.cluster, []).append(item.id)
    chosen: list[str] = []
    for epoch in count():
        random = Random(f"{seed}/grpo/{epoch}")
        shuffled = random.sample(list(clusters.values()), len(clusters))
        names = list(chain.from_iterable(shuffled))
        groups = [names[start : start + settings.together] for start in range(0, len(names), settings.together)]
        if len(groups) > 1 and len(groups[-1]) < settings.together:
            del groups[-1]
        random.shuffle(groups)
        chosen += chain.from_iterable(groups)
        if len(chosen) >= steps * settings.prompts:
            break
    return chosen[: steps * settings.prompts]


class PolicyTrainer(DevTrainer, GRPOTrainer):  # type: ignore[misc]
    """TRL's trainer on our prompts and packs.

    `prompts` holds the token ids of every item's prompt; `dev_f1` answers dev items greedily with the model as it is.
    """

    columns = {
        "step": "step",
        "seconds": "seconds",
        "eval_reward": "reward",
        "eval_entropy": "entropy",
        "eval_apart": "apart",
        "eval_f1": "dev_f1",
    }

    def __init__(
        self,
        model: Any,
        arguments: GRPOConfig,
        folder: Path,
        ids: Sequence[str],
        prompts: Mapping[str, Sequence[int]],
        reward: Callable[..., list[float]],
        tokenizer: Any,
        dev_f1: Callable[[Any], float],
        training: FinetuneTraining,
        *,
        packs: bool = True,
        stop_token_ids: Sequence[int] = (),
    ) -> None:
        from datasets import Dataset

        self.training, self.patience, self._dev_f1 = training, training.patience, dev_f1
        self._prompts, self._packs = prompts, packs
        self._drawn: Any = None
        self._buffered_inputs: Any
        try:
            super().__init__(
                model,
                arguments,
                folder,
                reward_funcs=reward,
                train_dataset=Dataset.from_dict({"prompt": list(ids)}),
                # Not used: `judge` evaluates.
                eval_dataset=Dataset.from_dict({"prompt": list(ids[:1])}),
                processing_class=tokenizer,
                rollout_func=_rollouts,
            )
        except ConnectionError as error:
            raise HarnessError(f"grpo.vllm_server_base_url: {brief(error)}") from None
        keep_sources(self.model)
        # TRL takes stop tokens from the model's generation_config.json, which may lack the chat template's end of a turn.
        self.eos_token_ids += stop_token_ids

    def rollouts(self, names: Sequence[str]) -> list[SampledAnswer]:
        """An answer for each item id."""
        prompts = [self._prompts[name] for name in names]
        if self.use_vllm:
            counts = self.num_generations if self.model.training else self.num_generations_eval
            _, tokens, likely, _ = self.vllm_generation.generate(prompts=prompts, images=None, num_generations=counts)
            return [SampledAnswer(list(t), [one[0] for one in p]) for t, p in zip(tokens, likely, strict=True)]
        model, each = self.accelerator.unwrap_model(self.model), self.args.per_device_train_batch_size
        ends, most = self.eos_token_ids, self.max_completion_length
        drawn: list[SampledAnswer] = []
        with self.accelerator.autocast():
            for start in range(0, len(prompts), each):
                # The place among the answers of all processes, so that any number of processes draws the same.
                place = self.accelerator.process_index * len(prompts) + start
                seed = hash((self.args.seed, self.state.global_step, place)) % 2**32
                drawn += draw(model, prompts[start : start + each], ends, most, seed)
        return drawn

    def judge(self) -> dict[str, float]:
        """F1 on dev, and the means of reward, entropy and drift since the last evaluation."""
        since = list(takewhile(lambda entry: "eval_f1" not in entry, reversed(self.state.log_history)))
        logged = {key: [entry[key] for entry in since if entry.get(key) is not None] for key in ("reward", "entropy", "apart")}
        means = {f"eval_{key}": _mean(values) for key, values in logged.items() if values}
        with torch.autocast(self.args.device.type, torch.bfloat16, enabled=self.args.bf16):
            return means | {"eval_f1": self._dev_f1(self.model)}

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        super().log(logs, start_time)
        if "reward" in logs or "loss" in logs:
            check_alarms(self.state.global_step, self.state.log_history)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        """As in Trainer, but also loads the trained adapter. Trainer skips it if the checkpoint has a folder for another one: the
        copy of the initial adapter, from which `beta` measures the divergence."""
        super()._load_from_checkpoint(resume_from_checkpoint, model)
        adapted = self.accelerator.unwrap_model(self.model if model is None else model)
        if "ref" in adapted.peft_config:
            adapted.load_adapter(resume_from_checkpoint, "default", is_trainable=True)
            adapted.set_adapter("default")

    def _prepare_inputs(self, generation_batch: Any) -> Any:
        """As in TRL, but without its shuffling: answers to prompts that begin alike stay in one batch, and so in one pack."""
        from trl.trainer.utils import split_tensor_dict

        if not self.model.training:
            return super()._prepare_inputs(generation_batch)
        each = self.args.steps_per_generation
        if self._step % each == 0 or self._buffered_inputs is None:
            self._buffered_inputs = split_tensor_dict(self._generate_and_score_completions(generation_batch), each)
        return self._buffered_inputs[self._step % each]

    def _compute_loss(self, model: Any, inputs: Any) -> Any:
        self._drawn = inputs.get("sampling_per_token_logps")
        return super()._compute_loss(model, inputs)

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Any, attention_mask: Any, logits_to_keep: int, *args: Any, **options: Any
    ) -> tuple[Any, Any, Any]:
        """Log-probabilities of the answers' tokens and entropies there, shape (answers, tokens); 0 beyond an answer's end."""
        if not self._packs:
            result: tuple[Any, Any, Any] = super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, *args, **options
            )
            self._note_drift(result[0], attention_mask[:, -logits_to_keep:].bool())
            return result
        size = options.get("batch_size") or len(input_ids)
        parts = [
            self._packed_logps(model, ids, seen, logits_to_keep)
            for ids, seen in zip(input_ids.split(size), attention_mask.bool().split(size), strict=True)
        ]
        log_probs, entropies = (torch.cat(each) for each in zip(*parts, strict=True))
        self._note_drift(log_probs, attention_mask[:, -logits_to_keep:].bool())
        return log_probs, entropies, None

    def _packed_logps(self, model: Any, input_ids: Any, known: Any, logits_to_keep: int) -> tuple[Any, Any]:
        """Log-probabilities and entropies, as above, of answers that are computed as one pack."""
        before = input_ids.shape[1] - logits_to_keep
        rows = [
            TrainingRow("", tuple(ids[:before][seen[:before]].tolist()), tuple(ids[before:][seen[before:]].tolist()))
            for ids, seen in zip(input_ids, known, strict=True)
        ]
        packed = collate(pack_of(rows), Packing.TREE, pad=self._tokenizer.pad_token_id)
        inputs = {key: value.to(input_ids.device) for key, value in packed.items()}
        labels = inputs.pop("labels")
        with self.accelerator.autocast():
            output = scored(model, inputs, labels)
        answers = known[:, before:]
        nothing = torch.zeros(answers.shape, device=answers.device)
        return nothing.masked_scatter(answers, output.log_probs), nothing.masked_scatter(answers, output.entropy.detach())

    def _note_drift(self, log_probs: Any, answers: Any) -> None:
        """Log the mean difference between training's log-probabilities and those with which the tokens were drawn."""
        drawn, self._drawn = self._drawn, None
        if drawn is not None and drawn.shape == log_probs.shape:
            apart = (log_probs.detach() - drawn)[answers].abs().nanmean()
            self._metrics["train"]["apart"].append(float(self.accelerator.gather(apart).nanmean()))


def _rollouts(names: list[str], trainer: PolicyTrainer) -> dict[str, Any]:
    """The rollout function that TRL calls; its prompts are item ids."""
    drawn = trainer.rollouts(names)
    return {
        "prompt_ids": [list(trainer._prompts[name]) for name in names],
        "completion_ids": [one.token_ids for one in drawn],
        "logprobs": [one.log_probs for one in drawn],
    }


def check_alarms(step: int, history: Sequence[Mapping[str, Any]]) -> None:
    """Stops a training that no longer learns, judging by the log of the run, earlier processes included.

    Raises HarnessError if the entropy has collapsed, or if the answers come from another model than the one that is trained.
    """
    entropies = [entry["entropy"] for entry in history if entry.get("entropy") is not None]
    first, last = _mean(entropies[:PATIENCE]), entropies[PATIENCE:][-PATIENCE:]
    if len(last) == PATIENCE and max(last) < FADED * first:
        raise HarnessError(
            f"step {step}: the entropy of the answers fell from {first:.3f} to {last[-1]:.3f}: answers to "
            "an item are all alike and teach nothing; lower training.learning_rate or raise grpo.beta"
        )
    apart = [entry["apart"] for entry in history if entry.get("apart") is not None][-PATIENCE:]
    if len(apart) == PATIENCE and min(apart) > APART:
        raise HarnessError(
            f"step {step}: the answers do not come from the model that is trained: their tokens' log-probabilities differ by "
            f"{apart[-1]:.2f} on average between drawing and training"
        )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def grpo_arguments(
    training: FinetuneTraining, settings: Grpo, steps: int, folder: Path, stop_token_ids: Sequence[int] = ()
) -> GRPOConfig:
    """TRL's arguments; checkpoints go to `folder/checkpoints`. Each process has its share of a step's parts.

    `stop_token_ids` go to vLLM, which by itself knows only the end tokens of the model and the tokenizer.
    """
    parts = settings.prompts // settings.together // processes().num_processes
    return GRPOConfig(
        **shared_arguments(training, steps, folder),
        per_device_train_batch_size=settings.per_device_train_batch_size,
        per_device_eval_batch_size=settings.per_device_train_batch_size,
        gradient_accumulation_steps=parts,
        steps_per_generation=parts,
        num_generations=settings.num_generations,
        max_completion_length=training.max_new_tokens,
        temperature=1.0,
        beta=settings.beta,
        loss_type=settings.loss_type,
        scale_rewards="group",
        shuffle_dataset=False,
        disable_dropout=True,
        lr_scheduler_type="constant_with_warmup",
        ddp_find_unused_parameters=False,
        use_vllm=settings.use_vllm,
        vllm_mode=settings.vllm_mode,
        vllm_server_base_url=settings.vllm_server_base_url,
        vllm_tensor_parallel_size=settings.vllm_tensor_parallel_size,
        vllm_gpu_memory_utilization=settings.vllm_gpu_memory_utilization,
        generation_kwargs={"stop_token_ids": list(stop_token_ids)} if settings.use_vllm else None,
        logging_steps=1,
    )
