"""`tools/dev_loss.py`: losses of adapters on dev."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from adapters.registry import load_adapter
from adapters.rows import make_rows
from harness.corpora import load
from harness.engines.models.bases import load_tokenizer
from prompts.render import Renderer
from prompts.shots import ShotPool
from prompts.spec import PromptSpec
from tests.helpers.tiny import save_tiny_adapter
from tools import dev_loss

SPEC = PromptSpec.make("hexagons", "conversation", "bare-program")


@pytest.fixture(autouse=True)
def _on_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)


def test_losses_are_those_of_the_rows_one_by_one(tiny_base: Path, tmp_path: Path, rounding: float) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    adapter = load_adapter(save_tiny_adapter(tiny_base, tmp_path / "one", SPEC), str(tiny_base))
    items = load("hexagons", "dev")[:6]
    found = dev_loss.measured(adapter, items)
    assert list(found) == list(dict.fromkeys(item.cluster for item in items))
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(tiny_base), adapter.path).eval()
    renderer = Renderer(SPEC, load_tokenizer(str(tiny_base)), dev_loss.LONGEST, 0)
    total, tokens = 0.0, 0
    for row in make_rows(items, renderer, ShotPool([], 0), 0, dev_loss.LONGEST):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([row.token_ids])).logits[0, len(row.prompt_ids) - 1 : -1]
        total += float(torch.nn.functional.cross_entropy(logits, torch.tensor(row.completion_ids), reduction="sum"))
        tokens += len(row.completion_ids)
    losses, counts, answers = map(sum, zip(*found.values(), strict=True))
    assert (counts, answers) == (tokens, len(items))
    assert losses == pytest.approx(total, rel=rounding)


def test_the_table_compares_with_the_first_one(tiny_base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "same"):
        save_tiny_adapter(tiny_base, tmp_path / name, SPEC)
    words = ["one", "same", "--base", str(tiny_base)]
    dev_loss.main(words)
    first = capsys.readouterr().out
    assert "| `same` |" in first
    assert first.rstrip().endswith("| +0.000 [+0.000, +0.000], p = 1 |")
    dev_loss.main([*words, "--per", "answer"])
    answers, tokens, loss = first.splitlines()[2].split("|")[2:5]
    mean = float(loss.split()[0]) * int(tokens.replace(",", "")) / int(answers)
    assert float(capsys.readouterr().out.splitlines()[2].split("|")[4].split()[0]) == pytest.approx(mean, rel=0.01)


def test_items_after_a_runs_own_answers_keep_their_right_answers(tmp_path: Path) -> None:
    gold = dev_loss.dev_items("hexagons", None, 1)
    run = tmp_path / "predictions.jsonl"
    run.write_text("".join(json.dumps({"id": item.id, "actions": []}) + "\n" for item in gold))
    met = dev_loss.dev_items("hexagons", str(run), 1)
    assert [item.actions for item in met] == [item.actions for item in gold]
    assert any(one.before != other.before for one, other in zip(met, gold, strict=True))
    run.write_text("".join(run.read_text().splitlines(keepends=True)[:-1]))
    whole = dev_loss.dev_items("hexagons", str(run), 1)
    assert whole == [item for item in met if item.cluster != gold[-1].cluster]
    assert len({item.cluster for item in dev_loss.dev_items("hexagons", None, 2)}) < len({item.cluster for item in gold})
