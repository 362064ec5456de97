"""The Triton kernel of TRL's fused head, which computes the loss on a GPU, run by Triton's interpreter on a CPU."""

from __future__ import annotations

import os
import sys
from subprocess import run
from unittest.mock import patch

import pytest
import torch

from tests.helpers import ROOT
from tests.helpers.finetuning import environment

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def test_the_kernel_gives_the_results_of_torch() -> None:
    # Triton reads the variable when kernels are declared, so a separate process is needed.
    words = [sys.executable, "-m", "tests.integration.test_fused_head"]
    done = run(words, cwd=ROOT, env=environment() | {"TRITON_INTERPRET": "1"}, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr


def compare() -> None:
    """Compares torch and the kernel on log-probabilities and gradients of a tree whose rows fork after a token."""
    from transformers import LlamaConfig, LlamaForCausalLM

    from adapters.layout import fuse_head, scored
    from adapters.packing import Packing, collate, pack_of
    from prompts.rendered import TrainingRow

    torch.manual_seed(0)
    sizes = {"vocab_size": 90, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 1}
    model = LlamaForCausalLM(LlamaConfig(**sizes, num_key_value_heads=1))
    assert fuse_head(model)
    found = []
    for kernel in (False, True):
        inputs = collate(pack_of([TrainingRow("a", (5, 6), (60, 2)), TrainingRow("b", (5, 6), (70, 2))]), Packing.TREE, pad=0)
        labels = inputs.pop("labels")
        with (
            patch("trl.kernels.chunked_logprob._use_triton", lambda device, kernel=kernel: kernel),
            patch("trl.trainer.utils._use_triton", lambda device, kernel=kernel: kernel),
        ):
            likely = scored(model, inputs, labels).log_probs
            model.zero_grad()
            likely.sum().backward()
        found.append([likely.detach(), *(parameter.grad.clone() for parameter in model.parameters())])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
    assert os.environ["TRITON_INTERPRET"] == "1"


if __name__ == "__main__":
    compare()
