"""`harness check`: what passes, what fails with a reason, and that `finetune` refuses what fails."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from click.testing import CliRunner

from adapters import base_check
from adapters.base_check import CHECKS, CheckedModel, CheckOutcome, miniature, require, run_checks
from adapters.labels import Packing, collate
from harness.cli import cli
from harness.engines.models.bases import load_config, load_tokenizer
from harness.errors import EngineError, HarnessError
from tests.helpers.finetuning import job_of


@pytest.fixture
def base(tiny_base: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_base, tmp_path / "base"))


def outcomes(base: Path, *, full: bool = False) -> dict[str, CheckOutcome]:
    return {one.name: one for one in run_checks(str(base), load_tokenizer(str(base)), load_config(str(base)), full=full)}


@pytest.mark.parametrize("full", [False, True])
def test_a_sound_base_passes(base: Path, full: bool) -> None:
    found = outcomes(base, full=full)
    assert {name: one.passed for name, one in found.items()} == dict.fromkeys(CHECKS, True), found
    assert "in every layer (full attention); logits equal" in found["packs"].detail
    assert "14 modules (down_proj, gate_proj, k_proj, o_proj, q_proj, up_proj, v_proj)" in found["LoRA"].detail


def template(base: Path, change: Any) -> None:
    path = base / "chat_template.jinja"
    path.write_text(change(path.read_text()))


def test_a_template_that_drops_the_system_message_or_changes_answers_is_reported(base: Path) -> None:
    template(base, lambda text: text.replace("message['content'] }}", "message['content'] | upper }}"))
    found = outcomes(base)
    assert not any(found[name].passed for name in ("prompts", "template", "end"))
    assert "chat template leaves out or changes the text of the system message" in found["prompts"].detail


def test_packs_that_are_not_exact_are_reported(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(pack: Any, packing: Packing, pad: int) -> dict[str, Any]:
        inputs = collate(pack, packing, pad=pad)
        return inputs | {"ends": torch.full_like(inputs["ends"], len(inputs["ends"]))}

    monkeypatch.setattr(base_check, "collate", wrong)
    packs = outcomes(base)["packs"]
    assert packs.passed is False
    assert packs.detail.startswith("logits differ by up to")


@pytest.mark.parametrize(
    ("family", "layers"),
    [("Llama", 2), ("Mistral", 2), ("Granite", 2), ("Gemma3Text", 3), ("Gemma3", 3), ("GptOss", 2), ("Qwen3Next", 3)],
)
def test_a_miniature_has_a_layer_of_each_kind_and_few_weights(family: str, layers: int) -> None:
    config = getattr(transformers, f"{family}Config")()
    small = miniature(config)
    text, whole = small.get_text_config(), config.get_text_config()
    assert text.num_hidden_layers == layers
    assert set(getattr(text, "layer_types", None) or ()) == set(getattr(whole, "layer_types", None) or ())
    assert getattr(text, "head_dim", None) == getattr(whole, "head_dim", None)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(small)
    assert sum(p.numel() for p in model.parameters()) < 1e8


def test_a_base_without_a_miniature_is_skipped_and_one_that_is_no_language_model_is_refused(base: Path) -> None:
    config = json.loads((base / "config.json").read_text())
    (base / "config.json").write_text(json.dumps({**config, "hidden_act": "none"}))
    packs = outcomes(base)["packs"]
    assert (packs.passed, "add --full" in packs.detail) == (None, True)
    (base / "config.json").write_text(json.dumps({"model_type": "clip"}))
    with pytest.raises(EngineError, match="no causal language model of the type clip"):
        CheckedModel(str(base), None, load_config(str(base)), full=False)


@pytest.mark.usefixtures("empty_folder")
def test_training_checks_its_base_once_and_refuses_one_that_fails(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    for _ in range(2):
        require(job_of(monkeypatch, "llama-lora", "--base", str(base)), said.append)
    assert said == ["checking once, on a miniature, that base is trained as it is asked"]
    template(base, lambda text: text.replace("{{ bos_token }}", ""))
    with pytest.raises(HarnessError, match=r"base cannot be trained correctly: BOS: the tokenizer puts '<s>'"):
        require(job_of(monkeypatch, "llama-lora", "--base", str(base)), said.append)
    result = CliRunner().invoke(cli, ["finetune", "llama-lora", "--base", str(base), "--dry-run"])
    assert result.exit_code == 1
    result = CliRunner().invoke(cli, ["check", str(base)])
    assert result.exit_code == 1
    assert "FAILED" in result.output
