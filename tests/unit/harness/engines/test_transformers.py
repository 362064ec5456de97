"""The transformers engine on a tiny random Llama: batches, stops, limits, sampling, adapters."""

import json
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch

from harness.engines.engine import Sampling
from harness.engines.shared import adapter_rank
from harness.engines.transformers import TransformersEngine
from harness.errors import AdapterError, EngineError
from prompts.rendered import Rendered
from tests.helpers.tiny import build_tiny_model, prompts_for

TEXTS = ("Paint the tile red.", "Now build a tower of five yellow blocks in the middle.", "ok", "0 4 red, 0 5 blue")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("tiny") / "base", context_length=128)


@pytest.fixture(scope="module")
def engine(base: Path) -> TransformersEngine:
    return TransformersEngine(str(base))


def test_a_batch_answers_as_its_prompts_do_alone(base: Path, engine: TransformersEngine) -> None:
    rows = prompts_for(engine, TEXTS)
    together = engine.generate(rows, Sampling(max_tokens=12))
    pairs = TransformersEngine(str(base), batch_size=2).generate(rows, Sampling(max_tokens=12))
    alone = [engine.generate([row], Sampling(max_tokens=12))[0] for row in rows]
    assert together == pairs == alone
    assert len({answer.text for answer in together}) > 1
    assert [answer.prompt_tokens for answer in together] == [len(row.token_ids) for row in rows]


def test_tokens_that_the_model_does_not_know_are_an_error_of_one_line(engine: TransformersEngine) -> None:
    known = engine._model.config.vocab_size
    with pytest.raises(EngineError, match=f"which knows {known} tokens: a prompt has token {known}$"):
        engine.generate([Rendered("a", (), "", (1, known))], Sampling(max_tokens=1))


def test_a_stop_string_ends_the_answer_and_is_not_in_it(engine: TransformersEngine) -> None:
    (row,) = prompts_for(engine, TEXTS[:1])
    (whole,) = engine.generate([row], Sampling(max_tokens=12))
    stop = whole.text[5:8]
    (cut,) = engine.generate([row], Sampling(max_tokens=12, stop=("never", stop)))
    assert (cut.text, cut.finish_reason) == (whole.text[: whole.text.index(stop)], "stop")
    assert cut.completion_tokens < 12


def test_the_eos_token_ends_the_answer(base: Path, engine: TransformersEngine, tmp_path: Path) -> None:
    """The model or the prompt declares the fourth token another EOS, like the token that ends a chat template's turns."""
    (row,) = prompts_for(engine, TEXTS[:1])
    ids = [*row.token_ids]
    with torch.inference_mode():
        for _ in range(4):
            ids.append(int(engine._model(torch.tensor([ids])).logits[0, -1].argmax()))
    ids = ids[-4:]
    copy = Path(shutil.copytree(base, tmp_path / "copy"))
    (copy / "generation_config.json").write_text(json.dumps({"eos_token_id": [engine.tokenizer.eos_token_id, ids[3]]}))
    (answer,) = TransformersEngine(str(copy)).generate([row], Sampling(max_tokens=12))
    assert (answer.finish_reason, answer.completion_tokens) == ("stop", ids.index(ids[3]) + 1)
    assert engine.generate([row], Sampling(max_tokens=12, stop_token_ids=(ids[3],))) == [answer]


def test_the_models_own_sampling_settings_change_nothing(
    base: Path, engine: TransformersEngine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = prompts_for(engine, TEXTS)
    copy = Path(shutil.copytree(base, tmp_path / "copy"))
    hidden = {"do_sample": True, "temperature": 0.6, "top_p": 0.5, "top_k": 3, "repetition_penalty": 3.0, "eos_token_id": 2}
    (copy / "generation_config.json").write_text(json.dumps(hidden))
    other = TransformersEngine(str(copy))
    capfd.readouterr()
    for sampling in (Sampling(max_tokens=12), Sampling(max_tokens=12, temperature=1.0)):
        assert other.generate(rows, sampling) == engine.generate(rows, sampling)
    assert capfd.readouterr().err == ""


def test_sampling_is_fixed_by_its_seed_and_leaves_torch_alone(engine: TransformersEngine) -> None:
    rows = prompts_for(engine, TEXTS)
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first, again, other = (engine.generate(rows, Sampling(max_tokens=8, temperature=1.0, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert torch.rand(1) == expected


def test_a_prompt_that_is_too_long_or_empty_is_a_separate_error(engine: TransformersEngine) -> None:
    (good,) = prompts_for(engine, TEXTS[:1])
    long, empty = Rendered("long", (), "", (5,) * 128), Rendered("empty", (), "", ())
    answers = engine.generate([long, good, empty], Sampling(max_tokens=4))
    assert "128 tokens" in (answers[0].error or "")
    assert answers[1] == engine.generate([good], Sampling(max_tokens=4))[0]
    assert "prompt is empty" in (answers[2].error or "")


def test_what_cannot_be_loaded_is_an_error_of_one_line(base: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"cannot load the model .*nowhere") as caught:
        TransformersEngine(str(tmp_path / "nowhere"))
    assert "\n" not in str(caught.value)
    with pytest.raises(AdapterError, match=r"adapter_config\.json is not there"):
        TransformersEngine(str(base), adapter=tmp_path)


@pytest.mark.parametrize(
    ("config", "rank"), [('{"r": 8, "rank_pattern": {"q_proj": 32}}', 32), ("{", None), ("[]", None), ('{"r": "8"}', None)]
)
def test_the_rank_of_an_adapter(tmp_path: Path, config: str, rank: int | None) -> None:
    (tmp_path / "adapter_config.json").write_text(config)
    with nullcontext() if rank else pytest.raises(AdapterError, match=r"adapter_config\.json"):
        assert adapter_rank(tmp_path) == rank
