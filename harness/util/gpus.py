"""The GPUs that this process may use, and how they are shared out."""

from __future__ import annotations

import os
from collections.abc import Sequence


def visible_gpus() -> list[str]:
    """What CUDA_VISIBLE_DEVICES calls each of them. CUDA is not started: a child process may still choose among them."""
    import torch

    count = torch.cuda.device_count()
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    names = [name.strip() for name in chosen.split(",") if name.strip()]
    return (names or [str(number) for number in range(count)])[:count]


def gpu_groups(gpus: Sequence[str], count: int) -> list[str]:
    """`count` values of CUDA_VISIBLE_DEVICES with as many GPUs each; what is left over is not used."""
    each = len(gpus) // count
    return [",".join(gpus[start : start + each]) for start in range(0, count * each, each)]
