"""Greedy decoding of the builder models, many items at once: each action is carried out before the next is chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from harness.baselines import Answer, Decoding
from harness.baselines.builder_batches import Words, read_texts, view_of
from harness.baselines.builder_network import BuilderNetwork
from harness.baselines.world_head import WorldShape
from harness.baselines.world_state import (
    STOP,
    VECTOR,
    Grids,
    action_of,
    carry_out,
    codes_of,
    feasible,
    recent_cells,
    vectors,
    weights_of,
)
from harness.corpora.item import Item, builder_turns


class BuilderPredictor:
    """See `harness.baselines.Predictor`."""

    batch_size = 64
    rolls_out = False

    def __init__(self, network: BuilderNetwork, shape: WorldShape, words: Words) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network, self.shape, self.words = network.to(self.device), shape, words

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def predict(self, items: Sequence[Item], decoding: Decoding) -> list[Answer]:
        turns = builder_turns(items)
        network, head, device = self.network, self.network.decoder, self.device
        known = network.begin(*(part.to(device) for part in read_texts(turns, self.words)))
        view = view_of(turns, self.shape)
        codes, recent = codes_of(turns), np.array([recent_cells(item) for item in turns])
        inputs = np.zeros((len(turns), VECTOR), np.float32)
        answers: list[list[int]] = [[] for _ in turns]
        going = np.arange(len(turns))
        for _ in range(decoding.steps):
            channels = Grids(codes, weights_of(recent)).channels()
            if view is not None:
                channels = np.concatenate([channels, view[going]], axis=1)
            states, known = network.advance(known, torch.from_numpy(inputs).to(device))
            scores = head.choose(head.see(torch.from_numpy(channels).to(device)), states)
            if decoding.constrained:
                scores = scores.masked_fill(~torch.from_numpy(feasible(codes)).to(device), -torch.inf)
            labels = scores.argmax(1).cpu().numpy()
            for number, label in zip(going, labels, strict=True):
                answers[number].append(int(label))
            carry_out(codes, recent, labels)
            on = labels != STOP
            going, codes, recent, inputs = going[on], codes[on], recent[on], vectors(labels[on])
            if not len(going):
                break
            still = torch.from_numpy(on).to(device)
            known = tuple(part[still] for part in known)
        return [Answer([action_of(label) for label in own if label != STOP], own[-1] == STOP) for own in answers]
