"""The CNN + GRU: training and decoding in batches, and item by item."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from harness.corpora import load
from harness.engines.shared import fast_bf16
from tools.bench.measuring import Benchmark, Pairs, in_turn, seconds, spread


def trained(items_count: int = 16, batch_size: int = 16) -> Pairs:
    """Items a second of training the CNN + GRU (variant A) on a CPU: in batches, which are made anew, in the precision of `auto`;
    and as the original was: in float32, item by item, with a plain network that encodes the whole world at every step. Its worlds
    are made beforehand.

    In float32 both have the same loss for each item, as tests/unit/harness/baselines/cnn_gru/test_cnn_gru.py holds.
    """
    import torch

    from harness.baselines.builder_batches import BuilderCollator
    from harness.baselines.cnn_gru.baseline import CnnGru
    from harness.baselines.cnn_gru.network import CnnGruNetwork
    from harness.baselines.vocabulary import learned
    from harness.corpora.item import builder_turns
    from serialization.words import h3_tokens
    from tests.helpers import plain_cnn_gru as plain

    everything = builder_turns(load("minecraft", "train"))
    items = spread(everything, items_count)
    recipe, vocabulary = CnnGru().recipe([]), learned(map(h3_tokens, everything))
    collate, view = BuilderCollator(recipe.network, vocabulary), recipe.network.perspective
    worlds = [plain.worlds(item, view) for item in items]
    half = fast_bf16() and not torch.cuda.is_available()

    def rate(losses: Callable[[Any], Iterable[Any]]) -> float:
        torch.manual_seed(0)
        network = CnnGruNetwork(recipe.network, len(vocabulary))
        optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.training.learning_rate, fused=True)

        def train() -> None:
            for loss in losses(network):
                loss.backward()
                for part in network.clipped:
                    torch.nn.utils.clip_grad_norm_(part.parameters(), recipe.training.max_grad_norm)
                optimizer.step()
                optimizer.zero_grad()

        return len(items) / seconds(train)

    def batched(network: Any) -> Iterable[Any]:
        for start in range(0, len(items), batch_size):
            with torch.autocast("cpu", torch.bfloat16, enabled=half):
                made = network(collate(items[start : start + batch_size]))
            yield (made.sums / made.counts).mean()

    def one_by_one(network: Any) -> Iterable[Any]:
        for item, seen in zip(items, worlds, strict=True):
            yield plain.loss(network, vocabulary, item, view, seen) / len(seen)

    return in_turn(lambda: rate(batched), lambda: rate(one_by_one), rounds=3)


def decoded(items_count: int = 64) -> Pairs:
    """Items a second of the shipped CNN + GRU's greedy decoding: in its batches, and item by item."""
    from harness.baselines.cnn_gru.baseline import CnnGru
    from harness.training.checkpoints import SHIPPED

    predictor, items = CnnGru().load(SHIPPED / "cnn-gru"), spread(load("minecraft", "dev"), items_count)

    def rate(size: int) -> float:
        batches = [items[start : start + size] for start in range(0, len(items), size)]
        return len(items) / seconds(lambda: [predictor.predict(batch) for batch in batches])

    return in_turn(lambda: rate(predictor.batch_size), lambda: rate(1), rounds=3)


BENCHMARKS = [
    Benchmark("networks: training CNN + GRU in batches / plain", "items/s", 1.5, trained),
    Benchmark("networks: decoding with CNN + GRU in batches / one by one", "items/s", 1.0, decoded),
]
