"""The BERT + Transformer of Builder Action Prediction (BAP v2, sections 6.3 and 12.4): dialogue and world to actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.baselines import DECODING, Decoding
from harness.baselines.bert_transformer.network import BertNetwork, BertShape
from harness.baselines.builder_decoding import BuilderPredictor
from harness.baselines.builder_network import BuilderCollator
from harness.baselines.encoders import EncoderSettings, check_identity, identity, load_encoder
from harness.baselines.world_state import COLORS
from harness.corpora.item import Item, builder_turns
from harness.tasks import tasks_in
from harness.training import checkpoints
from harness.training.recipe import Recipe
from harness.training.steps import Data
from harness.training.trainable import Begun, Trainable

NAME = "bert-transformer"


class BertTransformerRecipe(Recipe):
    encoder: EncoderSettings
    network: BertShape


class BertTransformer(Trainable[BertTransformerRecipe]):
    """See `harness.training.trainable.Trainable`."""

    name, schema = NAME, BertTransformerRecipe
    tasks = tasks_in("minecraft")
    decoding = ("steps", "constrained", "samples", "share")

    def begin(
        self,
        items: Sequence[Item],
        dev: Sequence[Item],
        recipe: BertTransformerRecipe,
        start: Path | None,
        say: Callable[[str], None],
    ) -> Begun:
        encoder, tokenizer = load_encoder(recipe.encoder)
        network = BertNetwork(recipe.network, encoder)
        words, mark = PlainWords(encoder, tokenizer), identity(encoder, tokenizer)
        if start:
            check_identity(start, checkpoints.read_config(start, NAME).get("fingerprint"), mark)
            checkpoints.begin_with(network, start, NAME, recipe.network)
        size = sum(weight.numel() for weight in encoder.parameters())
        count = sum(weight.numel() for weight in network.parameters()) - size
        reader = f"{recipe.encoder.name} ({size:,} parameters, {'not trained' if network.frozen else 'trained with the rest'})"
        say(f"text encoder: {reader}")
        say(f"variant {recipe.variant}: {count:,} parameters of its own")
        collate = BuilderCollator(recipe.network, words)
        data = Data(builder_turns(items), builder_turns(dev), collate, collate.history)
        notes = {"count": count, "reader": reader, "encoder_name": recipe.encoder.name}
        return Begun(recipe, network, data, notes, {"fingerprint": mark})

    def load(self, folder: Path, decoding: Decoding = DECODING) -> BuilderPredictor:
        config = checkpoints.read_config(folder, NAME)
        shape = checkpoints.read_settings(folder, BertShape, config.get("network"), "network")
        settings = checkpoints.read_settings(folder, EncoderSettings, config.get("encoder"), "encoder")
        encoder, tokenizer = load_encoder(settings, weights=False)
        check_identity(folder, config.get("fingerprint"), identity(encoder, tokenizer))
        network = BertNetwork(shape, encoder)
        checkpoints.restore(network, checkpoints.read_weights(folder), folder / checkpoints.WEIGHTS)
        return BuilderPredictor(network.eval(), shape, PlainWords(encoder, tokenizer), decoding)


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
