"""The vLLM engine with a real vLLM on a tiny random Llama: the same tokens as transformers, limits, grammars, adapters."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.corpora import load
from harness.corpora.item import MinecraftItem
from harness.engines.engine import Completion, Sampling
from harness.engines.transformers import TransformersEngine
from harness.engines.vllm.engine import VllmEngine
from harness.worlds.minecraft import Action
from prompts.rendered import Rendered
from tests.helpers import Command
from tests.helpers.scored import run_records, run_settings
from tests.helpers.tiny import build_tiny_adapter, build_tiny_model, prompts_for

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

ALIKE = 0.9
"""The share of answers that two engines must have in common: different kernels occasionally flip a near tie."""

ACTIONS = r"(?:\d \d (?:red|blue)(?:, \d \d (?:red|blue)){0,3})?"
LENGTH = 4096
"""The context length of the base."""
TEXTS = tuple(f"Paint the tile in row {n} and column {n * 7 % 10} {('red', 'blue', 'green')[n % 3]}." for n in range(40))


@pytest.fixture(autouse=True, scope="module")
def _float32() -> Iterator[None]:
    """transformers computes in float32; in bfloat16, a random model's answers would differ because they are near ties."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_BF16", "off")
        yield


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("tiny") / "base", context_length=LENGTH)


@pytest.fixture(scope="module")
def engine(base: Path) -> Iterator[VllmEngine]:
    engine = VllmEngine(str(base), draws=True, feasible=True, options={"max_num_seqs": 64})
    yield engine
    engine.close()


