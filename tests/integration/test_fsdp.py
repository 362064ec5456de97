"""FSDP2 on a CPU: weights sharded over two processes are trained, gathered, saved as by `harness finetune`, and loaded by peft.

Accelerate does not shard on a CPU, so torch's `fully_shard` shards here layer by layer, as accelerate would.
"""

import sys
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
import torch

from tests.helpers import ROOT
from tests.helpers.finetuning import environment, torchrun
from tests.helpers.tiny import build_tiny_model

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(300)]

PROMPT = torch.tensor([[1, 5, 9, 4, 7, 3, 8, 6]])


def test_sharded_weights_are_saved_whole(tmp_path: Path) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    base = build_tiny_model(tmp_path / "base")
    words = [sys.executable, *torchrun(2), "-m", "tests.integration.test_fsdp", str(base), str(tmp_path)]
    done = run(words, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    plain = AutoModelForCausalLM.from_pretrained(base).eval()
    with torch.no_grad():
        before = plain(PROMPT).logits
        after = PeftModel.from_pretrained(plain, tmp_path / "adapter").eval()(PROMPT).logits
    torch.testing.assert_close(after, torch.load(tmp_path / "logits.pt", weights_only=True), atol=1e-5, rtol=0)
    assert (after - before).abs().max() > 0.01


def train_sharded(base: Path, out: Path) -> None:
    """Two steps of a LoRA whose layers are sharded over the processes; writes `out/adapter` and the logits before saving."""
    import torch.distributed as dist
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import DTensor
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from adapters.finetune import FinetuneJob, save_trained
    from adapters.model import with_lora
    from adapters.recipe import load_recipe
    from harness.training.job import Trained
    from prompts.shots import ShotPool
    from prompts.spec import PromptSpec

    dist.init_process_group("gloo")
    torch.manual_seed(0)
    recipe = load_recipe("llama-lora", ["lora.r=8", "lora.dropout=0.0", "training.gradient_checkpointing=false"])
    model = with_lora(recipe, AutoModelForCausalLM.from_pretrained(base))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model.get_base_model().model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    trained = [p for p in model.parameters() if p.requires_grad]
    assert all(isinstance(p, DTensor) and p.to_local().numel() < p.numel() for p in trained)
    optimizer = torch.optim.AdamW(trained, lr=0.05)
    for _ in range(2):
        tokens = PROMPT.roll(dist.get_rank(), 1)
        model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        logits = model.eval()(PROMPT).logits
    # The same as accelerator.get_state_dict with FSDP2.
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True, cpu_offload=True)
    weights = get_model_state_dict(model, options=options)
    if dist.get_rank() == 0:
        torch.save(logits, out / "logits.pt")
        how: dict[str, Any] = {"recipe": recipe, "base": str(base), "spec": PromptSpec.make("minecraft")}
        job = FinetuneJob(name="llama-lora", items=[], dev=[], examples=lambda: ShotPool((), 0), dev_f1=lambda *_: 0.0, **how)
        told = Trained(steps=2, kept=2, seconds=1.0, curve=[], counts={"tokens": 32})
        save_trained(job, model, AutoTokenizer.from_pretrained(base), told, out / "adapter", weights)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    train_sharded(Path(sys.argv[1]), Path(sys.argv[2]))
