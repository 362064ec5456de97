"""The CNN + GRU: its published sizes, and its fast computations compared with the plain one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import torch

from harness.baselines import Decoding
from harness.baselines.builder_decoding import BuilderPredictor
from harness.baselines.builder_network import BuilderCollator
from harness.baselines.cnn_gru.baseline import CnnGru, CnnGruNetwork
from harness.baselines.vocabulary import SPECIAL, UNKNOWN, Vocabulary, learned, read_glove
from harness.baselines.world_state import STOP, action_label
from harness.corpora import load
from harness.corpora.item import MinecraftItem, builder_turns
from harness.errors import DataError
from harness.training.checkpoints import own_weights, write_model
from harness.training.job import Trained
from harness.training.origin import Origin, configuration
from serialization.words import h3_tokens
from tests.helpers import plain_cnn_gru as plain
from tests.helpers.tiny_cnn_gru import TINY, forced, network_of


@pytest.fixture(scope="module")
def items() -> list[MinecraftItem]:
    return builder_turns(load("minecraft", "train"))


@pytest.fixture(scope="module")
def vocabulary(items: list[MinecraftItem]) -> Vocabulary:
    return learned(map(h3_tokens, items))


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"perspective": "none", "world_layers": 3, "head_layers": 2, "stop_layers": 4, "action_layers": 1},
    ],
    ids=str,
)
def test_a_batch_has_the_losses_of_its_items_step_by_step(
    change: dict[str, Any], items: list[MinecraftItem], vocabulary: Vocabulary
) -> None:
    shape = TINY.model_copy(update=change)
    network, collate = network_of(shape, vocabulary), BuilderCollator(shape, vocabulary)
    chosen = items[2:8]
    expected = torch.stack(
        [plain.loss(network, vocabulary, i, shape.perspective, plain.worlds(i, shape.perspective)) for i in chosen]
    )
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


def write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_glove_gives_the_words_it_has_in_its_order(tmp_path: Path) -> None:
    path = write(tmp_path / "glove.txt", ["the 1 2 3", "red 4 5 6", ", 0.5 -1 2e-1", "a 7 8 9", "red 0 0 0"])
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
        (["red 1 2 3", "a 1 2"], r"glove.txt:2: a line of a GloVe file of 3-d vectors is a word and 3 numbers"),
        (["red 1 2 x"], r"glove.txt:1: .* finite"),
        (["red 1 2 nan"], r"glove.txt:1: .* finite"),
        (["el 1 2 3"], r"glove.txt: it has no vector for any word"),
    ],
)
def test_a_broken_glove_file_is_an_error_of_one_line(tmp_path: Path, lines: list[str], problem: str) -> None:
    with pytest.raises(DataError, match=problem) as caught:
        read_glove(write(tmp_path / "glove.txt", lines), [["red"]], 3, 0)
    assert "\n" not in str(caught.value)


def test_rare_words_are_learned_as_the_unknown_one() -> None:
    made = learned([["red", "once", "<builder>"], ["red", "<builder>"]])
    assert made.words == [*SPECIAL, "red", UNKNOWN]
    with pytest.raises(ValueError, match="distinct"):
        Vocabulary(["<pad>", "red", "red", "<unk>"])


def test_a_saved_model_answers_as_before(tmp_path: Path, items: list[MinecraftItem], vocabulary: Vocabulary) -> None:
    recipe = CnnGru().recipe([]).model_copy(update={"network": TINY})
    network = network_of(TINY, vocabulary)
    trained = Trained(steps=1, kept=1, seconds=0, curve=[{"step": 1, "epoch": 1, "dev_loss": 1.0}])
    config = configuration("cnn-gru", "minecraft", recipe, trained, 18, Origin())
    write_model(tmp_path, config, own_weights(network), vocabulary.words, "card")
    expected = BuilderPredictor(network.eval(), TINY, vocabulary).predict(items)
    assert CnnGru().load(tmp_path).predict(items) == expected
