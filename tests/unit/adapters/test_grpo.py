"""Learning from the scorer: rewards, order, alarms, and a model that learns rewarded answers."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from adapters.finetune import set_up
from adapters.grpo import PolicyTrainer, Reward, as_tokenized, check_entropy, grpo_arguments, order, refuse
from adapters.recipe import load_recipe
from harness.cli import main
from harness.corpora import load
from harness.errors import HarnessError, UsageError
from prompts.messages import gold_answer
from prompts.render import Renderer
from prompts.rendered import Rendered
from prompts.spec import PromptSpec
from tests.helpers.chat_templates import build_thinking_model, family_tokenizer
from tests.helpers.finetuning import quick_words, set_words

_SIZES = ["grpo.generation_batch_size=32", "grpo.per_device_train_batch_size=16", "grpo.unread=0.25"]
SETTINGS = load_recipe("llama-grpo", _SIZES).grpo or pytest.fail("the recipe has no part grpo")


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_the_reward_is_the_score(task: str) -> None:
    spec = PromptSpec.make(task)
    items = {item.id: item for item in load(task, "train")}
    reward = Reward(spec, items, items, SETTINGS)
    answers = {name: gold_answer(item, spec) for name, item in items.items()}
    names = [name for name, item in items.items() if item.before != item.after]
    assert reward([answers[name] for name in names], names) == [1.5] * len(names)
    assert reward([""] * len(names), names) == [0.0] * len(names)
    assert reward([f"{answers[name]}\n%&/ 17" for name in names], names) == [1.25] * len(names)
    assert all(value < 1 for value in reward(["I cannot do this.", "red red red"], names[:1] * 2))


def test_any_right_answer_to_an_everyday_request_earns_the_reward() -> None:
    item = next(item for item in load("everyday-hexagons", "train") if item.id.endswith("/hexagon-outline/1"))
    reward = Reward(PromptSpec.make("hexagons", None, "bare-program"), {item.id: item}, {item.id: item}, SETTINGS)
    assert reward(["red ring(9:5,2)", "red ring(5:5,2)", "red ring(9:5,3)"], [item.id] * 3) == [1.5, 1.5, 0.0]


@pytest.mark.parametrize("name", ["qwen 3", "gpt-oss"])
def test_a_thought_earns_nothing_and_one_that_does_not_end_costs(tmp_path: Path, name: str) -> None:
    spec = PromptSpec.make("hexagons", think="on")
    items = {item.id: item for item in load("hexagons", "train") if item.actions}
    renderer = Renderer(spec, family_tokenizer(tmp_path / "tiny", name), 100_000, 10, 10)
    reward = Reward(spec, items, items, SETTINGS, renderer)
    first, second = [*items.values()][:2]
    right, end = gold_answer(first, spec), renderer.tokenizer.eos_token
    texts = [
        renderer.thought_text(gold_answer(second, spec)) + right + end,
        renderer.thought_text(right) + "none" + end,
        right,
    ]
    ids = [renderer.token_ids(text) for text in texts]
    assert reward(texts, [first.id] * 3, completion_ids=ids) == [1.5, 0.0, -0.25]


@pytest.mark.usefixtures("empty_folder")
def test_thoughts_are_trained_on_and_only_answers_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The random model is biased to end its thoughts, and its answers right after them: nothing is better than nonsense."""
    base = build_thinking_model(tmp_path / "base", context_length=4096)
    tokenizer, loss = AutoTokenizer.from_pretrained(base), PolicyTrainer.compute_loss
    first, *more = tokenizer("</think></s>", add_special_tokens=False).input_ids
    bias = [[[first], 4.0], *([[first, *more[: n + 1]], 30.0] for n in range(len(more)))]
    trained: list[tuple[str, float]] = []

    def noted(trainer: PolicyTrainer, model: Any, inputs: Any, **named: Any) -> Any:
        rows = zip(inputs["completion_ids"], inputs["completion_mask"].bool(), inputs["advantages"].tolist(), strict=True)
        trained.extend((tokenizer.decode(ids[mask]), advantage) for ids, mask, advantage in rows)
        return loss(trainer, model, inputs, **named)

    monkeypatch.setattr(PolicyTrainer, "compute_loss", noted)
    biased = f"trainer.generation_kwargs={json.dumps({'sequence_bias': bias})}"
    settings = set_words("grpo.generation_batch_size=8", "training.thought_tokens=12", biased)
    assert main(quick_words(base, "llama-grpo", "--think", "on", *settings)) == 0
    better, worse = ([text for text, advantage in trained if advantage * sign > 0] for sign in (1, -1))
    assert all("</think>" in text for text in better)
    assert any(text.endswith("</think></s>") and text.index("</think>") > 1 for text in better)
    assert not any(text.endswith("</think></s>") for text in worse)


