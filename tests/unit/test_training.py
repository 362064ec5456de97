"""What training is made of: pretraining's batches, the weights of its loss, checkpoints, and scores during training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adapters.conversations import TASKS, ConversationBatches, make_pools, tokenizer_texts
from adapters.dev import dev_f1, spread
from adapters.loop import last_checkpoint
from adapters.recipe import PretrainRecipe, load_recipe
from adapters.tokenizer import train_tokenizer
from harness.corpora import load
from harness.engines.base import Completion, Sampling
from harness.errors import HarnessError
from prompts.messages import gold_answer
from prompts.rendered import Rendered
from prompts.shots import ShotPool
from prompts.spec import PromptSpec
from tests.tiny import build_tiny_adapter, build_tiny_model


@pytest.fixture(scope="module")
def batches() -> ConversationBatches:
    """Batches of the shipped sample, with answers weighing 1 and the rest 0."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HARNESS_DATA", raising=False)
        recipe = load_recipe("tiny-llama", ["data.primer_items=100", "data.prompt_weight=0", "data.tokens_per_batch=1024"])
        assert isinstance(recipe, PretrainRecipe)
        pools = make_pools(recipe.data, "train", 0)
    return ConversationBatches(pools, recipe.data, train_tokenizer(tokenizer_texts(pools, 50, 0), 600), 20, 0)


def test_a_batch_depends_on_the_seed_and_its_index_alone(batches: ConversationBatches) -> None:
    def ids(made: ConversationBatches, index: int) -> list[list[int]]:
        rows: list[list[int]] = made[index]["input_ids"].tolist()
        return rows

    later_first = [ids(batches, 3), ids(batches, 2)]
    again = ConversationBatches(batches.pools, batches.data, batches.tokenizer, 99, 0)
    assert [ids(again, 3), ids(again, 2)] == later_first
    assert ids(ConversationBatches(batches.pools, batches.data, batches.tokenizer, 20, 1), 3) != later_first[0]


def test_rows_fit_begin_with_one_bos_and_end_with_an_answer(batches: ConversationBatches) -> None:
    tokenizer, lengths = batches.tokenizer, batches.data.lengths
    for index in range(len(lengths)):
        batch = batches[index]
        assert batch["input_ids"].shape[1] <= lengths[index]
        for row in batch["input_ids"].tolist():
            text = tokenizer.decode([token for token in row if token != tokenizer.pad_token_id])
            assert text.count("<s>") == 1
            assert text.startswith("<s><|system|>")
            assert text.endswith("<|end|>")
            assert 1 <= text.count("<|assistant|>") <= batches.data.max_examples


def test_the_loss_is_on_the_answers_and_their_ends(batches: ConversationBatches) -> None:
    batch = batches[1]
    for row, weights in zip(batch["input_ids"].tolist(), batch["weights"].tolist(), strict=True):
        text = batches.tokenizer.decode([token for token in row if token != batches.tokenizer.pad_token_id])
        answers = [part.partition("<|end|>")[0] + "<|end|>" for part in text.split("<|assistant|>")[1:]]
        weighed = [token for token, weight in zip(row, weights, strict=True) if weight]
        assert batches.tokenizer.decode(weighed) == "".join(answers)


def test_no_item_of_dev_or_test_is_in_the_pools(batches: ConversationBatches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    for task in TASKS:
        seen = {item.id for item in (*batches.pools[task].train, *batches.pools[task].primer)}
        assert not seen & {item.id for split in ("dev", "test") for item in load(task, split)}


def test_a_model_that_is_too_big_to_ship_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from adapters import pretrain

    base = build_tiny_model(tmp_path / "base")
    model, tokenizer = AutoModelForCausalLM.from_pretrained(base), AutoTokenizer.from_pretrained(base)
    pretrain.save(model, tokenizer, tmp_path / "fits")
    monkeypatch.setattr(pretrain, "MAX_BYTES", 1000)
    with pytest.raises(HarnessError, match="more than 1,000"):
        pretrain.save(model, tokenizer, tmp_path / "big")
    assert (tmp_path / "fits/config.json").is_file()
    assert not (tmp_path / "big").exists()


def test_half_a_checkpoint_is_not_gone_on_from(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path) is None
    for step, complete in ((9, True), (10, True), (11, False)):
        (tmp_path / f"checkpoint-{step}").mkdir()
        if complete:
            (tmp_path / f"checkpoint-{step}/trainer_state.json").touch()
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"


def test_a_fresh_adapter_has_no_effect_and_a_trained_one_has(tmp_path: Path) -> None:
    from peft import LoraConfig, PeftModel, get_peft_model
    from transformers import AutoModelForCausalLM

    from adapters.finetune import has_effect

    base = build_tiny_model(tmp_path / "base")
    adapter = build_tiny_adapter(base, tmp_path / "adapter")
    assert has_effect(PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), adapter))
    fresh = LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM")
    assert not has_effect(get_peft_model(AutoModelForCausalLM.from_pretrained(base), fresh))


@pytest.mark.parametrize(("total", "count", "chosen"), [(10, 3, [0, 3, 6]), (3, 10, [0, 1, 2]), (4, 4, [0, 1, 2, 3]), (0, 3, [])])
def test_dev_items_are_evenly_spread(total: int, count: int, chosen: list[int]) -> None:
    everything: list[Any] = list(range(total))
    assert spread(everything, count) == chosen


@pytest.mark.parametrize(
    "spec", [PromptSpec.make("hexagons"), PromptSpec.make("minecraft", frame="builder")], ids=lambda s: s.name
)
@pytest.mark.parametrize(("perfect", "f1"), [(True, 1.0), (False, 0.0)])
def test_dev_f1_of_perfect_and_of_garbage_answers(
    spec: PromptSpec, perfect: bool, f1: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    items = [item for item in load(spec.task, "dev") if item.actions]
    answers = {item.id: gold_answer(item, spec) if perfect else "no idea" for item in items}

    class Scripted:
        context_length = 100_000

        def __init__(self, model: Any, tokenizer: Any, context_length: int | None = None) -> None: ...

        def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
            return [Completion(answers[prompt.id]) for prompt in prompts]

    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(build_tiny_model(tmp_path / "base"))
    monkeypatch.setattr("adapters.dev.TransformersEngine", Scripted)
    assert dev_f1(None, tokenizer, spec, items, ShotPool(load(spec.task, "train"), 0), shots=1) == f1
