"""The logits processor of feasible answers, with a stand-in for vLLM: whatever it is given, it ends its own request only."""

import importlib
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from harness.worlds.minecraft import Structure
from serialization.formats.feasible import Feasible

STATE = Feasible("lines", Structure()).to_json()
END = 1
SIZE = 400
"""Of the tiny model's vocabulary."""


class StandIn:
    """The part of vLLM's AdapterLogitsProcessor that reads nothing of the batch."""

    def __init__(self, *given: Any) -> None:
        pass


@pytest.fixture
def feasible(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module, imported without vLLM."""
    for name, content in (
        ("vllm", {}), ("vllm.logger", {"init_logger": logging.getLogger}), ("vllm.v1", {}), ("vllm.v1.sample", {}),
        ("vllm.v1.sample.logits_processor", {"AdapterLogitsProcessor": StandIn}),
    ):  # fmt: skip
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "harness.engines.vllm.feasible", raising=False)
    yield importlib.import_module("harness.engines.vllm.feasible")
    sys.modules.pop("harness.engines.vllm.feasible")


@pytest.fixture
def processor(feasible: Any, tiny_base: Path) -> Any:
    config = SimpleNamespace(model_config=SimpleNamespace(tokenizer=str(tiny_base)))
    return feasible.FeasibleTokens(config, torch.device("cpu"), False)


def request(processor: Any, state: Any, **changes: Any) -> Any:
    return processor.new_req_logits_processor(
        SimpleNamespace(extra_args={"feasible": state}, **{"all_stop_token_ids": {END}, **changes})
    )


def possible(one: Any, tokens: Sequence[int] = (), scores: torch.Tensor | None = None) -> set[int]:
    """The tokens that stay possible after some tokens; all have the same score if none is given."""
    logits = one([*tokens], torch.zeros(SIZE) if scores is None else scores)
    return set(torch.nonzero(logits > -torch.inf).flatten().tolist())


def test_only_tokens_of_feasible_answers_stay_possible(processor: Any) -> None:
    texts = processor._vocabulary.texts
    allowed = possible(request(processor, STATE))
    assert allowed
    assert {texts[token][0] for token in allowed} <= {"p", "n"}  # place, pick, none


@pytest.mark.parametrize(
    "state",
    ["", 5, STATE.replace('"pose": null', '"pose": [0, 1, 0, 1e400, 0]'), STATE[:-1] + ', "opening": "a"}'],
    ids=["empty", "a number", "infinite", "text before the answer"],
)
def test_a_state_that_cannot_be_read_is_refused_and_ends_its_request(
    state: Any, processor: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ValueError, match="not a state"):
        processor.validate_params(SimpleNamespace(extra_args={"feasible": state}))
    one = request(processor, state)
    for _ in range(2):
        assert possible(one) == {END}
    assert len(caplog.records) == 1


def test_a_failure_in_the_middle_ends_its_request(
    processor: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> Any:
        raise RecursionError("too deep")

    one = request(processor, STATE)
    assert len(possible(one)) > 1
    monkeypatch.setattr(Feasible, "continuations", fails)
    assert possible(one, [5]) == {END}
    assert "too deep" in caplog.text


def test_some_token_is_always_possible(processor: Any) -> None:
    """Even if `min_tokens` or `allowed_token_ids` forbid all, and if a model has no end or fewer logits than tokens."""
    nothing = torch.full((SIZE,), -torch.inf)
    assert not request(processor, STATE)([], nothing).softmax(0).isnan().any()
    for ends, left in ((set(), {0, 1, 2, 3}), ({2, 10**6}, {2})):
        assert possible(request(processor, "{}", all_stop_token_ids=ends), scores=torch.zeros(4)) == left
