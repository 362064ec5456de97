"""Batched decoding of the builder models: each action is carried out before the next is chosen.

Decoding is greedy as in the papers, or draws answers that vote: see `harness.prompting.voting`.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import torch

from harness.baselines import DECODING, Decoding
from harness.baselines.builder_network import BuilderNetwork, WordIndex, WorldShape, perspective_view, read_texts
from harness.baselines.world_state import (
    STOP,
    VECTOR,
    Grids,
    Ints,
    before_codes,
    carry_out,
    feasible,
    history_weights,
    label_action,
    recent_cells,
    vectors,
)
from harness.corpora.item import Item, MinecraftItem, builder_turns
from harness.prompting.voting import voted
from harness.runs.answering import Answer, Predictor
from harness.worlds.minecraft import Action

_ROWS = 16
"""The number of rows scored at a time without a GPU: tensors that fit into the processor's caches are much faster."""
Drawn = Counter[tuple[int, ...]]
"""Answers as sequences of labels, with the number of draws of each."""
Choose = Callable[[torch.Tensor, Ints, Ints], tuple[Ints, Ints, Ints]]
"""Takes the labels' scores, shape (rows, 7624), each row's item and number of draws. Returns, for each row of the next step, the
row from which it comes, its label and its number of draws."""


class BuilderPredictor(Predictor):
    """A network with a method to choose actions from its scores."""

    batch_size = 64

    def __init__(self, network: BuilderNetwork, shape: WorldShape, words: WordIndex, decoding: Decoding = DECODING) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network, self.shape, self.words = network.to(self.device), shape, words
        self.decoding = decoding

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        turns, decoding = builder_turns(items), self.decoding
        if decoding.samples is None:
            greedy = [next(iter(answers)) for answers in self._decode(turns, _likeliest)]
            return [Answer(_actions(labels), labels[-1] == STOP) for labels in greedy]
        return [
            Answer(voted(item.before, drawn, decoding.share), 2 * stopped >= decoding.samples)
            for item, (drawn, stopped) in zip(turns, self.drawn(turns), strict=True)
        ]

    def drawn(self, turns: Sequence[MinecraftItem]) -> list[tuple[Counter[tuple[Action, ...]], int]]:
        """For each item, `samples` drawn answers with their counts, and the number of draws that ended with a stop.

        Draws in bfloat16 if that is faster.
        """
        from harness.engines.shared import in_bf16

        results = []
        with torch.autocast(self.device.type, torch.bfloat16, enabled=in_bf16()):
            decoded = self._decode(turns, _draws(turns))
        for labels in decoded:
            answers = Counter[tuple[Action, ...]]()
            for each, count in labels.items():
                answers[tuple(_actions(each))] += count
            results.append((answers, sum(count for each, count in labels.items() if each[-1] == STOP)))
        return results

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def _decode(self, turns: Sequence[MinecraftItem], choose: Choose) -> list[Drawn]:
        """The answers to each item. Rows of the batch are prefixes of answers; draws with equal prefixes share a row."""
        network, device, decoding = self.network, self.device, self.decoding
        state = network.begin(*(part.to(device) for part in read_texts(turns, self.words)))
        view = perspective_view(turns, self.shape)
        codes, recent = before_codes(turns), np.array([recent_cells(item) for item in turns])
        inputs = np.zeros((len(turns), VECTOR), np.float32)
        answers = [Drawn() for _ in turns]
        owners, counts = np.arange(len(turns)), np.full(len(turns), decoding.samples or 1)
        begun: list[tuple[int, ...]] = [()] * len(turns)
        for step in range(decoding.steps):
            states, state = network.advance(state, torch.from_numpy(inputs).to(device))
            channels = Grids(codes, history_weights(recent)).channels()
            if view is not None:
                channels = np.concatenate([channels, view[owners]], axis=1)
            scores = self._scores(channels, states)
            if decoding.constrained:
                scores = scores.masked_fill(~torch.from_numpy(feasible(codes)).to(device), -torch.inf)
            parents, labels, counts = choose(scores, owners, counts)
            owners, codes, recent = owners[parents], codes[parents], recent[parents]
            begun = [(*begun[parent], int(label)) for parent, label in zip(parents, labels, strict=True)]
            carry_out(codes, recent, labels)
            on = (labels != STOP) & (step + 1 < decoding.steps)
            for row in np.flatnonzero(~on):
                answers[owners[row]][begun[row]] += int(counts[row])
            begun = [begun[row] for row in np.flatnonzero(on)]
            owners, codes, recent, counts, inputs = owners[on], codes[on], recent[on], counts[on], vectors(labels[on])
            if not begun:
                break
            came = torch.from_numpy(parents[on]).to(device)
            state = tuple(part[came] for part in state)
        return answers

    def _scores(self, channels: np.ndarray, states: torch.Tensor) -> torch.Tensor:
        """The labels' scores, shape (rows, 7624)."""
        head, grids = self.network.decoder, torch.from_numpy(channels).to(self.device)
        size = self.batch_size if self.device.type == "cuda" else _ROWS
        parts = zip(grids.split(size), states.split(size), strict=True)
        return torch.cat([head.choose(head.see(some), at) for some, at in parts])


def _actions(labels: Sequence[int]) -> list[Action]:
    return [label_action(label) for label in labels if label != STOP]


def _likeliest(scores: torch.Tensor, owners: Ints, counts: Ints) -> tuple[Ints, Ints, Ints]:
    return np.arange(len(owners)), scores.argmax(1).cpu().numpy(), counts


def _draws(turns: Sequence[MinecraftItem]) -> Choose:
    """A function that draws at random, depending on an item's id alone and not on its batch."""
    chance = [np.random.default_rng(zlib.crc32(item.id.encode())) for item in turns]

    def choose(scores: torch.Tensor, owners: Ints, counts: Ints) -> tuple[Ints, Ints, Ints]:
        reached = scores.double().softmax(1).cumsum(1).cpu().numpy()
        drawn = []
        for row, (owner, count) in enumerate(zip(owners, counts, strict=True)):
            places = np.searchsorted(reached[row], chance[owner].random(count) * reached[row, -1], side="right")
            labels, times = np.unique(places, return_counts=True)
            drawn.append((np.full(len(labels), row), labels, times))
        parents, labels, times = (np.concatenate(part) for part in zip(*drawn, strict=True))
        return parents, labels, times

    return choose
