"""How a benchmark is timed: pairs of measurements in turn, and the interval of their ratio."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROUNDS = 5

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
