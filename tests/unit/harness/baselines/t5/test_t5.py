"""T5 on HEXAGONS: its inputs in each context, training, beam search, its grammar, and checkpoints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from harness.baselines import Decoding
from harness.baselines.t5.baseline import T5, T5Predictor, T5Recipe, own_config
from harness.baselines.t5.grammar import Held
from harness.baselines.t5.network import T5Network, load_pretrained, small
from harness.baselines.t5.text import IGNORED, OURS, Coder, TextTokens
from harness.cli import cli
from harness.corpora import load
from harness.corpora.item import HexagonsItem, Utterance, drawing_steps
from harness.errors import DataError, EngineError, UsageError
from harness.runs.answering import Answer
from harness.training.checkpoints import SHIPPED, own_weights, write_model
from harness.training.job import Trained
from harness.training.origin import Origin, configuration
from harness.worlds.hexagons import COLORS, Paint
from serialization.contexts import CONTEXTS
from serialization.formats import grouped
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
@pytest.mark.parametrize("board", ["colors", "grouped"])
def test_each_context_shows_what_it_says(context: str, board: str, items: list[HexagonsItem]) -> None:
    item = next(item for item in items if len(item.history) > 4 and item.before.cells.any())
    text = recipe_of(f"context={context}", f"board={board}").input_of(item)
    shown = CONTEXTS["hexagons"][context]
    said = [" ".join(turn.text.split()) for turn in item.history if isinstance(turn, Utterance)]
    assert text.startswith(OURS[0])
    assert text.endswith(f"Now: {' '.join(item.instruction.split())} {OURS[1]}")
    kept = {0: [], 1: said[-1:], None: said}[shown.turns]
    assert [f"{number}. {one}" in text for number, one in enumerate(said, 1)] == [one in kept for one in said]
    assert ("Board:" in text) == bool(shown.board)
    if shown.board and board == "colors":
        written = text.partition("Board: ")[2].partition(" Now:")[0].replace(",", "").split()
        assert written == [COLORS[code] for code in item.before.cells.ravel()]
    elif shown.board:
        written_board = text.partition("Board: ")[2].partition(" Now:")[0]
        assert set(grouped.parse(written_board, first=0).actions) == set(item.before.painted())
    assert "\n" not in text


@pytest.mark.parametrize("context", [name for name, context in CONTEXTS["hexagons"].items() if not context.chat])
def test_the_paper_s_input_has_its_prefix_and_suffix(context: str, items: list[HexagonsItem]) -> None:
    item = next(item for item in items if len(item.history) > 4 and item.before.cells.any())
    text = recipe_of("variant=paper", f"context={context}").input_of(item)
    assert text.startswith("simplify instructions: ")
    assert text.endswith(f"{' '.join(item.instruction.split())}. simplified instructions:")


def test_a_checkpoint_without_a_layout_reads_as_it_was_trained() -> None:
    assert "layout" not in json.loads((SHIPPED / "t5/config.json").read_text())
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
    for decoding in (Decoding(), Decoding(beams=1), Decoding(constrained=True)):
        model.decoding = decoding
        assert model.predict(few) == expected
    config = json.loads((tmp_path / "model/config.json").read_text())
    assert (config["baseline"], config["format"], config["context"], config["model"]) == ("t5", "grouped", "no-history", "small")
    assert "| 4 |" in (tmp_path / "model/README.md").read_text()


def test_invalid_actions_are_dropped_and_a_cut_answer_is_reported(
    items: list[HexagonsItem], monkeypatch: pytest.MonkeyPatch
) -> None:
    network, coder = made(recipe_of())
    tokens = coder.tokens
    ids = [tokens.start, *tokens.encode("0 4 red, 99 1 blue, 1 2 pink, 3 green, 1 0 green")]
    none = [tokens.start, *tokens.encode("none"), tokens.end]
    painted = (Paint(0, 4, "red"), Paint(1, 0, "green"))
    for written, expected in (
        ([*ids, tokens.end, tokens.pad], Answer(painted, True)),
        (ids, Answer(painted, False)),
        (none, Answer((), True)),
    ):
        monkeypatch.setattr(network.model, "generate", lambda ids=written, **given: torch.tensor([ids]))
        assert T5Predictor(network, coder).predict(items[:1]) == [expected]


PAINTS = st.lists(
    st.builds(Paint, st.integers(0, 9), st.integers(0, 17), st.sampled_from(COLORS)), max_size=6, unique_by=lambda p: p.tile
)


@pytest.fixture(scope="module")
def tokens() -> TextTokens:
    return made(recipe_of())[1].tokens


@pytest.fixture(scope="module")
def held(tokens: TextTokens) -> dict[str, Held]:
    return {name: Held(tokens, recipe_of(f"format={name}").written) for name in ("triplets", "grouped")}


@given(PAINTS, st.sampled_from(["triplets", "grouped"]))
def test_the_grammar_lets_every_answer_pass(tokens: TextTokens, held: dict[str, Held], painted: list[Paint], name: str) -> None:
    ids = tokens.encode(recipe_of(f"format={name}").written.write(painted))
    for n in range(len(ids) + 1):
        following = held[name].following(tokens.read(ids[:n])[0])
        assert (ids[n] if n < len(ids) else tokens.end) in following


@given(st.sampled_from(["triplets", "grouped"]), st.integers(0, 10**6))
def test_whatever_the_grammar_lets_pass_is_read_whole(tokens: TextTokens, held: dict[str, Held], name: str, seed: int) -> None:
    ids: list[int] = []
    random = Random(seed)
    while tokens.end not in ids:
        following = held[name].following(tokens.read(ids)[0])
        ids.append(tokens.end if tokens.end in following and len(ids) > 20 else random.choice(following))
    text = tokens.read(ids)[0].removeprefix(" ")
    assert recipe_of(f"format={name}").written.parse(text).discarded == ()


def test_a_random_network_held_to_the_grammar_writes_actions(items: list[HexagonsItem]) -> None:
    network, coder = made(recipe_of("answer_tokens=20"))
    free = T5Predictor(network.eval(), coder).predict(items[:4])
    constrained = T5Predictor(network.eval(), coder, Decoding(constrained=True)).predict(items[:4])
    assert sum(len(answer.actions) for answer in free) == 0
    assert all(answer.actions or answer.stopped for answer in constrained)
    with pytest.raises(UsageError, match="format json has no grammar"):
        T5Predictor(network, Coder(recipe_of("format=json"), coder.tokens), Decoding(constrained=True)).predict(items[:1])


def test_a_saved_model_answers_as_before(tmp_path: Path, items: list[HexagonsItem]) -> None:
    recipe = recipe_of("answer_tokens=12", "format=grouped")
    network, coder = made(recipe)
    folder = save(tmp_path / "model", recipe, network, coder.tokens)
    assert {path.name for path in folder.iterdir()} == {"config.json", "model.safetensors", "vocabulary.json", "README.md"}
    decoding = Decoding(constrained=True)
    loaded = T5().load(folder, decoding)
    assert (loaded.coder.texts.format, loaded.coder.texts.context) == ("grouped", "full-history")
    answers = loaded.predict(items[:6])
    assert answers == T5Predictor(network.eval(), coder, decoding).predict(items[:6])
    assert any(answer.actions for answer in answers)


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


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 as transformers saves it, with a tokenizer that treats spaces as T5's does, and an untied output layer."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("local-t5")
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=120, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False,
        initial_alphabet=list("▁0123456789,.;:?-abcdefghijklmnopqrstuvwxyz"),
    )  # fmt: skip
    words = "paint the tiles red green blue yellow black white orange purple none 0 4 red, 17 2 blue, 8 3 green 5 9 6 1"
    tokenizer.train_from_iterator([words, words[::-1], "row column first second " * 3], trainer)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>").save_pretrained(
        folder
    )
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=140, d_model=32, d_ff=64, d_kv=16, num_heads=2, num_layers=2, decoder_start_token_id=0, pad_token_id=0,
        eos_token_id=1, feed_forward_proj="gated-gelu", tie_word_embeddings=False, dropout_rate=0.0,
    )  # fmt: skip
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def test_a_pretrained_model_of_a_folder_is_tuned_and_kept_whole(local: Path, tmp_path: Path, few: list[HexagonsItem]) -> None:
    recipe = recipe_of("variant=paper", f"model={local}", "context=no-history", epochs=3, learning_rate=6e-3)
    assert (recipe.augment, recipe.training.schedule) == ("none", "constant")
    model = fit(tmp_path, few[:2] * 60, recipe)
    for decoding in (Decoding(), Decoding(constrained=True)):
        model.decoding = decoding
        assert model.predict(few[:2]) == [Answer(item.actions, True) for item in few[:2]]
    config = json.loads((tmp_path / "model/config.json").read_text())
    assert config["model"] == str(local)
    assert len(config["model_fingerprint"]) == 16
    before, tokens = load_pretrained(str(local))
    assert set(own_weights(T5Network(before))) == set(own_weights(model.network))
    assert tokens.end == 1


def test_another_kind_of_encoder_decoder_does_as_well(tmp_path: Path, items: list[HexagonsItem]) -> None:
    """BART's decoder starts with the token that ends a text."""
    from transformers import AutoTokenizer, BartConfig, BartForConditionalGeneration

    folder = build_tiny_model(tmp_path / "bart")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    (folder / "generation_config.json").unlink()
    config = BartConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=1200,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None,
    )  # fmt: skip
    BartForConditionalGeneration(config).save_pretrained(folder)
    recipe = recipe_of("variant=paper", f"model={folder}", "answer_tokens=20", epochs=1)
    model = fit(tmp_path / "run", items[:4], recipe)
    assert model.coder.tokens.start == 2
    model.decoding = Decoding(constrained=True)
    answers = model.predict(items[:4])
    assert all(answer.actions or answer.stopped for answer in answers)


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


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("context=whole", "no context for hexagons named 'whole'"),
        ("format=lines", "no format for hexagons named 'lines'"),
        ("board=picture", "board"),
        ("variant=large", "known: paper, small"),
    ],
)
def test_a_bad_override_is_refused_by_name(override: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        T5().recipe([override])


def test_the_papers_variant_and_the_small_one() -> None:
    paper, own = T5().recipe(["variant=paper"]), T5().recipe([])
    assert (paper.model, paper.training.epochs, paper.training.batch_size) == ("google/t5-base-lm-adapt", 20, 4)
    assert (paper.layout, own.layout) == ("paper", "numbered")
    assert (paper.format, paper.board, paper.context, Decoding().beams) == ("triplets", "colors", "full-history", 3)
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
def test_an_incomplete_checkpoint_is_refused_in_one_line(damage: Any, problem: str, tmp_path: Path) -> None:
    recipe = recipe_of()
    network, coder = made(recipe)
    folder = save(tmp_path / "model", recipe, network, coder.tokens)
    damage(folder)
    with pytest.raises(DataError, match=problem) as caught:
        T5().load(folder)
    assert "\n" not in str(caught.value)


def test_the_commands_train_it_and_let_it_answer_on_boards_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sets = {f"network.{key}": value for key, value in TINY.items()} | {
        "training.warmup": 0, "context": "predicted-board", "answer_tokens": 8, "training.learning_rate": 1e-3,
    }  # fmt: skip
    given = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    trained = CliRunner().invoke(cli, ["baseline", "train", "t5", "--max-epochs", "1", "--limit", "6", *given])
    assert trained.exit_code == 0, trained.output
    assert "model small: " in trained.output
    asked = ["baseline", "predict", "t5", "--constrained", "--beams", "2", "--limit", "5", "--json"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    scores = json.loads(done.stdout)
    assert (scores["task"], scores["items"], scores["missing"], scores["errors"]) == ("hexagons", 5, 0, 0)
    (run,) = Path("runs").glob("hexagons_dev_*")
    assert "2-beams" in run.name
    records = [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]
    assert {record["finish_reason"] for record in records} <= {"stop", "length"}
