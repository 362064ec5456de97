"""The CNN + GRU of Builder Action Prediction (Jayannavar et al. 2020, section 5): dialogue and world to actions, greedily."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from harness.augmentation.paraphrase import lexicon
from harness.baselines import DECODING, Decoding
from harness.baselines.builder_decoding import BuilderPredictor
from harness.baselines.builder_network import BuilderBatch, BuilderCollator, BuilderNetwork, WorldHead, WorldShape, perceptron
from harness.baselines.vocabulary import Vocabulary, learned, read_glove
from harness.baselines.world_state import VECTOR
from harness.corpora import load
from harness.corpora.item import Item, MinecraftItem, builder_turns
from harness.tasks.registry import tasks_in
from harness.training import checkpoints
from harness.training.recipe import Recipe
from harness.training.steps import Data
from harness.training.trainable import Begun, Trainable
from harness.util.settings import Positive
from serialization.words import h3_tokens


class CnnGruShape(WorldShape):
    """The network's sizes."""

    words: Positive
    """The width of the word vectors."""
    hidden: Positive
    """The width of both GRUs."""
    action_layers: Annotated[int, Field(ge=1, le=5)]
    """The number of layers on an action's vector of 11 numbers; each layer shortens it by one."""


class CnnGruNetwork(BuilderNetwork):
    """A text encoder and an action decoder. If `vectors` are given, they become the words' vectors and stay frozen."""

    def __init__(self, shape: CnnGruShape, vocabulary: int, vectors: Any = None) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, shape.words, padding_idx=0)
        if vectors is not None:
            self.words.weight = nn.Parameter(torch.as_tensor(vectors), requires_grad=False)
        self.encoder = nn.GRU(shape.words, shape.hidden, batch_first=True)
        actions = perceptron([VECTOR - n for n in range(shape.action_layers + 1)])
        gru = nn.GRU(VECTOR - shape.action_layers, shape.hidden, batch_first=True)
        self.decoder = WorldHead(shape, shape.hidden, action=actions, gru=gru)

    @property
    def clipped(self) -> list[nn.Module]:
        """The modules whose gradients are clipped, each separately."""
        return [self.encoder, self.decoder.gru]

    def read(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """The encoder's last state for each text, shape (items, hidden)."""
        with _full_precision(tokens):
            packed = pack_padded_sequence(self.words(tokens), lengths.cpu(), batch_first=True, enforce_sorted=False)
            return self.encoder(packed)[1][0]

    def states(self, batch: BuilderBatch) -> Tensor:
        with _full_precision(batch.tokens):
            first = self.read(batch.tokens, batch.lengths)
            states, _ = self.decoder.gru(self.decoder.action(batch.actions), first[None])
            return states

    def begin(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        return (self.read(tokens, lengths),)

    def advance(self, known: tuple[Tensor, ...], inputs: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        _, now = self.decoder.gru(self.decoder.action(inputs)[:, None], known[0][None])
        return now[0], (now[0],)


def _full_precision(beside: Tensor) -> Any:
    """A context in which the recurrence runs in float32, whatever the surrounding precision."""
    return torch.autocast(beside.device.type, enabled=False)


NAME = "cnn-gru"


class CnnGruRecipe(Recipe):
    glove: str | None
    """The path of a GloVe file, whose word vectors stay frozen; null: vectors are learned."""
    network: CnnGruShape


class CnnGru(Trainable[CnnGruRecipe]):
    """See `harness.training.trainable.Trainable`."""

    name, schema = NAME, CnnGruRecipe
    tasks = tasks_in("minecraft")
    decoding = ("steps", "constrained", "samples", "share")

    def begin(self, items: Sequence[Item], dev: Sequence[Item], recipe: CnnGruRecipe) -> Begun:
        train_items, dev_items = builder_turns(items), builder_turns(dev)
        vocabulary, vectors = _words(recipe, train_items, dev_items)
        network = CnnGruNetwork(recipe.network, len(vocabulary), vectors)
        collate = BuilderCollator(recipe.network, vocabulary)
        return Begun(network, Data(train_items, dev_items, collate, collate.history), words=vocabulary.words)

    def load(self, folder: Path, decoding: Decoding = DECODING) -> BuilderPredictor:
        config = checkpoints.read_config(folder, NAME)
        shape = checkpoints.read_settings(folder, CnnGruShape, config.get("network"), "network")
        vocabulary = Vocabulary(checkpoints.read_words(folder))
        network = checkpoints.restored(CnnGruNetwork(shape, len(vocabulary)), folder)
        return BuilderPredictor(network, shape, vocabulary, decoding)


def _words(
    recipe: CnnGruRecipe, train: Sequence[MinecraftItem], dev: Sequence[MinecraftItem]
) -> tuple[Vocabulary, np.ndarray[Any, Any] | None]:
    """The vocabulary, and its GloVe vectors if the recipe has any.

    With GloVe, it holds the words of the whole corpus, as in the paper, because their vectors are not learned.
    """
    if recipe.glove is None:
        drawn = chain(*lexicon().values()) if recipe.augment == "all" else ()
        return learned([*map(h3_tokens, train), list(drawn)]), None
    everything = [*train, *dev, *builder_turns(load("minecraft"))]
    return read_glove(Path(recipe.glove), map(h3_tokens, everything), recipe.network.words, recipe.training.seed)
