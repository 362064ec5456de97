"""Learning from the scorer: GRPO (Shao et al. 2024) with TRL, where an answer's reward is its score as the task defines it.

For each item the model draws a group of answers. Those that score above their group's mean become likelier, the others less
likely. TRL implements the algorithm; this module adds the prompts, the rewards, and alarms for known failures.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from adapters.finetune import FinetuneJob, describe_checkpoints, finish, set_up
from adapters.model import load_base, trained_sums, with_lora
from adapters.recipe import FinetuneTraining, Grpo
from adapters.trainer import DevTrainer, shared_arguments
from eval.answers import answer_size
from harness.corpora.item import Item
from harness.engines.shared import brief, memory_for
from harness.errors import HarnessError, UsageError
from harness.training.checkpoints import finished_at, last_state
from harness.training.job import Trained
from harness.training.processes import processes
from prompts.messages import read_answer
from prompts.render import PromptTooLongError, Renderer
from prompts.rendered import Rendered
from prompts.spec import PromptSpec
from serialization.formats.answer import losses

with warnings.catch_warnings():
    # It concerns only training with vLLM, and comes again there.
    warnings.filterwarnings("ignore", "TRL currently supports vLLM versions")
    # Deprecations within torch, meant for its developers.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    from trl import GRPOConfig, GRPOTrainer
    from trl.import_utils import is_vllm_available

FADED = 0.1
"""Entropy has collapsed when it stays below this share of its initial value."""
PATIENCE = 5
"""Steps in a row for which the entropy must stay low to stop the training."""


def train_grpo(job: FinetuneJob, folder: Path, say: Callable[[str], None]) -> Trained:
    """Train in `folder` (resuming from its last checkpoint) and write `folder/adapter`, as `adapters.finetune.finetune` does.

    Prompts show `job.items`; answers are scored against the same items in `job.gold`, if it has them. Raises HarnessError if no
    prompt is short enough, and if an alarm goes off.
    """
    training, settings = job.recipe.training, job.recipe.grpo
    assert settings is not None
    refuse(settings)
    where = set_up(job.recipe)
    tokenizer = job.tokenizer
    model = with_lora(job.recipe, load_base(job.recipe, job.base, job.layout), job.start)
    before, length = trained_sums(model), job.length
    renderer = Renderer(job.spec, tokenizer, length, training.max_new_tokens, training.thought_tokens)
    prompts = _prompts(job, renderer)
    dropped = len(job.items) - len(prompts)
    say(f"{len(prompts)} prompts, {dropped} dropped: longer than {renderer.budget} tokens")
    shown = {item.id: item for item in job.items if item.id in prompts}
    each = settings.generation_batch_size // settings.num_generations
    steps = training.max_steps or max(1, round(training.epochs * len(shown) / each))
    rows = [{"prompt": prompts[name], "id": name} for name in order(list(shown), steps * each, training.seed)]
    say(f"{steps} steps of {each} prompts with {settings.num_generations} answers each, on {where}")
    steps = steps if job.resume else finished_at(last_state(folder)) or steps
    longest = {"max_completion_length": training.max_new_tokens + renderer.thought_tokens}
    trainer = PolicyTrainer(
        model,
        grpo_arguments(training, settings, steps, folder, renderer.stop_token_ids, {**longest, **job.recipe.arguments}),
        folder,
        rows,
        Reward(job.spec, shown, {**shown, **job.gold}, settings, renderer),
        tokenizer,
        partial(job.dev_f1, job, tokenizer, length),
        training,
        renderer.stop_token_ids,
    )
    counts = {"items": len(job.items), "rows": len(prompts), "dropped": dropped, "tokens": 0}
    describe_checkpoints(job, trainer, counts, say)
    checkpointing = "" if training.gradient_checkpointing else ", or training.gradient_checkpointing=true"
    answers, flag = settings.per_device_train_batch_size, "--set grpo.per_device_train_batch_size="
    with memory_for(answers, flag, f", or fewer grpo.num_generations{checkpointing}", unit="answers"):
        trainer.go_on()
    counts["tokens"] = trainer.tokens
    return finish(job, folder, trainer, tokenizer, counts, changed=trained_sums(model) != before)


def refuse(settings: Grpo) -> None:
    """Raises UsageError for settings that do not work together, before anything is loaded."""
    if settings.use_vllm and not is_vllm_available():
        raise UsageError("grpo.use_vllm: TRL finds no vLLM here: --set grpo.use_vllm=false")


def _prompts(job: FinetuneJob, renderer: Renderer) -> dict[str, str]:
    """The prompts that fit whole, by item id. Raises HarnessError if there are none."""
    prompts = {}
    for item in job.items:
        try:
            rendered = renderer.render(item, job.pool.choose(item, job.recipe.shots), job.pool.arrange)
        except PromptTooLongError:
            continue
        if not rendered.dropped_history and not rendered.dropped_shots:
            prompts[item.id] = as_tokenized(renderer.tokenizer, rendered)
    if not prompts:
        raise HarnessError(
            f"every prompt is longer than {renderer.budget} tokens: choose a shorter --context or raise training.max_length"
        )
    return prompts


def as_tokenized(tokenizer: Any, prompt: Rendered) -> str:
    """The text that a tokenizer, which may put a BOS before it, reads as the prompt's tokens, since TRL takes texts.

    Raises HarnessError if there is none.
    """
    for text in (prompt.text, prompt.text.removeprefix(tokenizer.bos_token or "")):
        if tokenizer(text).input_ids == list(prompt.token_ids):
            return text
    raise HarnessError(f"{prompt.id}: TRL would read its prompt as other tokens: use another --base, or another method")


class Reward:
    """The score of an answer, whatever the thought before it: F1, plus a bonus for an exact match, minus a penalty if part of the
    text cannot be read or the thought does not end.

    HEXAGONS: action-based F1 of the step on the gold board before it. Minecraft: F1 of net actions, strict. Everyday requests: 1
    for a right turn, otherwise 0.
    """

    __name__ = "score"

    def __init__(
        self,
        spec: PromptSpec,
        items: Mapping[str, Item],
        gold: Mapping[str, Item],
        settings: Grpo,
        renderer: Renderer | None = None,
    ) -> None:
        """`items` are as prompts show them, perhaps with a model's own earlier answers; answers are scored against `gold`. If the
        model thinks, `renderer` tells where its thoughts end."""
        self._spec, self._items, self._gold, self._settings, self._renderer = spec, items, gold, settings, renderer

    def __call__(
        self, completions: Sequence[str], id: Sequence[str], completion_ids: Sequence[Sequence[int]] = (), **_: Any
    ) -> list[float]:
        """The rewards of answers to the items with these ids."""
        thinks = self._renderer is not None and self._renderer.thinking is not None
        said = [self._after_thought(ids) for ids in completion_ids] if thinks else completions
        parsed = [read_answer(text or "", self._items[name], self._spec) for name, text in zip(id, said, strict=True)]
        scored = [answer_size(self._gold[name], answer.actions) for name, answer in zip(id, parsed, strict=True)]
        settings = self._settings
        rewards = []
        for size, answer, text in zip(scored, parsed, said, strict=True):
            unread = text is None or bool(losses(answer.discarded))
            # Otherwise an unreadable answer would be right for an item without actions.
            earned = size.f1 + settings.exact * size.exact if answer.actions or not unread else 0.0
            rewards.append(earned - settings.unread * unread)
        return rewards

    def _after_thought(self, ids: Sequence[int]) -> str | None:
        """The text of the answer after a thought; None if the thought does not end. The mark may be a special token, which TRL
        leaves out of texts."""
        assert self._renderer is not None
        assert self._renderer.thinking is not None
        tokenizer = self._renderer.tokenizer
        _, end, rest = tokenizer.decode(ids).partition(self._renderer.thinking.end)
        return str(tokenizer.decode(self._renderer.token_ids(rest), skip_special_tokens=True)) if end else None


def order(names: Sequence[str], most: int, seed: int) -> list[str]:
    """The first `most` item ids of as many epochs as that takes, each in a random order of its own."""
    epochs = (Random(f"{seed}/grpo/{epoch}").sample(names, len(names)) for epoch in count())
    return list(islice(chain.from_iterable(epochs), most))


class PolicyTrainer(DevTrainer, GRPOTrainer):  # type: ignore[misc]
    """A row is a prompt with its item's id."""

    means = {"reward": "reward", "entropy": "entropy"}

    def __init__(
        self,
        model: Any,
        arguments: GRPOConfig,
        folder: Path,
        rows: list[dict[str, str]],
        reward: Callable[..., list[float]],
        tokenizer: Any,
        dev_f1: Callable[[Any], float],
        training: FinetuneTraining,
        stop_token_ids: Sequence[int] = (),
    ) -> None:
        from datasets import Dataset

        self.training, self.patience, self._dev_f1 = training, training.patience, dev_f1
        data = Dataset.from_list(rows)
        try:
            super().__init__(
                model,
                arguments,
                folder,
                reward_funcs=reward,
                train_dataset=data,
                # `judge` evaluates in place of TRL, which insists on a data set all the same.
                eval_dataset=data.select([0]),
                processing_class=tokenizer,
            )
        except ConnectionError as error:
            raise HarnessError(f"grpo.vllm_server_base_url: {brief(error)}") from None
        # TRL takes stop tokens from the model's generation_config.json, which may lack the chat template's end of a turn.
        self.eos_token_ids: Any = [*self.eos_token_ids, *stop_token_ids]
        if not self.use_vllm:
            self.generation_config.eos_token_id = self.eos_token_ids

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        super().log(logs, start_time)
        if "reward" in logs or "loss" in logs:
            check_entropy(self.state.global_step, self.state.log_history)


