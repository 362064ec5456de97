"""T5 on HEXAGONS: its inputs in each context, training, beam search, and checkpoints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from harness.baselines import Decoding
from harness.baselines.encoders import SMALL_TOKENIZER
from harness.baselines.t5.baseline import T5, T5Network, T5Predictor, T5Recipe, load_pretrained, own_config, small
from harness.baselines.t5.text import IGNORED, OURS, Coder, TextTokens
from harness.cli import cli
from harness.corpora import load
from harness.corpora.item import HexagonsItem, Utterance, drawing_steps
from harness.engines.models.bases import load_tokenizer
from harness.errors import DataError, EngineError, UsageError
from harness.runs.answering import Answer
from harness.training.checkpoints import SHIPPED, own_weights, write_model
from harness.training.job import Trained
from harness.training.origin import Origin, configuration
from harness.worlds.hexagons import COLORS, Paint
from serialization.contexts import CONTEXTS
from tests.helpers.tiny import build_tiny_model

TINY = {"d_model": 32, "d_ff": 64, "d_kv": 16, "heads": 2, "layers": 2, "dropout": 0.0}


@pytest.fixture(scope="module")
def items() -> list[HexagonsItem]:
    return drawing_steps(load("hexagons", "train"))


def recipe_of(*overrides: str, **training: Any) -> T5Recipe:
    sizes = [f"network.{key}={value}" for key, value in TINY.items()]
    quick = {"batch_size": 4, "schedule": "constant", "warmup": 0, "precision": "float32", "learning_rate": 2e-2, **training}
    return T5().recipe(["answer_tokens=60", *sizes, *(f"training.{key}={value}" for key, value in quick.items()), *overrides])


def made(recipe: T5Recipe) -> tuple[T5Network, Coder]:
    torch.manual_seed(0)
    model, tokens = small(recipe.network)
    return T5Network(model), Coder(recipe, tokens)


def save(folder: Path, recipe: T5Recipe, network: T5Network, tokens: TextTokens) -> Path:
    trained = Trained(steps=1, kept=1, seconds=0, curve=[{"step": 1, "epoch": 1, "dev_loss": 1.0}])
    config = configuration("t5", "hexagons", recipe, trained, 4, Origin(), **own_config(network, tokens, None))
    write_model(folder, config, own_weights(network), [tokens.tokenizer.to_str()], "card")
    return folder


@pytest.fixture(scope="module")
def few(items: list[HexagonsItem]) -> list[HexagonsItem]:
    """Four items with short answers, all different."""
    short = {len(item.actions): item for item in items if 0 < len(item.instruction) < 120}
    return [short[count] for count in sorted(short)[:4]]


def fit(folder: Path, items: Sequence[HexagonsItem], recipe: T5Recipe) -> T5Predictor:
    T5().train(items, items[:2], recipe, folder, lambda text: None)
    return T5().load(folder / "model")


@pytest.mark.parametrize("context", [name for name, context in CONTEXTS["hexagons"].items() if not context.chat])
def test_each_context_shows_what_it_says(context: str, items: list[HexagonsItem]) -> None:
    item = next(item for item in items if len(item.history) > 4 and item.before.cells.any())
    text, now = recipe_of(f"context={context}").input_of(item), " ".join(item.instruction.split())
    shown = CONTEXTS["hexagons"][context]
    said = [" ".join(turn.text.split()) for turn in item.history if isinstance(turn, Utterance)]
    assert text.startswith(OURS[0])
    assert text.endswith(f"Now: {now} {OURS[1]}")
    kept = {0: [], 1: said[-1:], None: said}[shown.turns]
    assert [f"{number}. {one}" in text for number, one in enumerate(said, 1)] == [one in kept for one in said]
    written = text.partition("Board: ")[2].partition(" Now:")[0].replace(",", "").split()
    assert written == ([COLORS[code] for code in item.before.cells.ravel()] if shown.board else [])
    assert "\n" not in text


def test_the_shipped_checkpoint_without_a_layout_reads_as_it_was_trained() -> None:
    assert T5().load(SHIPPED / "t5").coder.texts.layout == "numbered"


def test_a_batch_holds_texts_with_their_ends_and_cuts_long_ones(items: list[HexagonsItem]) -> None:
    recipe = recipe_of()
    _, coder = made(recipe)
    batch = coder(items[:5])
    tokens = coder.tokens
    for n, item in enumerate(items[:5]):
        target = batch.targets[n][batch.targets[n] != IGNORED].tolist()
        assert tokens.read(target) == (recipe.target_of(item), True)
        assert batch.given[n, 0] == tokens.start
        assert batch.given[n, 1 : len(target)].tolist() == target[:-1]
        read = batch.inputs[n][batch.mask[n] == 1].tolist()
        assert tokens.read(read) == (recipe.input_of(item), True)
    cut = Coder(recipe_of("input_tokens=9", "target_tokens=3"), tokens)(items[:5])
    assert (cut.inputs.shape[1], cut.targets.shape[1]) == (9, 3)
    assert cut.inputs[:, -1].tolist() == [tokens.end] * 5, "the end of an input is read"


def test_it_learns_a_few_items_by_heart(tmp_path: Path, few: list[HexagonsItem]) -> None:
    recipe = recipe_of("format=grouped", "context=no-history", "augment=none", epochs=4, schedule="cosine")
    model = fit(tmp_path, few * 50, recipe)
    expected = [Answer(item.actions, True) for item in few]
    for decoding in (Decoding(), Decoding(beams=1)):
        model.decoding = decoding
        assert model.predict(few) == expected
    config = json.loads((tmp_path / "model/config.json").read_text())
    assert (config["baseline"], config["format"], config["context"], config["model"]) == ("t5", "grouped", "no-history", "small")
    assert "| 4 |" in (tmp_path / "model/README.md").read_text()


def test_invalid_actions_are_dropped_and_a_cut_answer_is_reported(items: list[HexagonsItem]) -> None:
    network, coder = made(recipe_of())
    predictor, tokens = T5Predictor(network, coder), coder.tokens
    ids = [tokens.start, *tokens.encode("0 4 red, 99 1 blue, 1 2 pink, 3 green, 1 0 green")]
    for written, stopped in (([*ids, tokens.end, tokens.pad], True), (ids, False)):
        network.model.generate = lambda ids=written, **given: torch.tensor([ids])
        assert predictor.predict(items[:1]) == [Answer((Paint(0, 4, "red"), Paint(1, 0, "green")), stopped)]


def test_training_begins_with_another_runs_model(tmp_path: Path, items: list[HexagonsItem]) -> None:
    recipe = recipe_of("augment=none", epochs=1, learning_rate=1e-9)
    network, coder = made(recipe)
    with torch.no_grad():
        network.model.shared.weight[5] = 0.125
    start = save(tmp_path / "start", recipe, network, coder.tokens)
    T5().train(items[:2], items[:2], recipe, tmp_path / "more", lambda text: None, Origin(start))
    more = T5().load(tmp_path / "more/model")
    torch.testing.assert_close(more.network.model.shared.weight[5], torch.full((32,), 0.125))
    for override, problem in (("model=other", "built from the model small"), ("network.d_model=48", "another variant")):
        with pytest.raises(DataError, match=problem):
            T5().train(items[:2], items[:2], recipe_of(override), tmp_path / "no", lambda text: None, Origin(start))


def test_a_pretrained_model_of_a_folder_is_tuned_and_kept_whole(tmp_path: Path, few: list[HexagonsItem]) -> None:
    local = tmp_path / "local"
    small(recipe_of().network)[0].save_pretrained(local)
    load_tokenizer(str(SMALL_TOKENIZER)).save_pretrained(local)
    recipe = recipe_of("variant=paper", f"model={local}", "context=no-history", "answer_tokens=4", epochs=1)
    assert (recipe.augment, recipe.training.schedule) == ("none", "constant")
    model = fit(tmp_path / "run", few, recipe)
    config = json.loads((tmp_path / "run/model/config.json").read_text())
    assert (config["model"], len(config["model_fingerprint"])) == (str(local), 16)
    before, tokens = load_pretrained(str(local))
    assert set(own_weights(T5Network(before))) == set(own_weights(model.network))
    assert (tokens.end, tokens.start) == (model.coder.tokens.end, model.coder.tokens.start)


def test_a_model_that_is_not_an_encoder_decoder_is_an_error_of_one_line(tmp_path: Path) -> None:
    llama = build_tiny_model(tmp_path / "llama")
    for name, problem in (
        (str(llama), "cannot load an encoder-decoder"),
        (str(tmp_path), "no config.json"),
        ("/nowhere", "no such folder"),
    ):
        with pytest.raises(EngineError, match=problem) as caught:
            load_pretrained(name)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("override", ["context=whole", "format=lines", "variant=large"])
def test_a_bad_override_is_refused_by_name(override: str) -> None:
    with pytest.raises(UsageError, match=override.partition("=")[2]):
        T5().recipe([override])


def test_the_papers_variant_and_the_small_one() -> None:
    paper, own = T5().recipe(["variant=paper"]), T5().recipe([])
    assert (paper.model, paper.training.epochs, paper.training.batch_size) == ("google/t5-base-lm-adapt", 20, 4)
    assert (paper.layout, own.layout) == ("paper", "numbered")
    assert (paper.format, paper.context, Decoding().beams) == ("triplets", "full-history", 3)
    assert 6e6 < sum(parameter.numel() for parameter in small(own.network)[0].parameters()) < 10e6


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (
            lambda folder: edit(folder / "config.json", architecture={"model_type": "llama"}),
            "does not describe an encoder-decoder",
        ),
        (lambda folder: edit(folder / "config.json", context="whole"), "no context for hexagons"),
        (lambda folder: edit(folder / "config.json", tokens={"pad": 0, "end": 99999, "start": 0}), "not the model's tokenizer"),
        (lambda folder: (folder / "vocabulary.json").write_text('["red"]'), "not the model's tokenizer"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"no"), r"model\.safetensors cannot be read"),
    ],
)
def test_a_saved_model_answers_as_before_and_an_incomplete_one_is_refused(
    damage: Any, problem: str, tmp_path: Path, items: list[HexagonsItem]
) -> None:
    recipe = recipe_of("answer_tokens=12", "format=grouped")
    network, coder = made(recipe)
    folder = save(tmp_path / "model", recipe, network, coder.tokens)
    assert T5().load(folder).predict(items[:3]) == T5Predictor(network.eval(), coder).predict(items[:3])
    damage(folder)
    with pytest.raises(DataError, match=problem) as caught:
        T5().load(folder)
    assert "\n" not in str(caught.value)


def test_the_commands_train_it_and_let_it_answer_on_boards_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sets = {f"network.{key}": value for key, value in TINY.items()} | {"context": "predicted-board", "answer_tokens": 8}
    given = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    trained = CliRunner().invoke(cli, ["baseline", "train", "t5", "--max-epochs", "1", "--limit", "6", *given])
    assert trained.exit_code == 0, trained.output
    assert "model small: " in trained.output
    done = CliRunner().invoke(cli, ["baseline", "predict", "t5", "--beams", "2", "--limit", "5", "--json"])
    assert done.exit_code == 0, done.output
    scores = json.loads(done.stdout)
    assert (scores["task"], scores["items"], scores["missing"], scores["errors"]) == ("hexagons", 5, 0, 0)
    assert len([*Path("runs").glob("hexagons_dev_*_2-beams_first-5")]) == 1
