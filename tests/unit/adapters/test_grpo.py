"""Learning from the scorer: rewards, order, packs, alarms, and a model that learns rewarded answers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from adapters import grpo
from adapters.grpo import PolicyTrainer, Reward, check_alarms, check_parts, grpo_arguments, order, refuse
from adapters.recipe import Grpo, load_recipe
from adapters.rollouts import SampledAnswer, draw
from harness.corpora import load
from harness.corpora.item import Item
from harness.errors import HarnessError, UsageError
from prompts.messages import gold_answer
from prompts.spec import PromptSpec

_SIZES = ["grpo.generation_batch_size=32", "grpo.per_device_train_batch_size=16", "grpo.unread=0.25"]
SETTINGS = load_recipe("llama-grpo", _SIZES).grpo or pytest.fail("the recipe has no part grpo")
PROMPTS = {"a": [5, 6, 7, 8], "b": [5, 6, 9], "c": [5, 10, 11, 12], "d": [13]}


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_the_reward_is_the_score(task: str) -> None:
    spec = PromptSpec.make(task)
    items = {item.id: item for item in load(task, "train")}
    reward = Reward(spec, items, items, SETTINGS)
    answers = {name: gold_answer(item, spec) for name, item in items.items()}
    names = [name for name, item in items.items() if item.before != item.after]
    assert reward(names, [answers[name] for name in names]) == [1.5] * len(names)
    assert reward(names, [""] * len(names)) == [0.0] * len(names)
    broken = reward(names, [f"{answers[name]}\n%&/ 17" for name in names])
    assert broken == [1.25] * len(names)
    assert all(value < 1 for value in reward(names[:1] * 2, ["I cannot do this.", "red red red"]))


def test_every_item_comes_once_an_epoch_with_its_neighbors() -> None:
    items: Sequence[Item] = load("hexagons", "train")
    settings = SETTINGS.model_copy(update={"generation_batch_size": 16})
    steps = len(items) // 2
    names = order(items, settings, steps, seed=0)
    assert len(set(names)) == len(names) == 2 * steps
    assert names != order(items, settings, steps, seed=1)
    place = {item.id: number for number, item in enumerate(items)}
    near = [abs(place[first] - place[second]) == 1 for first, second in zip(names[::2], names[1::2], strict=True)]
    assert sum(near) > len(near) / 2
    assert len(order(items, settings, 3 * steps, seed=0)) == 6 * steps


def test_parts_of_a_step_are_shared_evenly_among_processes() -> None:
    check_parts(SETTINGS, 2)
    with pytest.raises(
        UsageError, match=r"2 parts of 2 prompts cannot be shared among 3 processes: --set grpo.generation_batch_size=48,"
    ):
        check_parts(SETTINGS, 3)


# --- the trainer, on a tiny model ---


Make = Callable[..., PolicyTrainer]


@pytest.fixture
def make(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A trainer of a fresh adapter in float32, with a reward computed from an answer's tokens."""
    monkeypatch.setenv("HARNESS_BF16", "off")

    def build(
        reward: Callable[[list[int]], float], steps: int, *overrides: str, packs: bool = True, beta: float = 0.0, **more: Any
    ) -> PolicyTrainer:
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM

        recipe = load_recipe("llama-grpo", ["training.max_new_tokens=6", "training.gradient_checkpointing=false", *overrides])
        with torch.random.fork_rng():
            torch.manual_seed(0)
            base = AutoModelForCausalLM.from_pretrained(tiny_base)
            model = get_peft_model(base, LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"))
        arguments = grpo_arguments(recipe.training, SETTINGS.model_copy(update={"beta": beta}), steps, tmp_path)
        names = [name for _ in range(steps) for name in PROMPTS]

        def rewards(*, prompts: Sequence[str], completion_ids: Sequence[list[int]], **_: Any) -> list[float]:
            return [reward(list(ids)) for ids in completion_ids]

        rewards.__name__ = "length"
        tokenizer = AutoTokenizer.from_pretrained(tiny_base)
        return PolicyTrainer(
            model,
            arguments,
            tmp_path,
            names,
            PROMPTS,
            rewards,
            tokenizer,
            lambda model: 0.0,
            recipe.training,
            packs=packs,
            **more,
        )

    return build


def evenness(ids: list[int]) -> float:
    """The share of tokens with an even id."""
    return sum(token % 2 == 0 for token in ids) / len(ids)


def test_trl_is_told_where_vllm_runs_and_where_answers_end(tmp_path: Path) -> None:
    told = {
        "use_vllm": True,
        "vllm_mode": "server",
        "vllm_server_base_url": "http://10.0.0.2:8000",
        "vllm_tensor_parallel_size": 2,
        "vllm_gpu_memory_utilization": 0.5,
    }
    settings = Grpo(**SETTINGS.model_dump() | told)
    training = load_recipe("llama-grpo").training
    arguments = grpo_arguments(training, settings, 1, tmp_path, (7, 9))
    assert {key: getattr(arguments, key) for key in told} == told
    assert arguments.generation_kwargs == {"stop_token_ids": [7, 9]}
    assert grpo_arguments(training, SETTINGS, 1, tmp_path, (7, 9)).generation_kwargs is None


def test_settings_of_vllm_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="vllm_server_base_url needs use_vllm"):
        Grpo(**SETTINGS.model_dump() | {"vllm_server_base_url": "http://10.0.0.2:8000"})
    spread = SETTINGS.model_copy(update={"use_vllm": True, "vllm_tensor_parallel_size": 4})
    with pytest.raises(UsageError, match="2 processes cannot be shared among copies of vLLM that take 4 GPUs"):
        check_parts(spread, 2)
    check_parts(spread.model_copy(update={"vllm_mode": "server"}), 2)


