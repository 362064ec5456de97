"""The CNN + GRU of Builder Action Prediction (Jayannavar et al. 2020, section 5): dialogue and world to actions, greedily."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import ValidationError

from adapters.recipe import problem_of
from harness.baselines import Answer, Decoding, checkpoints
from harness.baselines.cnn_gru_batches import Collator, read_texts, view_of
from harness.baselines.cnn_gru_network import Network, Shape
from harness.baselines.recipe import Recipe, load_recipe
from harness.baselines.training import Loop, State, Trained
from harness.baselines.vocabulary import Vocabulary, learned, read_glove
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
from harness.corpora import load
from harness.corpora.item import Item, MinecraftItem
from harness.errors import DataError
from harness.runs import provenance
from serialization.words import h3_tokens

NAME = "cnn-gru"


class CnnGruRecipe(Recipe):
    glove: str | None
    """A file of word vectors, which are not trained then."""
    network: Shape


class CnnGru:
    """See `harness.baselines.Baseline`."""

    tasks = ("minecraft",)

    def recipe(self, overrides: Sequence[str]) -> CnnGruRecipe:
        return load_recipe(NAME, CnnGruRecipe, overrides)

    def train(
        self, items: Sequence[Item], dev: Sequence[Item], recipe: Recipe, folder: Path, say: Callable[[str], None]
    ) -> Trained:
        assert isinstance(recipe, CnnGruRecipe)
        train_items, dev_items = builder_turns(items), builder_turns(dev)
        vocabulary, vectors = _words(recipe, train_items, dev_items)
        torch.manual_seed(recipe.training.seed)
        network = Network(recipe.network, len(vocabulary), vectors)
        if vectors is None:
            say(f"word vectors: learned, {len(vocabulary):,} words of the train items (--set glove=FILE takes GloVe's)")
        else:
            say(f"word vectors: {recipe.glove}, {len(vocabulary):,} of the corpus's words and special ones, not trained")
        encoder, decoder = parameters(network.encoder), parameters(network.decoder)
        say(f"variant {recipe.variant}: {encoder:,} parameters in the encoder, {decoder:,} in the decoder")

        def keep(best: Network, state: State) -> None:
            config = config_of(recipe, state, len(items))
            card = _card(config, encoder + decoder, state)
            checkpoints.write_model(folder / "model", config, checkpoints.weights_of(best), vocabulary.words, card)

        return Loop(network, Collator(recipe.network, vocabulary), recipe.training, folder, keep).run(train_items, dev_items)

    def load(self, folder: Path) -> CnnGruPredictor:
        config = checkpoints.read_config(folder, NAME)
        try:
            shape = Shape.model_validate(config.get("network"))
            vocabulary = Vocabulary(checkpoints.read_words(folder))
        except ValidationError as error:
            raise DataError(f"{folder / checkpoints.CONFIG}: network: {problem_of(error)}") from None
        except ValueError as error:
            raise DataError(f"{folder / checkpoints.VOCABULARY}: {error}") from None
        network = Network(shape, len(vocabulary))
        checkpoints.restore(network, checkpoints.read_weights(folder), folder / checkpoints.WEIGHTS)
        return CnnGruPredictor(network.eval(), shape, vocabulary)


def builder_turns(items: Iterable[Item]) -> list[MinecraftItem]:
    return [item for item in items if isinstance(item, MinecraftItem)]


def parameters(network: Any) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def _words(
    recipe: CnnGruRecipe, train: Sequence[MinecraftItem], dev: Sequence[MinecraftItem]
) -> tuple[Vocabulary, np.ndarray[Any, Any] | None]:
    """GloVe's words are those of the whole corpus, as in the paper: their vectors are looked up, not learned."""
    if recipe.glove is None:
        return learned(map(h3_tokens, train)), None
    everything = [*train, *dev, *builder_turns(load("minecraft"))]
    return read_glove(Path(recipe.glove), map(h3_tokens, everything), recipe.network.words, recipe.training.seed)


def config_of(recipe: CnnGruRecipe, state: State, items: int) -> dict[str, Any]:
    made = provenance()
    return {
        "baseline": NAME,
        "task": "minecraft",
        **recipe.model_dump(),
        "items": items,
        "epoch": state.best_epoch,
        "dev_loss": state.best,
        "versions": made["versions"],
        "git": made["git"],
    }


def _card(config: dict[str, Any], count: int, state: State) -> str:
    """The text of the model card, in Markdown."""
    words = f"GloVe's, from {Path(config['glove']).name}" if config["glove"] else "learned with the rest"
    parts = {part: ", ".join(f"{key} {value}" for key, value in config[part].items()) for part in ("network", "training")}
    curve = "\n".join(f"| {p['epoch']} | {p['train_loss']:.3f} | {p['dev_loss']:.3f} |" for p in state.curve)
    text = files("harness.baselines").joinpath("cnn_gru_card.txt").read_text()
    return text.format(**config | parts, count=count, vectors=words, curve=curve)


class CnnGruPredictor:
    """See `harness.baselines.Predictor`."""

    batch_size = 64

    def __init__(self, network: Network, shape: Shape, vocabulary: Vocabulary) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network, self.shape, self.vocabulary = network.to(self.device), shape, vocabulary

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def predict(self, items: Sequence[Item], decoding: Decoding) -> list[Answer]:
        turns = builder_turns(items)
        decoder, device = self.network.decoder, self.device
        states = self.network.read(*(part.to(device) for part in read_texts(turns, self.vocabulary)))
        view = view_of(turns, self.shape)
        codes, recent = codes_of(turns), np.array([recent_cells(item) for item in turns])
        inputs = np.zeros((len(turns), VECTOR), np.float32)
        answers: list[list[int]] = [[] for _ in turns]
        going = np.arange(len(turns))
        for _ in range(decoding.steps):
            channels = Grids(codes, weights_of(recent)).channels()
            if view is not None:
                channels = np.concatenate([channels, view[going]], axis=1)
            acted = decoder.action(torch.from_numpy(inputs).to(device))
            _, now = decoder.gru(acted[:, None], states[None])
            scores = decoder.choose(decoder.see(torch.from_numpy(channels).to(device)), now[0])
            if decoding.constrained:
                scores = scores.masked_fill(~torch.from_numpy(feasible(codes)).to(device), -torch.inf)
            labels = scores.argmax(1).cpu().numpy()
            for number, label in zip(going, labels, strict=True):
                answers[number].append(int(label))
            carry_out(codes, recent, labels)
            on = labels != STOP
            going, codes, recent, inputs = going[on], codes[on], recent[on], vectors(labels[on])
            states = now[0][torch.from_numpy(on).to(device)]
            if not len(going):
                break
        return [Answer([action_of(label) for label in own if label != STOP], own[-1] == STOP) for own in answers]