class Prompting:
    """`harness prompt` on the engine; `built` are the settings with which the last command would have built its own."""

    def __init__(self, engine: VllmEngine, base: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
        self.base, self.command = base, command
        self.built: dict[str, Any] = {}

        def build(model: str, **settings: Any) -> VllmEngine:
            self.built = settings
            return engine

        monkeypatch.setattr("harness.engines.vllm.engine.VllmEngine", build)
        monkeypatch.setattr(engine, "close", lambda: None)

    def records(self, name: str, *words: object) -> list[Any]:
        """The records of a run of a few items."""
        code, _, errors = self.command("prompt", "--base", self.base, "--no-cache", "--name", name, *words)
        assert code == 0, errors
        return run_records(name)


@pytest.fixture
def prompting(engine: VllmEngine, base: Path, command: Command, monkeypatch: pytest.MonkeyPatch, empty_folder: None) -> Prompting:
    return Prompting(engine, base, command, monkeypatch)


def answered(engine: Any, prompts: list[Rendered], sampling: Sampling) -> list[Completion]:
    return list(engine.generate(prompts, sampling))


def agreement(first: list[Any], second: list[Any]) -> float:
    """The share of equal texts, ignoring an incomplete last character, which vLLM leaves out."""
    pairs = zip(first, second, strict=True)
    same: int = sum(a.text.rstrip("\ufffd") == b.text.rstrip("\ufffd") for a, b in pairs)
    return same / len(first)


def test_greedy_answers_are_those_of_transformers(base: Path, engine: VllmEngine) -> None:
    """Not all of them are equal: two attention kernels round differently, and occasionally a near tie falls the other way."""
    rows = prompts_for(engine, TEXTS)
    sampling = Sampling(max_tokens=16, stop=("re",))
    theirs = TransformersEngine(str(base)).generate(rows, sampling)
    ours = answered(engine, rows, sampling)
    assert agreement(theirs, ours) >= ALIKE
    assert {answer.finish_reason for answer in ours} == {"stop", "length"}
    for mine, other in zip(ours, theirs, strict=True):
        if mine.text == other.text:
            assert (mine.finish_reason, mine.prompt_tokens) == (other.finish_reason, other.prompt_tokens)


def test_no_answer_is_longer_than_its_room_and_an_early_end_leaves_nothing_behind(
    engine: VllmEngine,
) -> None:
    long, almost = (Rendered("long", (), "", (1, *(70 + n % 20 for n in range(count)))) for count in (LENGTH, LENGTH - 5))
    begun = engine.generate([long, almost, *prompts_for(engine, TEXTS)], Sampling(max_tokens=32))
    assert f"the model takes {LENGTH}" in (next(begun).error or "")
    assert next(begun).completion_tokens <= 4
    begun.close()
    assert not engine.llm.llm_engine.has_unfinished_requests()


def test_samples_are_fixed_by_their_seed_and_their_likelihoods_are_returned_if_asked_for(engine: VllmEngine) -> None:
    rows = prompts_for(engine, TEXTS)
    how: dict[str, Any] = {"max_tokens": 8, "temperature": 1.0}
    told = ((1, False), (1, True), (2, False))
    first, again, other = (answered(engine, rows, Sampling(**how, seed=seed, logprobs=tell)) for seed, tell in told)
    assert [answer.text for answer in first] == [answer.text for answer in again]
    assert agreement(first, other) < 0.5
    assert all(answer.logprob is None for answer in first)
    assert all(answer.logprob is not None and answer.logprob < 0 for answer in again)


def test_vllms_own_options_reach_the_engine_and_the_run(engine: VllmEngine, prompting: Prompting) -> None:
    assert engine.llm.llm_engine.vllm_config.scheduler_config.max_num_seqs == 64
    words = ("--limit", 2, "--max-new-tokens", 8)
    prompting.records("plain", *words)
    assert prompting.built["options"] == {}
    prompting.records("few", *words, "--vllm", "enable_prefix_caching=false", "--", "--max-num-seqs", 2)
    assert prompting.built["options"] == {"enable_prefix_caching": False, "max_num_seqs": 2}
    plain, few = map(run_settings, ("plain", "few"))
    assert not plain["vllm"]
    assert few["vllm"] == {"enable_prefix_caching": False, "max_num_seqs": 2}
    assert {**few, "vllm": plain["vllm"]} == plain


def test_constrained_decoding_keeps_to_the_grammar_whatever_the_model(prompting: Prompting) -> None:
    for task, name in (("hexagons", "grouped"), ("minecraft", "lines"), ("hexagons", "json")):
        words = ("--task", task, "--format", name, "--constrain", "format", "--limit", 4, "--max-new-tokens", 64)
        for record in prompting.records(f"{task}-{name}", *words):
            # Only the piece that the token limit cut may be discarded.
            assert len(record["discarded"]) <= (1 if record["finish_reason"] == "length" else 0), record


def test_feasible_answers_can_be_carried_out_whatever_the_model(prompting: Prompting) -> None:
    items = {item.id: item for item in load("minecraft", "dev") if isinstance(item, MinecraftItem)}
    words = ("--task", "minecraft", "--temperature", 1, "--max-new-tokens", 96, "--limit", 6, "--constrain", "feasible")
    for name in ("lines", "calls"):
        records = prompting.records(name, *words, "--format", name)
        assert (prompting.built["draws"], prompting.built["feasible"]) == (True, True)
        assert any(record["actions"] for record in records)
        for record in records:
            assert len(record["discarded"]) <= (1 if record["finish_reason"] == "length" else 0), record
            whole = [Action(*action) for action in record["actions"]]
            # The last action may be a remainder that the token limit left.
            whole = whole[:-1] if record["finish_reason"] == "length" else whole
            assert items[record["id"]].before.apply(whole).ignored == ()


@pytest.mark.slow
def test_an_adapter_changes_the_answers_as_it_does_in_peft(
    base: Path, engine: VllmEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a context shorter than the model's and a rank that vLLM does not support."""
    adapter = build_tiny_adapter(base, tmp_path / "adapter", rank=12)
    sampling = Sampling(max_tokens=16)
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    rows = prompts_for(engine, TEXTS)
    plain = answered(engine, rows, sampling)
    with closing(VllmEngine(str(base), adapter=adapter, context_length=200, options={"max_num_seqs": 64})) as adapted:
        assert adapted.context_length == 200
        answers = answered(adapted, rows, sampling)
    peft = TransformersEngine(str(base), adapter=str(adapter)).generate(rows, sampling)
    assert agreement(answers, peft) >= ALIKE
    assert agreement(answers, plain) < 0.5
