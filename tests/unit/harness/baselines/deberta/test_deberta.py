"""The HEXAGONS tile classifier: its texts, the inputs that its variants see, and the reload of a trained model."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.baselines.deberta.baseline import Deberta, DebertaRecipe, build, decide, for_f1
from harness.baselines.deberta.batches import InstructionReader
from harness.baselines.deberta.network import CLASSES, NO_ACTION
from harness.baselines.encoders import EncoderSettings, load_encoder
from harness.corpora import load
from harness.corpora.item import Executed, HexagonsItem, Utterance, drawing_steps
from harness.errors import DataError
from harness.training.trainable import BaselineJob
from harness.worlds.hexagons import CODES, TILES, Board, Paint
from serialization.contexts import CONTEXTS

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


def test_a_text_is_never_longer_than_the_encoder_takes() -> None:
    long = replace(
        ITEM, instruction="paint it red " * 500, history=(Utterance("Instructor", "and blue " * 90), Executed(())) * 40
    )
    for variant, context in (("joint", "full-history"), ("paper", "full-history+oracle-board")):
        network, collate = made(f"variant={variant}", f"context={context}")
        for item in (long, replace(long, instruction="green")):
            assert 600 < collate([item]).tokens.shape[-1] <= network.encoder.config.max_position_embeddings


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_items_loss_does_not_depend_on_its_batch(variant: str, items: list[HexagonsItem]) -> None:
    network, collate = made(f"variant={variant}", "context=full-history")
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
        ("tiles 3 to 12, in GREEN", {"3": 3, "12": 12}, {"green": 1 + CODES["green"]}),
        ("the 18th and the 19th column", {"18": 18}, {}),
        ("eighteen white ones", {"eighteen": 18}, {"white": 1 + CODES["white"]}),
    ],
)
def test_tokens_of_numbers_and_colors_are_marked(text: str, number: dict[str, int], color: dict[str, int]) -> None:
    encoder, tokenizer = load_encoder(EncoderSettings(name="minilm", tuned=True, hidden=32, layers=1), weights=False)
    reader = InstructionReader(tokenizer, encoder, CONTEXTS["hexagons"]["no-history"])
    [[tokens]] = reader.instructions_of([replace(ITEM, instruction=text)])
    for word, value in {**number, **color}.items():
        of_word = [token for token in tokens if (token.color if word in color else token.number) == value]
        assert tokenizer.decode([token.id for token in of_word]).lower().replace("##", "").strip().startswith(word)
    assert {token.number for token in tokens} == {0, *number.values()}
    assert {token.color for token in tokens} == {0, *color.values()}


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


def write_encoder(folder: Path, seed: int = 0) -> str:
    """A random encoder in the form of a pretrained one."""
    torch.manual_seed(seed)
    for part in load_encoder(EncoderSettings(name="small", tuned=True, hidden=32, layers=1)):
        part.save_pretrained(folder)
    return str(folder)


def train(folder: Path, items: Sequence[HexagonsItem], *more: str) -> Path:
    """The folder of the trained model."""
    recipe = tiny("training.epochs=1", "training.learning_rate=0.01", *more)
    job = BaselineJob(name="deberta", baseline=Deberta(), task="hexagons", recipe=recipe, items=items[:6], dev=items[6:9])
    job.train(folder, lambda text: None)
    return folder / "model"


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_trained_model_keeps_how_it_decides(variant: str, tmp_path: Path, items: list[HexagonsItem]) -> None:
    model = train(tmp_path, items, f"variant={variant}", "temperature=1.5")
    assert {path.name for path in model.iterdir()} == {"config.json", "model.safetensors"}
    settings = Deberta().load(model).settings
    assert (settings.decision, settings.temperature) == ("likeliest" if variant == "paper" else "f1", 1.5)
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"temperature": None}))
    with pytest.raises(DataError, match=r"config\.json: temperature: [^\n]*$"):
        Deberta().load(model)


@pytest.mark.parametrize("tuned", [False, True])
def test_a_checkpoint_has_an_encoder_if_it_was_trained(tuned: bool, tmp_path: Path, items: list[HexagonsItem]) -> None:
    name = write_encoder(tmp_path / "encoder")
    model = train(tmp_path / "run", items, f"encoder.name={name}", f"encoder.tuned={tuned}")
    expected = Deberta().load(model).predict(items)
    write_encoder(tmp_path / "encoder", seed=1)
    if tuned:
        assert Deberta().load(model).predict(items) == expected
        return
    with pytest.raises(DataError, match="trained with a different encoder"):
        Deberta().load(model)


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


def test_a_low_temperature_paints_fewer_unsure_tiles() -> None:
    scores = np.log(two_colors([0.9, 0.35, 0.35, 0.05]))
    assert decide(scores, "likeliest", 1).tolist() == decide(scores, "f1", 0.5).tolist() == [[2, 0, 0, 0]]
    assert decide(scores, "f1", 1).tolist() == [[2, 2, 2, 0]]
