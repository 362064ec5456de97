"""The BERT + Transformer of Builder Action Prediction (BAP v2, sections 6.3 and 12.4): dialogue and world to actions."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from harness.baselines import DECODING, Decoding
from harness.baselines.builder_decoding import BuilderPredictor
from harness.baselines.builder_network import BuilderBatch, BuilderCollator, BuilderNetwork, WorldHead, WorldShape
from harness.baselines.encoders import EncoderNetwork, EncoderSettings, check_identity, identity, load_encoder
from harness.baselines.world_state import COLORS, VECTOR
from harness.corpora.item import Item, builder_turns
from harness.tasks.registry import tasks_in
from harness.training import checkpoints
from harness.training.recipe import Recipe
from harness.training.steps import Data
from harness.training.trainable import Begun, Trainable
from harness.util.settings import Positive


class BertShape(WorldShape):
    """The network's sizes."""

    width: Positive
    """The width of the decoder, to which the text's states are projected."""
    layers: Positive
    heads: Positive
    feed_forward: Positive
    dropout: Annotated[float, Field(ge=0, lt=1)]
    """The dropout rate in the decoder. A tuned encoder has its own."""

    @model_validator(mode="after")
    def _whole_heads(self) -> "BertShape":
        if self.width % self.heads:
            raise ValueError(f"a width of {self.width} is not a multiple of {self.heads} heads")
        return self


class BertNetwork(EncoderNetwork, BuilderNetwork):
    """A text encoder (`encoders.load_encoder`), and a Transformer decoder that attends to all of its states at every step.

    Like the original Transformer (Vaswani et al. 2017), the decoder normalizes after each sublayer and adds sinusoidal positions:
    our choice, because the paper does not specify these details.
    """

    def __init__(self, shape: BertShape, encoder: Any) -> None:
        super().__init__(encoder)
        self.project = nn.Linear(encoder.config.hidden_size, shape.width)
        layer = nn.TransformerDecoderLayer(shape.width, shape.heads, shape.feed_forward, shape.dropout, batch_first=True)
        layers = nn.TransformerDecoder(layer, shape.layers)
        for weight in layers.parameters():
            if weight.dim() > 1:  # The decoder copied all layers from one.
                nn.init.xavier_uniform_(weight)
        self.decoder = WorldHead(shape, shape.width, action=nn.Linear(VECTOR, shape.width), layers=layers)
        self.dropout = nn.Dropout(shape.dropout)

    def read(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The text's states, shape (items, longest, width), and the padding mask, (items, longest)."""
        absent = torch.arange(tokens.shape[1], device=tokens.device) >= lengths[:, None]
        states = self.encoder(input_ids=tokens, attention_mask=(~absent).long()).last_hidden_state
        return self.project(states), absent

    def states(self, batch: BuilderBatch) -> Tensor:
        return self._decode(batch.actions, *self.read(batch.tokens, batch.lengths))

    def _decode(self, actions: Tensor, text: Tensor, absent: Tensor) -> Tensor:
        """The decoder's states, shape (items, steps, width), each computed from the actions before it."""
        steps = actions.shape[1]
        acted = self.decoder.action(actions)
        acted = self.dropout(acted + sines(steps, acted.shape[-1], acted.device))
        future = torch.ones(steps, steps, dtype=torch.bool, device=acted.device).triu(1)
        return self.decoder.layers(acted, text, tgt_mask=future, memory_key_padding_mask=absent, tgt_is_causal=True)

    def begin(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        """The text, and the decoder's inputs so far: answers are short enough to be decoded again from the start at each step."""
        return *self.read(tokens, lengths), torch.zeros(len(tokens), 0, VECTOR, device=tokens.device)

    def advance(self, known: tuple[Tensor, ...], inputs: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        text, absent, before = known
        actions = torch.cat([before, inputs[:, None]], dim=1)
        return self._decode(actions, text, absent)[:, -1], (text, absent, actions)


def sines(count: int, width: int, device: Any) -> Tensor:
    """Vectors of the first positions, shape (count, width): sines and cosines of increasing wavelengths (Vaswani et al. 2017)."""
    waves = torch.exp(torch.arange(0, width, 2, device=device) * (-math.log(10_000.0) / width))
    angles = torch.arange(count, device=device)[:, None] * waves
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)[:, :width]


NAME = "bert-transformer"


class BertTransformerRecipe(Recipe):
    encoder: EncoderSettings
    network: BertShape


class BertTransformer(Trainable[BertTransformerRecipe]):
    """See `harness.training.trainable.Trainable`."""

    name, schema = NAME, BertTransformerRecipe
    tasks = tasks_in("minecraft")
    decoding = ("steps", "constrained", "samples", "share")

    def begin(self, items: Sequence[Item], dev: Sequence[Item], recipe: BertTransformerRecipe) -> Begun:
        encoder, tokenizer = load_encoder(recipe.encoder)
        network = BertNetwork(recipe.network, encoder)
        collate = BuilderCollator(recipe.network, PlainWords(encoder, tokenizer))
        data = Data(builder_turns(items), builder_turns(dev), collate, collate.history)
        return Begun(network, data, {"fingerprint": identity(encoder, tokenizer)})

    def load(self, folder: Path, decoding: Decoding = DECODING) -> BuilderPredictor:
        config = checkpoints.read_config(folder, NAME)
        shape = checkpoints.read_settings(folder, BertShape, config.get("network"), "network")
        settings = checkpoints.read_settings(folder, EncoderSettings, config.get("encoder"), "encoder")
        encoder, tokenizer = load_encoder(settings, weights=False)
        check_identity(folder, config.get("fingerprint"), identity(encoder, tokenizer))
        network = checkpoints.restored(BertNetwork(shape, encoder), folder)
        return BuilderPredictor(network, shape, PlainWords(encoder, tokenizer), decoding)


class PlainWords:
    """Token ids of a history by the encoder's tokenizer.

    Special words are written in plain English, as in "architect: put red.", so that a frozen encoder understands them; this is
    our choice. A text that is too long for the encoder loses its beginning.
    """

    def __init__(self, encoder: Any, tokenizer: Any) -> None:
        self.tokenizer, self.longest = tokenizer, min(tokenizer.model_max_length, encoder.config.max_position_embeddings)
        tokenizer.truncation_side = "left"

    def numbers(self, words: Iterable[str]) -> list[int]:
        text = plain(words) or "."
        numbers: list[int] = self.tokenizer(text, truncation=True, max_length=self.longest)["input_ids"]
        return numbers


def plain(words: Iterable[str]) -> str:
    return " ".join(_PLAIN.get(word, word) for word in words)


_PLAIN = {
    "<dialogue>": "start.",
    "<architect>": "architect:",
    "</architect>": ".",
    "<builder>": "builder:",
    "</builder>": ".",
    **{f"<builder_putdown_{color}>": f"put {color}." for color in COLORS},
    **{f"<builder_pickup_{color}>": f"remove {color}." for color in COLORS},
}