def check_entropy(step: int, history: Sequence[Mapping[str, Any]]) -> None:
    """Stops a training that no longer learns, judging by the log of the run, earlier processes included: raises HarnessError if
    the entropy has collapsed."""
    entropies = [entry["entropy"] for entry in history if entry.get("entropy") is not None]
    last = entropies[PATIENCE:][-PATIENCE:]
    if len(last) == PATIENCE and max(last) < FADED * (first := fmean(entropies[:PATIENCE])):
        raise HarnessError(
            f"step {step}: the entropy of the answers fell from {first:.3f} to {last[-1]:.3f}: answers to "
            "an item are all alike and teach nothing; lower training.learning_rate or raise grpo.beta"
        )


def grpo_arguments(
    training: FinetuneTraining,
    settings: Grpo,
    steps: int,
    folder: Path,
    stop_token_ids: Sequence[int] = (),
    more: Mapping[str, Any] | None = None,
) -> GRPOConfig:
    """TRL's arguments; checkpoints go to `folder/checkpoints`. Each process has its share of a step's answers.

    `stop_token_ids` go to vLLM, which by itself knows only the end tokens of the model and the tokenizer. `more` are the
    recipe's own arguments. Raises UsageError for settings that TRL refuses, such as a number of answers that cannot be shared
    among the processes.
    """
    together = settings.per_device_train_batch_size * processes().num_processes
    own = {
        **settings.model_dump(exclude={"exact", "unread"}),
        "gradient_accumulation_steps": max(1, settings.generation_batch_size // together),
        "per_device_eval_batch_size": settings.num_generations,
        "max_completion_length": training.max_new_tokens,
        "temperature": 1.0,
        "scale_rewards": "group",
        "shuffle_dataset": False,
        "disable_dropout": True,
        "lr_scheduler_type": "constant_with_warmup",
        "generation_kwargs": {"stop_token_ids": list(stop_token_ids)} if settings.use_vllm else None,
        "logging_steps": 1,
    }
    try:
        return GRPOConfig(**shared_arguments(training, steps, folder) | own | dict(more or {}))
    except ValueError as error:
        raise UsageError(f"grpo: {brief(error)}") from error