def test_every_item_comes_once_an_epoch() -> None:
    names = [str(n) for n in range(9)]
    drawn = order(names, 20, seed=0)
    assert sorted(drawn[:9]) == sorted(drawn[9:18]) == names
    assert drawn[:9] != drawn[9:18] != order(names, 20, seed=1)[9:18]


def test_a_prompt_is_read_as_its_own_tokens(tiny_base: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_base)
    text = f"{tokenizer.bos_token}<|user|>red"
    ids = tuple(tokenizer(text, add_special_tokens=False).input_ids)
    assert tuple(tokenizer(as_tokenized(tokenizer, Rendered("a", (), text, ids))).input_ids) == ids
    with pytest.raises(HarnessError, match="a: TRL would read its prompt as other tokens"):
        as_tokenized(tokenizer, Rendered("a", (), text, ids[1:]))


Make = Callable[..., PolicyTrainer]


@pytest.fixture
def make(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A trainer of a fresh adapter in float32, which is rewarded for tokens with even ids."""
    monkeypatch.setenv("HARNESS_BF16", "off")

    def build(steps: int, *overrides: str, beta: float = 0.0) -> PolicyTrainer:
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM

        recipe = load_recipe("llama-grpo", ["training.max_new_tokens=6", "training.gradient_checkpointing=false", *overrides])
        with torch.random.fork_rng():
            torch.manual_seed(0)
            base = AutoModelForCausalLM.from_pretrained(tiny_base)
            model = get_peft_model(base, LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"))
        arguments = grpo_arguments(recipe.training, SETTINGS.model_copy(update={"beta": beta}), steps, tmp_path)
        rows = [{"prompt": text, "id": text} for _ in range(steps) for text in ("red", "blue 1", "red 2", "x")]

        def evenness(completion_ids: Sequence[list[int]], **_: Any) -> list[float]:
            return [sum(token % 2 == 0 for token in ids) / len(ids) for ids in completion_ids]

        tokenizer = AutoTokenizer.from_pretrained(tiny_base)
        return PolicyTrainer(model, arguments, tmp_path, rows, evenness, tokenizer, lambda model: 0.0, recipe.training)

    return build


def test_what_is_rewarded_becomes_likelier(make: Make) -> None:
    trainer = make(12, "training.learning_rate=0.03")
    trainer.go_on()
    rewards = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    assert len(rewards) == 12
    assert sum(rewards[-3:]) / 3 > sum(rewards[:3]) / 3 + 0.2


def adapters_of(trainer: PolicyTrainer) -> dict[str, torch.Tensor]:
    """The weights of the adapter, and of the copy of its initial state, by name."""
    return {name: value.detach().clone() for name, value in trainer.model.named_parameters() if "lora_" in name}


def test_the_best_step_is_kept(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = make(4, "training.learning_rate=0.1", "training.keep=best", "training.evaluations=4")
    scores = iter([0.9, 0.1, 0.5, 0.3, 0.2])
    trainer._dev_f1 = lambda model: next(scores)
    weights: dict[int, Any] = {}
    writes = trainer.write_weights

    def noted(folder: str) -> None:
        weights[trainer.state.global_step] = adapters_of(trainer)
        writes(folder)

    monkeypatch.setattr(trainer, "write_weights", noted)
    trainer.go_on()
    assert trainer.state.best_global_step == 2
    kept = adapters_of(trainer)
    assert all(torch.equal(value, weights[2][name]) for name, value in kept.items())
    assert not all(torch.equal(value, weights[4][name]) for name, value in kept.items())


def test_a_training_whose_answers_are_all_alike_is_stopped() -> None:
    history: list[Any] = [{"entropy": 0.5}] * 5 + [{"entropy": 0.01}] * 4
    for step in range(1, len(history) + 1):
        check_entropy(step, history[:step])
    with pytest.raises(HarnessError, match=r"the answers fell from 0\.500 to 0\.010"):
        check_entropy(10, [*history, {"eval_f1": 0.5}, {"entropy": 0.01}])


def test_settings_that_do_not_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = SETTINGS.model_copy(update={"per_device_train_batch_size": 12})
    with pytest.raises(UsageError, match=r"grpo: generation_batch_size \(32\) must be divisible"):
        grpo_arguments(load_recipe("llama-grpo").training, odd, 1, tmp_path)
    for setting in ("training.torch_compile=true", "training.curriculum={difficulty: L_A, buckets: 3}"):
        with pytest.raises(UsageError, match="leave out training"):
            load_recipe("llama-grpo", [setting])
    refuse(SETTINGS)
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    with pytest.raises(UsageError, match="launch without FSDP"):
        set_up(load_recipe("llama-grpo"))
