"""`harness finetune` on a tiny random Llama and the shipped sample: curve, reload in plain peft, kill and resume, refusals."""

import copy
import json
from pathlib import Path

import pytest

from adapters.registry import load_adapter
from harness.engines.models.weights import weights_fingerprint
from tests.helpers.finetuning import train

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

QUICK = ("training.evaluations=2", "training.dev_f1_items=2", "training.dev_loss_items=4", "training.max_new_tokens=8")
SMALL = (*QUICK, "training.tokens=2048", "training.accumulation=1", "training.learning_rate=0.05", "lora.r=8")


@pytest.fixture(scope="module")
def trained(base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a run of six steps, and the output of the command."""
    folder = tmp_path_factory.mktemp("work")
    settings = (word for override in SMALL for word in ("--set", override))
    words = ("--base", str(base), *settings, "--task", "minecraft", "--max-steps", "6", "--name", "six")
    return folder / "runs/six", train(folder, (), "llama-lora", *words)


def test_it_reports_its_progress_and_the_adapter_says_what_it_is_and_loads(trained: tuple[Path, str], base: Path) -> None:
    run, printed = trained
    assert printed.startswith("llama-lora on tiny: minecraft/context-rich/lines/world, ")
    assert [word for word in ("dropped", "train loss", "dev loss", "dev F1", "runs/six/adapter") if word not in printed] == []
    curve = [json.loads(line) for line in (run / "curve.jsonl").read_text().splitlines()]
    assert [point["step"] for point in curve] == [0, 3, 6]
    assert curve[-1]["dev_loss"] < curve[0]["dev_loss"]
    assert all(0 <= point["dev_f1"] <= 1 for point in curve)
    adapter = load_adapter(run, str(base))
    assert (adapter.rank, adapter.spec.name) == (8, "minecraft/context-rich/lines/world")
    said = json.loads((run / "adapter/harness.json").read_text())
    assert said["base_fingerprint"] == weights_fingerprint(base)
    assert said["recipe"]["training"]["learning_rate"] == 0.05
    assert (said["steps"], said["effect"], said["rows"] + said["dropped"]) == (6, True, said["items"])
    assert {path.suffix for path in (run / "adapter").iterdir()} <= {".json", ".safetensors", ".md"}, "nothing pickled"


def test_it_is_the_same_model_in_plain_peft(trained: tuple[Path, str], base: Path) -> None:
    """The adapter's weights give the logits of the last checkpoint, with which training ended."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    run, ids = trained[0], torch.tensor([[1, 7, 20, 33, 50]])
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32).eval()
    with torch.inference_mode():
        plain = model(ids).logits
        saved, last = (
            PeftModel.from_pretrained(copy.deepcopy(model), folder).eval()(ids).logits
            for folder in (run / "adapter", run / "checkpoints/checkpoint-6")
        )
    assert torch.equal(saved, last)
    assert not torch.allclose(saved, plain)
