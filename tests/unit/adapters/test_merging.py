"""Adapters merged into their bases: the same answers, one copy of each, and a cache that survives killed writers."""

import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from adapters import merging
from adapters.merging import merged_model, worth_merging
from adapters.registry import Adapter
from harness.errors import AdapterError
from harness.util import files
from prompts.spec import PromptSpec
from tests.helpers.tiny import build_tiny_adapter, build_tiny_model

SPEC = PromptSpec.make("hexagons")


@pytest.fixture(scope="module")
def adapters(tmp_path_factory: pytest.TempPathFactory) -> list[Adapter]:
    """Three adapters of one base."""
    home = tmp_path_factory.mktemp("adapters")
    base = build_tiny_model(home / "tiny")
    folders = [build_tiny_adapter(base, home / f"adapter-{seed}", seed=seed) for seed in range(3)]
    return [Adapter(path, 4, SPEC, str(base)) for path in folders]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


def use(adapter: Adapter) -> Path:
    return merged_model(adapter, lambda line: None)


def logits(model: Any) -> Any:
    import torch

    with torch.inference_mode():
        return model.eval()(torch.tensor([[1, 7, 20, 33, 50]])).logits


def test_layers_that_share_their_weights_are_merged_separately(tmp_path: Path) -> None:
    """Of two tied layers, an adapter may change one."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    tied, untied = (build_tiny_model(tmp_path / f"tied-{tie}", tie_word_embeddings=tie) for tie in (True, False))
    one, other = {"target_modules": ["lm_head", "q_proj"]}, {"target_modules": ["embed_tokens"]}
    whole = {"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]}
    tokens = {"target_modules": ["q_proj"], "trainable_token_indices": [7, 20]}
    cases = [(untied, one), *((tied, changes) for changes in (one, other, one | whole, tokens))]
    for number, (base, changes) in enumerate(cases):
        with warnings.catch_warnings(action="ignore"):
            path = build_tiny_adapter(base, tmp_path / f"adapter-{number}", **changes)
            there = logits(PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), str(path)))
        merged = logits(AutoModelForCausalLM.from_pretrained(use(Adapter(path, 4, SPEC, str(base)))))
        assert torch.allclose(merged, there, atol=1e-3), (number, float((merged - there).abs().max()))


def test_a_base_with_generation_settings_that_cannot_be_written_is_merged(tmp_path: Path) -> None:
    """As Llama 2's chat models have them: a temperature for greedy decoding."""
    base = build_tiny_model(tmp_path / "tiny")
    said = json.loads((base / "generation_config.json").read_text())
    (base / "generation_config.json").write_text(json.dumps(said | {"temperature": 0.9, "top_p": 0.6}))
    path = use(Adapter(build_tiny_adapter(base, tmp_path / "adapter"), 4, SPEC, str(base)))
    assert json.loads((path / "generation_config.json").read_text())["eos_token_id"] == said["eos_token_id"]


def test_the_least_recently_used_goes_but_not_one_of_this_hour(adapters: list[Adapter], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST", 1)
    paths = [use(adapter) for adapter in adapters]
    assert all(path.is_dir() for path in paths)
    for path, age in zip(paths, (4000, 3000, 0), strict=True):
        os.utime(path, (time.time() - age,) * 2)
    use(adapters[2])
    assert [path.is_dir() for path in paths] == [False, True, True]
    assert use(adapters[0]).is_dir()


def test_what_cannot_be_merged_has_distinct_errors(
    adapters: list[Adapter], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert worth_merging(adapters[0])
    hub = Adapter(adapters[0].path, 4, SPEC, "someone/llama")
    (tmp_path / "adapter_config.json").write_text(json.dumps({"r": 4, "target_modules": ["no_proj"]}))
    (tmp_path / "adapter_model.safetensors").touch()
    unfit = Adapter(tmp_path, 4, SPEC, adapters[0].base)
    assert not worth_merging(hub)
    for adapter, why in ((hub, "not a local folder"), (unfit, "peft cannot load")):
        with pytest.raises(AdapterError, match=rf"{why}.*--no-merge"):
            use(adapter)
    monkeypatch.setattr(merging, "LARGEST", 1000)
    assert not worth_merging(adapters[0])
