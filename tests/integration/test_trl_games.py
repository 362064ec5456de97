"""A step of TRL's GRPOTrainer over live games, with a tiny random model whose answers call tools."""

from pathlib import Path
from typing import Any

import pytest

from harness.plugins.trl import MinecraftGame, games
from tests.helpers.tiny import build_tiny_model

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.filterwarnings("ignore")  # TRL warns of the version of a vLLM that it does not use here.
def test_a_step_over_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer
    from trl.chat_template_utils import qwen3_chat_template

    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    folder = build_tiny_model(tmp_path / "tiny")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["<|im_start|>", "<|im_end|>"], special_tokens=True)
    tokenizer.chat_template, tokenizer.eos_token, tokenizer.padding_side = qwen3_chat_template, "<|im_end|>", "left"
    config: dict[str, Any] = {"max_steps": 1, "per_device_train_batch_size": 2, "num_generations": 2}
    arguments = GRPOConfig(
        tmp_path / "out", report_to=[], use_cpu=True, save_strategy="no", logging_steps=1, max_completion_length=8, **config
    )
    model = AutoModelForCausalLM.from_pretrained(folder)
    model.resize_token_embeddings(len(tokenizer))
    trainer = GRPOTrainer(
        model, args=arguments, processing_class=tokenizer, environment_factory=MinecraftGame, train_dataset=games("minecraft", 2)
    )
    trainer.train()
    assert {tool.__name__ for tool in trainer.tools} == {"place", "remove", "look", "done"}
    assert trainer.state.log_history[0]["reward"] == 0.0
