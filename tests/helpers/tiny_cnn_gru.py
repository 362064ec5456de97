"""A CNN + GRU that is made and trained in a moment."""

from __future__ import annotations

import torch

from harness.baselines.cnn_gru.network import CnnGruNetwork, CnnGruShape
from harness.baselines.vocabulary import Vocabulary

TINY = CnnGruShape(
    words=8, hidden=12, action_layers=2, filters=6, world_layers=2, head_layers=3, stop_layers=3, perspective="coordinates"
)

SETTINGS = {
    "network.words": 8, "network.hidden": 8, "network.filters": 4, "network.head_layers": 2, "network.stop_layers": 2,
    "training.learning_rate": 0.001,
}  # fmt: skip
"""What makes the network of `harness baseline train cnn-gru` small, too."""


def network_of(shape: CnnGruShape, vocabulary: Vocabulary, *, bold: float = 1.0) -> CnnGruNetwork:
    """With random weights; those of the action scores are multiplied by `bold`, so that greedy choices are no near ties."""
    torch.manual_seed(0)
    made = CnnGruNetwork(shape, len(vocabulary))
    made.decoder.head[-1].weight.data *= bold
    return made
