"""The visible GPUs; torch's count is a stand-in."""

import pytest
import torch

from harness.util.processes import visible_gpus
from tests.helpers import cases


@pytest.mark.parametrize(("count", "variable", "names"), cases(__file__)["gpus"])
def test_visible_gpus(count: int, variable: str | None, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if variable is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
    assert visible_gpus() == names
