"""The tile classifier of HEXAGONS ("Draw Me a Flower", TACL 2022, section 6): an instruction is 180 decisions, one a tile.

Two variants: `paper` has the published input, one text a tile; `joint`, which is ours, encodes the text once for all tiles and
lets them attend to each other. Of the training, the paper gives only 20 epochs, early stopping and batches of 4; the other
settings are ours.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from pydantic import AfterValidator, Field
from scipy.special import softmax

from harness.baselines import DECODING, Decoding
from harness.baselines.deberta.batches import InstructionReader, Ints, QueryCollator, TileCollator, instructions, tile_actions
from harness.baselines.deberta.network import NO_ACTION, Classifier, DebertaShape, TextPerTile, TileQueries
from harness.baselines.encoders import EncoderSettings, check_identity, identity, load_encoder
from harness.corpora.item import HexagonsItem, Item, drawing_steps
from harness.runs.answering import Answer, Predictor
from harness.tasks.registry import tasks_in
from harness.training import checkpoints
from harness.training.recipe import Recipe
from harness.training.steps import Data
from harness.training.trainable import Begun, Trainable
from harness.util.settings import Strict
from serialization.contexts import CONTEXTS

NAME = "deberta"

Decision = Literal["likeliest", "f1"]
Scores = np.ndarray[Any, np.dtype[np.float32]]


class TileSettings(Strict):
    """What answers depend on."""

    variant: str
    context: Annotated[str, AfterValidator(lambda name: CONTEXTS["hexagons"][name].name)]
    """A context of `serialization.contexts`."""
    decision: Decision
    """likeliest: each tile's likeliest class; f1: the set of tiles with the highest expected F1."""
    encoder: EncoderSettings
    network: DebertaShape
    temperature: Annotated[float, Field(gt=0)] = 1.0
    """The divisor of the scores."""


class DebertaRecipe(Recipe, TileSettings): ...


class Deberta(Trainable[DebertaRecipe]):
    """See `harness.training.trainable.Trainable`."""

    name, schema = NAME, DebertaRecipe
    tasks = tasks_in("hexagons")
    decoding = ()

    def begin(self, items: Sequence[Item], dev: Sequence[Item], recipe: DebertaRecipe) -> Begun:
        network, collate, encoder = build(recipe)
        context = CONTEXTS["hexagons"][recipe.context]
        data = Data(
            drawing_steps(items),
            drawing_steps(dev),
            collate,
            history=collate.reader.history,
            length=lambda item: sum(len(text.split()) for text in instructions(item, context)),
        )
        return Begun(network, data, {"encoder_identity": encoder})

    def load(self, folder: Path, decoding: Decoding = DECODING) -> "DebertaPredictor":
        config = checkpoints.read_config(folder, NAME)
        values = {key: config[key] for key in TileSettings.model_fields if key in config}
        settings = checkpoints.read_settings(folder, TileSettings, values)
        network, collate, encoder = build(settings, weights=False)
        check_identity(folder, config.get("encoder_identity"), encoder)
        return DebertaPredictor(checkpoints.restored(network, folder), collate, settings)


def build(recipe: TileSettings, *, weights: bool = True) -> tuple[Classifier, QueryCollator | TileCollator, str]:
    """The network of a recipe, its collator, and the identity of its encoder. `weights`: see `load_encoder`."""
    context = CONTEXTS["hexagons"][recipe.context]
    encoder, tokenizer = load_encoder(recipe.encoder, weights=weights)
    reader, same = InstructionReader(tokenizer, encoder, context), identity(encoder, tokenizer)
    if recipe.variant == "paper":
        return TextPerTile(encoder, recipe.network), TileCollator(reader), same
    return TileQueries(encoder, recipe.network, board=context.board is not None), QueryCollator(reader), same


class DebertaPredictor(Predictor):
    """A network with a method to decide from its scores."""

    batch_size = 16

    def __init__(self, network: Classifier, collate: Callable[..., Any], settings: TileSettings) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network, self.collate, self.settings = network.to(self.device), collate, settings
        self.rolls_out = CONTEXTS["hexagons"][settings.context].board == "predicted"

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def scores(self, items: Sequence[HexagonsItem]) -> np.ndarray[Any, Any]:
        """The scores of all classes for the items' tiles: float32, shape (items, 180, 9)."""
        logits = []
        for start in range(0, len(items), self.batch_size):
            batch = self.collate(items[start : start + self.batch_size])
            logits.append(self.network.logits(type(batch)(*(part.to(self.device) for part in batch))).cpu().numpy())
        return np.concatenate(logits)

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        labels = decide(self.scores(drawing_steps(items)), self.settings.decision, self.settings.temperature)
        return [Answer(tile_actions(row), stopped=True) for row in labels]


def decide(scores: Scores, decision: Decision, temperature: float) -> Ints:
    """The labels, shape (items, 180), for scores of shape (items, 180, 9)."""
    if decision == "likeliest":
        likeliest: Ints = scores.argmax(-1)
        return likeliest
    return for_f1(softmax(scores / temperature, axis=-1))


def for_f1(probabilities: Scores) -> Ints:
    """The labels that paint the surest tiles, as many as maximize 2 E[right] / (painted + E[gold]).

    This is close to the expected action F1 if tiles are independent. The expected F1 of painting nothing is the probability
    that no tile is to be painted.
    """
    painting = probabilities[..., NO_ACTION + 1 :]
    best, color = painting.max(-1), painting.argmax(-1) + NO_ACTION + 1
    order = np.argsort(-best, axis=1, kind="stable")
    right = np.take_along_axis(best, order, axis=1).cumsum(axis=1)
    painted = np.arange(1, best.shape[1] + 1)
    expected = 2 * right / (painted + painting.sum((1, 2))[:, None])
    nothing = probabilities[..., NO_ACTION].prod(axis=1)
    count = np.where(expected.max(axis=1) > nothing, expected.argmax(axis=1) + 1, 0)
    rank = np.argsort(order, axis=1)
    return np.where(rank < count[:, None], color, NO_ACTION)
