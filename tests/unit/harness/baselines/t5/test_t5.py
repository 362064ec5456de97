"""T5 on HEXAGONS: its inputs in each context, training, beam search, and checkpoints."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.baselines import Decoding
from harness.baselines.encoders import SMALL_TOKENIZER
from harness.baselines.t5.baseline import T5, T5Network, T5Predictor, T5Recipe, load_pretrained, small
from harness.baselines.t5.text import IGNORED, OURS, Coder
from harness.corpora import load
from harness.corpora.item import HexagonsItem, Utterance, drawing_steps
from harness.engines.models.bases import load_tokenizer
from harness.errors import DataError
from harness.runs.answering import Answer
from harness.training import SHIPPED
from harness.training.checkpoints import own_weights
from harness.training.trainable import BaselineJob
from harness.worlds.hexagons import COLORS, Paint
from serialization.contexts import CONTEXTS

TINY = {"d_model": 32, "d_ff": 64, "d_kv": 16, "heads": 2, "layers": 2, "dropout": 0.0}


@pytest.fixture(scope="module")
def items() -> list[HexagonsItem]:
    return drawing_steps(load("hexagons", "train"))


def recipe_of(*overrides: str, **training: Any) -> T5Recipe:
    sizes = [f"network.{key}={value}" for key, value in TINY.items()]
    quick = {
        "batch_size": 4,
        "schedule": "constant_with_warmup",
        "warmup": 0,
        "precision": "float32",
        "learning_rate": 2e-2,
        **training,
    }
    return T5().recipe(["answer_tokens=60", *sizes, *(f"training.{key}={value}" for key, value in quick.items()), *overrides])


def made(recipe: T5Recipe) -> tuple[T5Network, Coder]:
    torch.manual_seed(0)
    model, tokens = small(recipe.network)
    return T5Network(model), Coder(recipe, tokens)


def train_t5(items: list[HexagonsItem], recipe: T5Recipe, folder: Path) -> None:
    job = BaselineJob(name="t5", baseline=T5(), task="hexagons", recipe=recipe, items=items, dev=items[:2])
    job.train(folder, lambda text: None)


@pytest.fixture(scope="module")
def few(items: list[HexagonsItem]) -> list[HexagonsItem]:
    """Four items with short answers, all different."""
    short = {len(item.actions): item for item in items if 0 < len(item.instruction) < 120}
    return [short[count] for count in sorted(short)[:4]]


def test_each_context_shows_what_it_says(items: list[HexagonsItem]) -> None:
    item = next(item for item in items if len(item.history) > 4 and item.before.cells.any())
    said = [" ".join(turn.text.split()) for turn in item.history if isinstance(turn, Utterance)]
    board = [COLORS[code] for code in item.before.cells.ravel()]
    for name, context in CONTEXTS["hexagons"].items():
        if context.chat:
            continue
        text = recipe_of(f"context={name}").input_of(item)
        assert text.startswith(OURS[0])
        assert text.endswith(f"Now: {' '.join(item.instruction.split())} {OURS[1]}")
        kept = {0: [], 1: said[-1:], None: said}[context.turns]
        assert [f"{number}. {one}" in text for number, one in enumerate(said, 1)] == [one in kept for one in said]
        shown = text.partition("Board: ")[2].partition(" Now:")[0].replace(",", "").split()
        assert shown == (board if context.board else [])


def test_the_shipped_checkpoint_without_a_layout_reads_as_it_was_trained() -> None:
    assert T5().load(SHIPPED / "t5").coder.texts.layout == "numbered"


def test_a_batch_holds_texts_with_their_ends_and_cuts_long_ones(items: list[HexagonsItem]) -> None:
    recipe = recipe_of()
    _, coder = made(recipe)
    batch = coder(items[:5])
    tokens = coder.tokens
    for n, item in enumerate(items[:5]):
        target = batch.targets[n][batch.targets[n] != IGNORED].tolist()
        assert tokens.read(target) == (recipe.written.write(item.actions), True)
        assert batch.given[n, 0] == tokens.start
        assert batch.given[n, 1 : len(target)].tolist() == target[:-1]
        read = batch.inputs[n][batch.mask[n] == 1].tolist()
        assert tokens.read(read) == (recipe.input_of(item), True)
    cut = Coder(recipe_of("input_tokens=9", "target_tokens=3"), tokens)(items[:5])
    assert (cut.inputs.shape[1], cut.targets.shape[1]) == (9, 3)
    assert cut.inputs[:, -1].tolist() == [tokens.end] * 5, "the end of an input is read"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, few: list[HexagonsItem]) -> Path:
    """The folder of a model that learned a few items by heart."""
    folder = tmp_path_factory.mktemp("run")
    recipe = recipe_of("format=grouped", "context=no-history", "augment=none", epochs=4, schedule="cosine")
    train_t5(few * 50, recipe, folder)
    return folder / "model"


@pytest.mark.parametrize("beams", [1, 3])
def test_it_learns_a_few_items_by_heart(beams: int, trained: Path, few: list[HexagonsItem]) -> None:
    model = T5().load(trained, Decoding(beams=beams))
    assert model.predict(few) == [Answer(item.actions, True) for item in few]
    config = json.loads((trained / "config.json").read_text())
    assert (config["baseline"], config["format"], config["context"], config["model"]) == ("t5", "grouped", "no-history", "small")


def test_a_damaged_model_is_refused_in_one_line(trained: Path, tmp_path: Path) -> None:
    config = Path(shutil.copytree(trained, tmp_path / "model")) / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"architecture": {"model_type": "llama"}}))
    with pytest.raises(DataError, match="does not describe an encoder-decoder") as caught:
        T5().load(config.parent)
    assert "\n" not in str(caught.value)


def test_invalid_actions_are_dropped_and_a_cut_answer_is_reported(items: list[HexagonsItem]) -> None:
    network, coder = made(recipe_of())
    predictor, tokens = T5Predictor(network, coder), coder.tokens
    ids = [tokens.start, *tokens.encode("0 4 red, 99 1 blue, 1 2 pink, 3 green, 1 0 green")]
    for written, stopped in (([*ids, tokens.end, tokens.pad], True), (ids, False)):
        network.model.generate = lambda ids=written, **given: torch.tensor([ids])
        assert predictor.predict(items[:1]) == [Answer((Paint(0, 4, "red"), Paint(1, 0, "green")), stopped)]


def test_a_pretrained_model_of_a_folder_is_tuned_and_kept_whole(tmp_path: Path, few: list[HexagonsItem]) -> None:
    local = tmp_path / "local"
    small(recipe_of().network)[0].save_pretrained(local)
    load_tokenizer(str(SMALL_TOKENIZER)).save_pretrained(local)
    recipe = recipe_of("variant=paper", f"model={local}", "context=no-history", "answer_tokens=4", epochs=1)
    assert (recipe.augment, recipe.training.schedule) == ("none", "constant_with_warmup")
    train_t5(few, recipe, tmp_path / "run")
    model = T5().load(tmp_path / "run/model")
    config = json.loads((tmp_path / "run/model/config.json").read_text())
    assert (config["model"], len(config["model_fingerprint"])) == (str(local), 16)
    before, tokens = load_pretrained(str(local))
    assert set(own_weights(T5Network(before))) == set(own_weights(model.network))
    assert (tokens.end, tokens.start) == (model.coder.tokens.end, model.coder.tokens.start)
