"""The HEXAGONS tile classifier: its texts, the inputs that its variants see, and the reload of a trained model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.baselines.deberta.baseline import Deberta, DebertaRecipe, best_temperature, build, decide, for_f1
from harness.baselines.deberta.batches import InstructionReader, TileCollator, tile_actions, tile_labels
from harness.baselines.deberta.network import CLASSES, NO_ACTION, comparisons, offsets
from harness.baselines.encoders import EncoderSettings, load_encoder
from harness.corpora import load
from harness.corpora.item import Executed, HexagonsItem, Utterance, drawing_steps
from harness.errors import DataError, UsageError
from harness.training.origin import Origin
from harness.worlds.hexagons import CODES, COLUMNS, DIRECTIONS, ROWS, TILES, Board, Paint, Tile, on_board, step
from serialization.contexts import CONTEXTS, get_context

TINY = [
    *("encoder.name=small", "encoder.hidden=32", "encoder.layers=1"),
    *("network.heads=2", "network.width=32", "network.text_layers=1", "network.tile_layers=2", "network.dropout=0"),
    *("network.chunk=90", "training.warmup=0", "training.precision=float32"),
]
VARIANTS = ("paper", "joint")

FIRST, SECOND = (Paint(0, 0, "red"),), (Paint(1, 1, "blue"), Paint(2, 17, "white"))
BEFORE = Board().apply([*FIRST, *SECOND]).board
ACTIONS = (Paint(0, 0, "green"), Paint(9, 17, "white"))
ITEM = HexagonsItem(
    id="hexagons/train/1/3",
    split="train",
    instruction="third one green",
    history=(Utterance("Instructor", "first one red"), Executed(FIRST), Utterance("Instructor", "second blue"), Executed(SECOND)),
    before=BEFORE,
    actions=ACTIONS,
    after=BEFORE.apply(ACTIONS).board,
    group="image",
    cluster="hexagons/train/1",
)


def tiny(*more: str) -> DebertaRecipe:
    return Deberta().recipe([*TINY, *more])


def made(*more: str) -> tuple[Any, Any]:
    torch.manual_seed(0)
    network, collate, _ = build(tiny(*more))
    return network.eval(), collate


@pytest.fixture(scope="module")
def items() -> list[HexagonsItem]:
    return drawing_steps(load("hexagons", "train"))


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return load_encoder(EncoderSettings(name="small", tuned=True, hidden=32, layers=1))[1]


@pytest.fixture(scope="module")
def mdeberta(tmp_path_factory: pytest.TempPathFactory, tokenizer: Any) -> Path:
    """A tiny random model of mDeBERTa's architecture, with our own tokenizer."""
    from transformers import DebertaV2Config, DebertaV2Model

    folder = tmp_path_factory.mktemp("mdeberta")
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    kind = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False, "type_vocab_size": 0}
    DebertaV2Model(DebertaV2Config(vocab_size=len(tokenizer), max_position_embeddings=2048, **sizes, **kind)).save_pretrained(
        folder
    )
    tokenizer.save_pretrained(folder)
    return folder


def test_labels_stand_for_actions_and_back() -> None:
    labels = tile_labels([replace(ITEM, actions=tuple(reversed(ACTIONS)))])
    assert labels.shape == (1, TILES)
    assert tile_actions(labels[0]) == [*ACTIONS]


@pytest.mark.parametrize("name", [name for name, context in CONTEXTS["hexagons"].items() if not context.chat])
def test_a_context_says_which_instructions_and_whether_the_board_is_seen(name: str, tokenizer: Any) -> None:
    _, collate = made(f"context={name}")
    batch = collate([ITEM])
    parts = [text.strip() for text in tokenizer.decode(batch.tokens[0]).removeprefix("<|bos|>").split(tokenizer.eos_token)]
    said = ["first one red", "second blue", "third one green"]
    shown = {"no-history": 1, "one-previous": 2, "full-history": 3}.get(name.split("+")[0], 1)
    assert [part for part in parts if part] == [tokenizer.bos_token * (n == 0) + part for n, part in enumerate(said[-shown:])]
    expected = BEFORE.cells.ravel() if "board" in name else np.zeros(TILES)
    assert np.array_equal(batch.board[0], expected)
    first_of_turn = (batch.places[0] == 0).nonzero().flatten().tolist()
    assert batch.turns[0][first_of_turn].tolist() == [shown - 1, *range(shown - 1, -1, -1)]
    assert batch.mask.all()


def test_the_papers_variant() -> None:
    paper = Deberta().recipe(["variant=paper"])
    assert (paper.encoder.name, paper.encoder.tuned, paper.encoder.depth) == ("microsoft/mdeberta-v3-base", True, None)
    assert (paper.training.epochs, paper.training.batch_size, paper.decision) == (20, 4, "likeliest")


