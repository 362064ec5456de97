"""An adapter in this process is asked as it was trained: with its examples, and on 4-bit weights if they can be loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from adapters import registry
from harness.corpora import load
from harness.engines import shared
from harness.prompting import adapter as asking
from harness.prompting.prompted import Prompted
from harness.service.players import LocalPlayer
from prompts.spec import PromptSpec
from tests.helpers.tiny import save_tiny_adapter

RECIPE = {"quantize": "nf4", "double_quantization": False, "prompt": {"select": "bm25"}, "training": {"shots": 2, "seed": 0}}


def test_the_page_asks_as_it_was_trained(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine pretends to have bitsandbytes and a GPU."""
    calls: list[dict[str, Any]] = []
    plain = transformers.AutoModelForCausalLM.from_pretrained

    def load_base(name: str, *, quantization_config: Any = None, device_map: Any = None, **how: Any) -> Any:
        calls.append({"quantization_config": quantization_config, "device_map": device_map})
        return plain(name, **how)

    for module in (registry, asking, shared):
        monkeypatch.setattr(module, "missing_for_quantization", lambda: None)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: True)
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", load_base)
    spec = PromptSpec.make("hexagons", "no-history")
    made = save_tiny_adapter(tiny_base, tmp_path / "made", spec, recipe=RECIPE, base=str(tiny_base))
    predictor = LocalPlayer("made", made, "hexagons")._load()
    (how,) = calls
    config = how["quantization_config"]
    kind = config.load_in_4bit, config.bnb_4bit_quant_type, config.bnb_4bit_use_double_quant, config.bnb_4bit_compute_dtype
    assert (kind, how["device_map"]) == ((True, "nf4", False, torch.bfloat16), {"": 0})
    assert isinstance(predictor, Prompted)
    rendered = predictor.plan.render(load("hexagons", "dev")[0])
    assert sum(message["role"] == "user" for message in rendered.messages) == 3 - rendered.dropped_shots
