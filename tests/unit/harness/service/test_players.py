"""An adapter in this process is asked as it was trained: with its examples, on weights that are loaded likewise."""

from pathlib import Path
from typing import Any

import pytest

from adapters import registry
from harness.corpora import load
from harness.engines import transformers
from harness.errors import HarnessError, UsageError
from harness.runs.answering import Answer
from harness.service.players import LocalPlayer, checked
from prompts.spec import PromptSpec
from tests.helpers.tiny import save_tiny_adapter

RECIPE = {"quantize": "nf4", "double_quantization": False, "prompt": {"select": "bm25"}, "training": {"shots": 2, "seed": 0}}


def test_the_page_asks_as_it_was_trained(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []

    class Engine(transformers.TransformersEngine):
        """Takes note of how the weights should be loaded, which needs a GPU, and loads them as they are."""

        def __init__(self, base: str, **how: Any) -> None:
            calls.append(how)
            super().__init__(base, adapter=how["adapter"])

    monkeypatch.setattr(registry, "missing_for_quantization", lambda: None)
    monkeypatch.setattr(registry, "quantized_weights", lambda kind, double: (kind, double))
    monkeypatch.setattr(transformers, "TransformersEngine", Engine)
    spec = PromptSpec.make("hexagons", "no-history")
    made = save_tiny_adapter(tiny_base, tmp_path / "made", spec, recipe=RECIPE, base=str(tiny_base))
    predictor = LocalPlayer("made", made, ("hexagons",))._load("hexagons")
    assert calls == [{"adapter": made, "quantize": ("nf4", False)}]
    rendered = predictor.plan.render(load("hexagons", "dev")[0])
    assert sum(message["role"] == "user" for message in rendered.messages) == 3 - rendered.dropped_shots


def test_a_request_that_makes_too_long_a_prompt_is_the_clients_fault() -> None:
    with pytest.raises(UsageError, match="too long"):
        checked(Answer((), error="too long"))
    with pytest.raises(HarnessError, match="no answer") as raised:
        checked(Answer((), error="no answer", prompt="Paint"))
    assert not isinstance(raised.value, UsageError)
    assert checked(Answer(())) == Answer(())
