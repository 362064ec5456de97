"""The default base answers; each shipped adapter loads on it, fits the prompts of today, and scores what it once scored."""

from __future__ import annotations

import json

import pytest

from adapters.registry import SHIPPED, load_adapter
from harness.engines.models.bases import load_tokenizer, resolve_base
from tests.helpers import Command

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

NAMES = sorted(path.name for path in SHIPPED.glob("*") if path.is_dir())
ITEMS = 24
F1 = {"hexagons": 0.758, "iglu": 0.651, "minecraft": 0.201}
"""The scores on the first `ITEMS` dev items: action F1, or micro F1 of the kinds of net actions."""


@pytest.fixture(scope="module", autouse=True)
def _base() -> None:
    """The real base, converted once for all tests."""
    resolve_base(None)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_small_and_fits_the_default_base_and_todays_prompts(name: str) -> None:
    adapter = load_adapter(name, None)
    assert adapter.base == resolve_base(None)
    assert sum(path.stat().st_size for path in adapter.path.iterdir()) < 12_500_000
    card = (adapter.path / "README.md").read_text()
    assert all(words in card for words in ("## How it was made", "## Scores", "[", "## Licenses", "Apache-2.0"))


def test_the_base_is_complete_and_answers() -> None:
    import torch
    from transformers import AutoModelForCausalLM

    folder = resolve_base(None)
    tokenizer = load_tokenizer(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert (model.dtype, len(tokenizer), model.config.max_position_embeddings) == (torch.bfloat16, 49152, 8192)
    question = [{"role": "user", "content": "What is the capital of France?"}]
    ids = tokenizer.apply_chat_template(question, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    answer = model.generate(**ids, max_new_tokens=12, do_sample=False)[0, ids["input_ids"].shape[1] :]
    assert "Paris" in tokenizer.decode(answer)


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
def test_it_scores_what_it_scored(name: str, command: Command, empty_folder: None) -> None:
    """Three answers of the slice may differ, because another machine may compute in float32 or in bfloat16."""
    task = load_adapter(name, None).spec.task
    code, printed, error = command("prompt", "--adapter", name, "--limit", ITEMS, "--task", task, "--json")
    assert code == 0, error
    scores = json.loads(printed.splitlines()[-1])
    found = scores["action"]["f1"] if scores["task"] == "hexagons" else scores["micro"]["type"]["f1"]
    assert found == pytest.approx(F1[name], abs=0.1)