def test_what_is_rewarded_becomes_likelier(make: Make) -> None:
    trainer = make(evenness, 12, "training.learning_rate=0.1")
    model = trainer.accelerator.unwrap_model(trainer.model)
    weights = {name: value.clone() for name, value in model.named_parameters() if value.requires_grad}
    trainer.go_on()
    rewards = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    assert len(rewards) == 12
    assert sum(rewards[-3:]) / 3 > sum(rewards[:3]) / 3 + 0.2
    assert all(entry["apart"] < 1e-3 for entry in trainer.state.log_history if "apart" in entry)
    assert any(not torch.equal(weights[name], value) for name, value in model.named_parameters() if name in weights)


def test_the_best_step_is_kept(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = make(evenness, 4, "training.learning_rate=0.1", "training.keep=best", "training.evaluations=4")
    scores = iter([0.9, 0.1, 0.5, 0.3, 0.2])
    trainer._dev_f1 = lambda model: next(scores)
    weights: dict[int, Any] = {}

    def noted(*given: Any) -> None:
        model = trainer.accelerator.unwrap_model(trainer.model)
        weights[trainer.state.global_step] = next(p.clone() for name, p in model.named_parameters() if "lora_B" in name)
        saves(*given)

    saves = trainer._save_checkpoint
    monkeypatch.setattr(trainer, "_save_checkpoint", noted)
    trainer.go_on()
    assert trainer.state.best_global_step == 2
    model = trainer.accelerator.unwrap_model(trainer.model)
    kept = next(p for name, p in model.named_parameters() if "lora_B" in name)
    assert torch.equal(kept, weights[2])
    assert not torch.equal(kept, weights[4])


def test_packs_give_the_log_probabilities_of_rows_one_by_one(make: Make) -> None:
    trainer = make(float, 1)
    prompts = torch.tensor([[0, 5, 6, 7], [0, 5, 6, 7], [5, 6, 7, 8]])
    answers = torch.tensor([[9, 10, 2], [9, 2, 0], [9, 10, 11]])
    seen = torch.tensor([[0, 1, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1, 1]])
    given = (trainer.model, torch.cat([prompts, answers], 1), seen, 3)
    results = []
    for trainer._packs in (True, False):
        with torch.no_grad():
            results.append(trainer._get_per_token_logps_and_entropies(*given, compute_entropy=True)[:2])
    known = seen[:, 4:].bool()
    for packed, plain in zip(*results, strict=True):
        assert torch.allclose(packed[known], plain[known], atol=1e-4)


def test_answers_of_the_base_set_off_an_alarm(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault known from other trainers: the adapter is trained, but the answers come from the base without it."""

    def of_the_base(model: Any, *given: Any) -> list[SampledAnswer]:
        with model.disable_adapter():
            return draw(model, *given)

    monkeypatch.setattr(grpo, "draw", of_the_base)
    trainer = make(evenness, 30, "training.learning_rate=0.1")
    with pytest.raises(HarnessError, match="do not come from the model that is trained"):
        trainer.go_on()


def adapters_of(trainer: PolicyTrainer) -> dict[str, torch.Tensor]:
    """The weights of the adapter, and of the copy of its initial state, by name."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    return {name: value.detach().clone() for name, value in model.named_parameters() if "lora_" in name}


def test_a_training_kept_near_its_start_resumes_exactly(make: Make, tmp_path: Path) -> None:
    overrides = ("training.learning_rate=0.1", "training.evaluations=2")
    whole = make(evenness, 4, *overrides, beta=0.2)
    begun = adapters_of(whole)
    whole.go_on()
    ended = adapters_of(whole)
    moved = [name for name in ended if not torch.equal(ended[name], begun[name])]
    assert moved
    assert all(".default." in name for name in moved)
    assert any(entry.get("kl", 0) > 0 for entry in whole.state.log_history)
    shutil.rmtree(tmp_path / "checkpoints/checkpoint-4")
    resumed = make(evenness, 4, *overrides, beta=0.2)
    resumed.go_on()
    again = adapters_of(resumed)
    assert [name for name in ended if not torch.equal(ended[name], again[name])] == []


# --- alarms ---


@pytest.mark.parametrize("key", ["loss", "reward", "entropy"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_a_metric_that_is_not_a_number_stops_the_training(make: Make, key: str, value: Any) -> None:
    trainer = make(evenness, 1)
    trainer.state.global_step = 3
    with pytest.raises(HarnessError, match=f"the {key} is {value} at step 3; there is no checkpoint before it; try a smaller"):
        trainer.log({"loss": 0.1, "reward": 0.3, "entropy": 0.5} | {key: value})


def test_collapsed_entropy_stops_the_training() -> None:
    """The alarm does not depend on which process logged the initial entropy."""
    history = [{"entropy": 0.5}] * 5 + [{"entropy": 0.01}] * 4
    for step in range(1, len(history) + 1):
        check_alarms(step, history[:step])
    with pytest.raises(HarnessError, match=r"step 10: the entropy of the answers fell from 0\.500 to 0\.010"):
        check_alarms(10, [*history, {"eval_f1": 0.5}, {"entropy": 0.01}])


# --- what goes together ---


def test_fsdp_is_refused_before_anything_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(SETTINGS)
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    with pytest.raises(UsageError, match="launch without FSDP"):
        refuse(SETTINGS)


def test_a_server_that_does_not_answer_is_an_error_of_one_line(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: Any, **__: Any) -> None:
        raise ConnectionError("The vLLM server\ncan't be reached")

    monkeypatch.setattr("trl.GRPOTrainer.__init__", unreachable)
    with pytest.raises(HarnessError, match=r"^grpo\.vllm_server_base_url: The vLLM server can't be reached$"):
        make(evenness, 1)