def test_a_text_is_never_longer_than_the_encoder_takes() -> None:
    long = replace(
        ITEM, instruction="paint it red " * 500, history=(Utterance("Instructor", "and blue " * 90), Executed(())) * 40
    )
    for settings in (["variant=joint"], ["variant=paper", "context=full-history+oracle-board"]):
        network, collate = made(*settings)
        for item in (long, replace(long, instruction="green")):
            assert 600 < collate([item]).tokens.shape[-1] <= network.encoder.config.max_position_embeddings


def test_an_offset_is_the_same_moves_from_any_tile() -> None:
    numbers, tiles = offsets(), [Tile(*place) for place in product(range(ROWS), range(COLUMNS))]
    places = {tile: number for number, tile in enumerate(tiles)}
    of = {}
    for name, count in product(DIRECTIONS, range(1, 4)):
        reached = [(tile, step(tile, name, count)) for tile in tiles]
        (of[name, count],) = {int(numbers[places[tile], places[end]]) for tile, end in reached if on_board(*end)}
    assert len({*of.values(), int(numbers[100, 100])}) == 1 + 3 * len(DIRECTIONS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_items_loss_does_not_depend_on_its_batch(variant: str, items: list[HexagonsItem], mdeberta: Path) -> None:
    encoder = (f"encoder.name={mdeberta}",) if variant == "paper" else ()
    network, collate = made(f"variant={variant}", "context=full-history", *encoder)
    some = items[2:5]
    together = network(collate(some))
    alone = torch.cat([network(collate([item])).sums for item in some])
    assert network.logits(collate(some)).shape == (3, TILES, CLASSES)
    assert together.counts.tolist() == [TILES if variant == "paper" else 1] * 3
    torch.testing.assert_close(together.sums, alone, rtol=1e-4, atol=1e-4)
    each = torch.nn.functional.cross_entropy(network.logits(collate(some))[0], collate(some).labels[0], reduction="sum")
    counted = 1 if variant == "paper" else len(some[0].actions) + 4
    torch.testing.assert_close(together.sums[0], each / counted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("text", "number", "color"),
    [
        ("the Fifth tile", {"fifth": 5}, {}),
        ("tiles 3 to 12, in GREEN", {"3": 3, "12": 12}, {"green": 1 + CODES["green"]}),
        ("the 18th and the 19th column", {"18": 18}, {}),
        ("eighteen white ones", {"eighteen": 18}, {"white": 1 + CODES["white"]}),
    ],
)
def test_tokens_of_numbers_and_colors_are_marked(text: str, number: dict[str, int], color: dict[str, int]) -> None:
    encoder, tokenizer = load_encoder(EncoderSettings(name="minilm", tuned=True, hidden=32, layers=1), weights=False)
    reader = InstructionReader(tokenizer, encoder, get_context("hexagons", "no-history"))
    [[tokens]] = reader.instructions_of([replace(ITEM, instruction=text)])
    for word, value in {**number, **color}.items():
        of_word = [token for token in tokens if (token.color if word in color else token.number) == value]
        assert tokenizer.decode([token.id for token in of_word]).lower().replace("##", "").strip().startswith(word)
    assert {token.number for token in tokens} == {0, *number.values()}
    assert {token.color for token in tokens} == {0, *color.values()}


def test_comparisons_are_of_coordinates_counted_from_every_side() -> None:
    table, coordinates = comparisons(), (3, 16, 8, 3)
    for number in range(1, COLUMNS + 1):
        expected = [c == number for c in coordinates] + [c < number for c in coordinates] + [c > number for c in coordinates]
        assert table[2 * COLUMNS + 15, number].tolist() == expected
    assert not table[:, 0].any()


@pytest.mark.parametrize(
    ("variant", "context", "changed"),
    [
        ("joint", "full-history", 0),
        ("joint", "predicted-board", TILES),
        ("paper", "oracle-board", TILES),
    ],
)
def test_which_variants_see_a_change_of_the_board(variant: str, context: str, changed: int) -> None:
    network, collate = made(f"variant={variant}", f"context={context}")
    other = replace(ITEM, before=BEFORE.apply([Paint(4, 5, "purple")]).board)
    with torch.inference_mode():
        moved = (network.logits(collate([ITEM])) - network.logits(collate([other])))[0].abs().amax(1) > 1e-7
    assert int(moved.sum()) == changed


def test_chunks_of_the_published_input_have_the_gradients_of_the_whole(items: list[HexagonsItem]) -> None:
    network, collate = made("variant=paper", "context=no-history")
    for module in network.train().modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    grads = []
    for network.chunk in (45, TILES):
        network.zero_grad()
        network(collate(items[:1])).sums.sum().backward()
        grads.append({name: parameter.grad.clone() for name, parameter in network.named_parameters()})
    for name, grad in grads[0].items():
        torch.testing.assert_close(grad, grads[1][name], rtol=1e-3, atol=1e-3, msg=name)


def test_an_encoder_of_short_texts_is_refused(tokenizer: Any) -> None:
    encoder = load_encoder(EncoderSettings(name="small", tuned=True, hidden=32, layers=1))[0]
    encoder.config.max_position_embeddings = 200
    with pytest.raises(
        UsageError, match=r"encoder\.name: its texts have at most 200 tokens; variant paper in context oracle-board"
    ):
        TileCollator(InstructionReader(tokenizer, encoder, get_context("hexagons", "oracle-board")))
    TileCollator(InstructionReader(tokenizer, encoder, get_context("hexagons", "full-history")))


def write_encoder(folder: Path, seed: int = 0) -> str:
    """A random encoder in the form of a pretrained one."""
    torch.manual_seed(seed)
    for part in load_encoder(EncoderSettings(name="small", tuned=True, hidden=32, layers=1)):
        part.save_pretrained(folder)
    return str(folder)


def train(folder: Path, items: Sequence[HexagonsItem], *more: str, start: Path | None = None) -> list[str]:
    said: list[str] = []
    recipe = tiny("training.epochs=2", "training.learning_rate=0.01", *more)
    Deberta().train(items[:6], items[6:9], recipe, folder, said.append, Origin(start))
    return said


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_trained_model_answers_as_its_network_did(variant: str, tmp_path: Path, items: list[HexagonsItem]) -> None:
    said = train(tmp_path, items, f"variant={variant}")
    assert {path.name for path in (tmp_path / "model").iterdir()} == {"config.json", "model.safetensors", "README.md"}
    assert f"variant {variant}, context full-history: " in said[0]
    config = json.loads((tmp_path / "model/config.json").read_text())
    assert f"temperature of the scores: {config['temperature']:g}, " in said[1]
    assert f"variant {variant}" in (tmp_path / "model/README.md").read_text()
    first, again = Deberta().load(tmp_path / "model"), Deberta().load(tmp_path / "model")
    assert first.how == (config["decision"], config["temperature"])
    assert config["decision"] == ("likeliest" if variant == "paper" else "f1")
    assert not first.rolls_out
    assert first.predict(items) == again.predict(items)
    gold = tile_labels(items[6:9])
    assert best_temperature(first.scores(items[6:9]), gold, config["decision"]) == first.how[1]


@pytest.mark.parametrize("tuned", [False, True])
def test_a_checkpoint_has_an_encoder_if_it_was_trained(tuned: bool, tmp_path: Path, items: list[HexagonsItem]) -> None:
    name, model = write_encoder(tmp_path / "encoder"), tmp_path / "run/model"
    train(tmp_path / "run", items, f"encoder.name={name}", f"encoder.tuned={tuned}")
    expected = Deberta().load(model).predict(items)
    write_encoder(tmp_path / "encoder", seed=1)
    if tuned:
        assert Deberta().load(model).predict(items) == expected
        return
    for again in (lambda: Deberta().load(model), lambda: train(tmp_path / "more", items, f"encoder.name={name}", start=model)):
        with pytest.raises(DataError, match="trained with a different encoder"):
            again()


def test_a_broken_configuration_is_an_error_of_one_line(tmp_path: Path, items: list[HexagonsItem]) -> None:
    train(tmp_path, items, "training.epochs=1")
    path = tmp_path / "model/config.json"
    config = json.loads(path.read_text())
    broken = {"temperature": (None, "temperature is missing or not a number"), "network": ({"width": 32}, r"network\.")}
    for key, (value, problem) in broken.items():
        path.write_text(json.dumps(config | {key: value}))
        with pytest.raises(DataError, match=problem) as caught:
            Deberta().load(tmp_path / "model")
        assert "\n" not in str(caught.value)


def two_colors(painting: list[float]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Probabilities of tiles that may be painted mostly in color 2, sometimes in color 1."""
    chance = np.array(painting, np.float32)
    return np.stack([1 - chance, chance / 4, 3 * chance / 4], axis=-1)[None]


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=6))
def test_no_other_set_of_tiles_has_a_higher_expected_f1(painting: list[float]) -> None:
    (labels,) = for_f1(two_colors(painting))
    assert set(labels) <= {NO_ACTION, 2}
    chances = two_colors(painting)[0, :, 1:]

    def expected(some: tuple[int, ...]) -> float:
        if not some:
            return float((1 - chances.sum(1)).prod())
        return 2 * float(chances[list(some)].max(1).sum()) / (len(some) + float(chances.sum()))

    sets = (some for count in range(len(painting) + 1) for some in combinations(range(len(painting)), count))
    assert expected(tuple(np.flatnonzero(labels))) == pytest.approx(max(map(expected, sets)), abs=1e-5)


def test_the_temperature_is_the_best_on_dev_and_one_if_none_is_better() -> None:
    gold, scores = np.array([[2, 0, 0, 0]]), np.log(two_colors([0.9, 0.35, 0.35, 0.05]))
    assert decide(scores, "likeliest", 1).tolist() == [[2, 0, 0, 0]]
    assert decide(scores, "f1", 1).tolist() == [[2, 2, 2, 0]]
    assert best_temperature(scores, gold, "likeliest") == best_temperature(scores, np.array([[2, 2, 2, 0]]), "f1") == 1
    chosen = best_temperature(scores, gold, "f1")
    assert chosen < 1
    assert decide(scores, "f1", chosen).tolist() == gold.tolist()
