"""The visible GPUs; torch's count is a stand-in."""

import pytest
import torch

from harness.util.processes import visible_gpus


@pytest.mark.parametrize(
    ("count", "variable", "names"),
    [
        (0, None, []),
        (0, "", []),
        (3, None, ["0", "1", "2"]),
        (2, "4,6", ["4", "6"]),
        (2, "GPU-a1, GPU-b2", ["GPU-a1", "GPU-b2"]),
        (1, "0,99,1", ["0"]),  # CUDA stops at the first missing GPU.
    ],
)
def test_visible_gpus(count: int, variable: str | None, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if variable is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
    assert visible_gpus() == names
