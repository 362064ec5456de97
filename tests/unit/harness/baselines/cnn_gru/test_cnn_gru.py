"""The CNN + GRU: its published sizes, and its fast computations compared with the plain one."""

from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from harness.baselines import Decoding
from harness.baselines.builder_decoding import BuilderPredictor
from harness.baselines.builder_network import BuilderCollator, perspective_view
from harness.baselines.cnn_gru.baseline import CnnGruNetwork, CnnGruShape
from harness.baselines.vocabulary import SPECIAL, UNKNOWN, Vocabulary, learned, read_glove
from harness.baselines.world_state import STOP, VECTOR, action_label, gold_grids, gold_labels, vectors
from harness.corpora import load
from harness.corpora.item import MinecraftItem, builder_turns
from harness.errors import DataError
from harness.worlds.minecraft import SHAPE
from serialization.words import h3_tokens
from tests.helpers.tiny_cnn_gru import TINY, forced, network_of


@pytest.fixture(scope="module")
def items() -> list[MinecraftItem]:
    return builder_turns(load("minecraft", "train"))


@pytest.fixture(scope="module")
def vocabulary(items: list[MinecraftItem]) -> Vocabulary:
    return learned(map(h3_tokens, items))


def plain_loss(network: CnnGruNetwork, vocabulary: Vocabulary, item: MinecraftItem, shape: CnnGruShape) -> torch.Tensor:
    """The sum of an item's cross-entropies as the paper describes it: step by step, every world encoded separately."""
    decoder, total, inputs = network.decoder, torch.zeros(()), torch.zeros(1, 1, VECTOR)
    _, state = network.encoder(network.words(torch.tensor([vocabulary.numbers(h3_tokens(item))])))
    view = perspective_view([item], shape)
    for grid, label in zip(gold_grids([item]).channels(), gold_labels(item), strict=True):
        _, state = decoder.gru(decoder.action(inputs), state)
        seen = torch.from_numpy(grid if view is None else np.concatenate([grid, view[0]])).view(1, -1, *SHAPE)
        for layer in decoder.world:
            seen = layer(seen).relu()
        seen = torch.cat([state.view(1, -1, 1, 1, 1).expand(-1, -1, *SHAPE), seen], dim=1)
        for layer in decoder.head[:-1]:
            seen = layer(seen).relu()
        stop, actions = decoder.stop(seen.amax(1).flatten(1)), decoder.head[-1](seen).permute(0, 2, 3, 4, 1)
        total = total + functional.cross_entropy(torch.cat([actions.flatten(1), stop], dim=1), torch.tensor([label]))
        inputs = torch.from_numpy(vectors(np.array([label])))[None] if label != STOP else inputs
    return total


@pytest.mark.parametrize(
    "change",
    [{}, {"perspective": "none", "world_layers": 3, "head_layers": 2, "stop_layers": 4, "action_layers": 1}],
    ids=str,
)
def test_a_batch_has_the_losses_of_its_items_step_by_step(
    change: dict[str, Any], items: list[MinecraftItem], vocabulary: Vocabulary
) -> None:
    shape = TINY.model_copy(update=change)
    network, collate = network_of(shape, vocabulary), BuilderCollator(shape, vocabulary)
    chosen = items[2:8]
    expected = torch.stack([plain_loss(network, vocabulary, item, shape) for item in chosen])
    together = network(collate(chosen))
    alone = torch.cat([network(collate([item])).sums for item in chosen])
    assert together.counts.tolist() == [len(item.actions) + 1 for item in chosen]
    torch.testing.assert_close(together.sums, alone, rtol=1e-5, atol=0)
    torch.testing.assert_close(together.sums, expected, rtol=1e-5, atol=0)


@pytest.mark.parametrize("decoding", [Decoding(), Decoding(3), Decoding(20, constrained=True)], ids=str)
@torch.inference_mode()  # type: ignore[untyped-decorator]
def test_answers_of_a_batch_equal_single_ones_and_the_best_under_teacher_forcing(
    decoding: Decoding, items: list[MinecraftItem], vocabulary: Vocabulary
) -> None:
    network, collate = network_of(TINY, vocabulary, bold=30.0).eval(), BuilderCollator(TINY, vocabulary)
    # Set the bias so that half of the items stop at once.
    once = (forced(network, collate, item, (), decoding.constrained)[0] for item in items)
    network.decoder.stop[-1].bias.data += median(float(scores[:STOP].max() - scores[STOP]) for scores in once)
    predictor = BuilderPredictor(network, TINY, vocabulary, decoding)
    together = predictor.predict(items)
    assert together == [answer for item in items for answer in predictor.predict([item])]
    assert {answer.stopped for answer in together} == {True, False}
    for item, answer in zip(items, together, strict=True):
        assert (len(answer.actions) < decoding.steps) == answer.stopped
        if item.before.apply(answer.actions).ignored:
            assert not decoding.constrained
            continue
        best = forced(network, collate, item, answer.actions, decoding.constrained).argmax(1).tolist()
        wanted = [*map(action_label, answer.actions), *([STOP] if answer.stopped else [])]
        assert best[: len(wanted)] == wanted


def test_glove_gives_the_words_it_has_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("the 1 2 3\nred 4 5 6\n, 0.5 -1 2e-1\na 7 8 9\nred 0 0 0\n")
    texts = [["<dialogue>", "a", "red", "block", ","]]
    vocabulary, vectors = read_glove(path, texts, 3, seed=7)
    assert vocabulary.words == [*SPECIAL, "red", ",", "a", UNKNOWN]
    assert vocabulary.numbers(["block", "<dialogue>", "a"]) == [len(vocabulary) - 1, 1, len(vocabulary) - 2]
    assert vectors.shape == (len(vocabulary), 3)
    assert vectors[[0, *vocabulary.numbers(["red", ","])]].tolist() == [[0, 0, 0], [4, 5, 6], [0.5, -1, pytest.approx(0.2)]]
    assert ((vectors[1 : len(SPECIAL)] >= 0) & (vectors[1 : len(SPECIAL)] < 1)).all()
    network = CnnGruNetwork(TINY.model_copy(update={"words": 3}), len(vocabulary), vectors)
    assert not network.words.weight.requires_grad


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["el 1 2 3", "red 1 2"], r"glove.txt:2: a line of a GloVe file of 3-d vectors is a word and 3 finite numbers"),
        (["red 1 2 nan"], r"glove.txt:1: .* finite"),
        (["el 1 2 3"], r"glove.txt: it has no vector for any word"),
    ],
)
def test_a_broken_glove_file_is_an_error_of_one_line(tmp_path: Path, lines: list[str], problem: str) -> None:
    (tmp_path / "glove.txt").write_text("\n".join(lines))
    with pytest.raises(DataError, match=problem) as caught:
        read_glove(tmp_path / "glove.txt", [["red"]], 3, 0)
    assert "\n" not in str(caught.value)
