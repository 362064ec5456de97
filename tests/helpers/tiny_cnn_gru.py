"""A CNN + GRU that is built and trained in a moment, and the scores of any builder model under teacher forcing."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from harness.baselines.builder_network import BuilderNetwork
from harness.baselines.cnn_gru.baseline import CnnGruNetwork, CnnGruShape
from harness.baselines.vocabulary import Vocabulary
from harness.baselines.world_state import feasible, gold_grids
from harness.corpora.item import MinecraftItem
from harness.worlds.minecraft import Action

TINY = CnnGruShape(
    words=8, hidden=12, action_layers=2, filters=6, world_layers=2, head_layers=3, stop_layers=3, perspective="coordinates"
)

SETTINGS = {
    "network.words": 8, "network.hidden": 8, "network.filters": 4, "network.head_layers": 2, "network.stop_layers": 2,
    "training.learning_rate": 0.001,
}  # fmt: skip
"""The settings that make the network of `harness baseline train cnn-gru` small, too."""


def network_of(shape: CnnGruShape, vocabulary: Vocabulary, *, bold: float = 1.0) -> CnnGruNetwork:
    """A random network; the weights of the action scores are multiplied by `bold`, which avoids near ties in greedy choices."""
    torch.manual_seed(0)
    made = CnnGruNetwork(shape, len(vocabulary))
    made.decoder.head[-1].weight.data *= bold
    return made


def forced(
    network: BuilderNetwork, collate: Callable[..., Any], item: MinecraftItem, answer: Sequence[Action], constrained: bool = True
) -> torch.Tensor:
    """The labels' scores at each step if an answer's actions were the item's gold actions; if constrained, of feasible ones."""
    gold = replace(item, actions=tuple(answer), after=item.before.apply(answer).structure, meta={})
    possible = torch.from_numpy(feasible(gold_grids([gold]).codes)) | (not constrained)
    return network.logits(collate([gold])).masked_fill(~possible, -torch.inf)
