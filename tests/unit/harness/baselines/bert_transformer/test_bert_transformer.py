"""The BERT + Transformer: batches, causality and decoding checked against each other, and its checkpoints."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertModel

from harness.baselines import Decoding
from harness.baselines.bert_transformer.baseline import BertNetwork, BertTransformer, PlainWords, plain
from harness.baselines.builder_decoding import BuilderPredictor
from harness.baselines.builder_network import BuilderCollator
from harness.baselines.encoders import SMALL_TOKENIZER, EncoderSettings, load_encoder
from harness.baselines.world_state import action_label
from harness.corpora import load
from harness.corpora.item import MinecraftItem, builder_turns
from harness.engines.models.bases import load_tokenizer
from harness.training.checkpoints import read_weights
from harness.training.trainable import BaselineJob
from serialization.words import h3_tokens
from tests.helpers.tiny_cnn_gru import forced

SIZES = "width=12 layers=2 heads=2 feed_forward=16 filters=6 world_layers=2 head_layers=3 stop_layers=3 perspective=coordinates"
SETS = [*(f"network.{size}" for size in SIZES.split()), "network.dropout=0.1", "training.warmup=0", "training.batch_size=1"]
TINY = BertTransformer().recipe(SETS).network


@pytest.fixture(scope="module")
def items() -> list[MinecraftItem]:
    return builder_turns(load("minecraft", "train"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random BERT for up to 64 tokens."""
    folder, tokenizer = tmp_path_factory.mktemp("bert"), load_tokenizer(str(SMALL_TOKENIZER))
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        bert = BertModel(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **sizes))
    bert.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def made(bert: Path, *, bold: float = 1.0, **sizes: int) -> tuple[BertNetwork, PlainWords]:
    """A random network; the weights of the action scores are multiplied by `bold`, which avoids near ties in greedy choices."""
    encoder, tokenizer = load_encoder(EncoderSettings(name=str(bert), tuned=False, hidden=16, layers=1))
    torch.manual_seed(0)
    network = BertNetwork(TINY.model_copy(update=sizes), encoder).eval()
    network.decoder.head[-1].weight.data *= bold
    return network, PlainWords(encoder, tokenizer)


@torch.inference_mode()  # type: ignore[untyped-decorator]
def test_a_batch_has_the_losses_of_its_items_which_depend_on_the_dialogue(bert: Path, items: list[MinecraftItem]) -> None:
    network, words = made(bert)
    collate, chosen = BuilderCollator(TINY, words), items[2:10]
    assert len({len(words.numbers(h3_tokens(item))) for item in chosen}) > 3
    assert [collate.history(item) for item in chosen] == [len(words.numbers(h3_tokens(item))) for item in chosen]
    together = network(collate(chosen))
    assert together.counts.tolist() == [len(item.actions) + 1 for item in chosen]
    alone = torch.cat([network(collate([item])).sums for item in chosen])
    torch.testing.assert_close(together.sums, alone, rtol=1e-5, atol=0)
    silent, said = (network.logits(collate([item])) for item in (replace(chosen[0], history=()), chosen[0]))
    assert not torch.isclose(silent, said).all(1).any()


@torch.inference_mode()  # type: ignore[untyped-decorator]
def test_decoding_chooses_what_teacher_forcing_finds_best(bert: Path, items: list[MinecraftItem]) -> None:
    network, words, items = *made(bert, bold=30.0), items[::2]
    predictor = BuilderPredictor(network, TINY, words, Decoding(6, constrained=True))
    for item, answer in zip(items, predictor.predict(items), strict=True):
        labels = forced(network, BuilderCollator(TINY, words), item, answer.actions).argmax(1).tolist()
        assert labels[: len(answer.actions)] == [action_label(action) for action in answer.actions]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, bert: Path, items: list[MinecraftItem]) -> Path:
    """The folder of a trained model."""
    model, folder = BertTransformer(), tmp_path_factory.mktemp("run")
    recipe = model.recipe([*SETS, f"encoder.name={bert}", "training.epochs=1", "training.learning_rate=0.01"])
    job = BaselineJob(name=model.name, baseline=model, task="minecraft", recipe=recipe, items=items[:2], dev=items[:2])
    job.train(folder, lambda text: None)
    return folder / "model"


def test_a_frozen_encoder_is_neither_trained_nor_kept(bert: Path, trained: Path) -> None:
    before = made(bert)[0].encoder.state_dict()
    loaded = BertTransformer().load(trained).network
    assert not any(name.startswith("encoder.") for name in read_weights(trained))
    assert all(torch.equal(value, before[name]) for name, value in loaded.encoder.state_dict().items())
    loaded.train()
    assert loaded.decoder.training
    assert not any(module.training for module in loaded.encoder.modules())


def test_words_are_plain_and_the_newest_are_kept(bert: Path) -> None:
    words = made(bert)[1]
    said = ["<dialogue>", "<architect>", "a", "red", "tower", "</architect>", "<builder_putdown_red>", "<builder_pickup_blue>"]
    assert plain(said) == "start. architect: a red tower . put red. remove blue."
    long = words.numbers([*(["blue"] * 100), "</architect>", "<builder_putdown_red>"])
    assert len(long) == 64
    assert words.tokenizer.decode(long).endswith("blue . put red.")
    assert words.numbers([""])
