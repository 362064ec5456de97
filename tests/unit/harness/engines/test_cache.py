"""The cache of completions: which prompts are asked again, and files that are not a cache."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.engines.cache import CachedEngine, Completions
from harness.engines.engine import Completion, Sampling
from harness.engines.scripted import ScriptedEngine
from prompts.rendered import Rendered

PROMPTS = [Rendered(f"item/{n}", ({"role": "user", "content": f"ask {n}"},), f"ask {n}", (n, 7)) for n in range(6)]


class Counting(ScriptedEngine):
    """Answers with its count of prompts, so that all answers differ; fails at the text `failing`."""

    def __init__(self, independent: bool, failing: str = "") -> None:
        super().__init__([])
        self.independent, self.failing, self.asked = independent, failing, 0

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
        first, self.asked = self.asked, self.asked + len(prompts)
        failed = ["no" if prompt.text == self.failing else None for prompt in prompts]
        return [Completion(f"answer {first + n}", "stop", 2, 3, error) for n, error in enumerate(failed, 1)]


def asked(engine: Counting, store: Completions, prompts: Sequence[Rendered] = PROMPTS, **how: Any) -> list[Completion]:
    """The answers of the engine with its cache; `how` may hold the engine's identity and the sampling."""
    return list(CachedEngine(engine, how.get("identity", {}), store).generate(prompts, how.get("sampling", Sampling())))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Completions]:
    completions = Completions(tmp_path / "cache" / "completions.sqlite")
    yield completions
    completions.close()


def test_answers_that_depend_on_their_batch_are_found_with_the_whole_batch_only(store: Completions) -> None:
    for independent, count in ((True, 6), (False, 14)):
        engine = Counting(independent)
        cached = CachedEngine(engine, {"independent": independent}, store)
        first = list(cached.generate(PROMPTS, Sampling()))
        assert list(cached.generate(PROMPTS, Sampling())) == first
        assert (engine.asked, cached.cached, cached.answered) == (6, 6, 12)
        list(cached.generate(PROMPTS[:3], Sampling()))
        list(cached.generate(PROMPTS[1:], Sampling()))
        assert engine.asked == count


@pytest.mark.parametrize(
    "other",
    [
        {"identity": {"model": "other"}},
        {"sampling": Sampling(max_tokens=3)},
        {"prompt": replace(PROMPTS[0], token_ids=(9,))},
        {"prompt": replace(PROMPTS[0], feasible="{}")},
    ],
)
def test_whatever_decides_an_answer_is_part_of_its_key(other: dict[str, Any], store: Completions) -> None:
    engine = Counting(True)
    for changed in ({}, other):
        asked(engine, store, [changed.get("prompt", PROMPTS[0])], **changed)
    assert engine.asked == 2


def test_the_seed_and_the_item_decide_drawn_answers_alone(store: Completions) -> None:
    engine = Counting(True)
    for temperature, count in ((0.0, 1), (0.7, 4)):
        for seed, prompt in ((0, PROMPTS[0]), (1, PROMPTS[0]), (0, replace(PROMPTS[0], id="another")), (0, PROMPTS[0])):
            asked(engine, store, [prompt], sampling=Sampling(temperature=temperature, seed=seed))
        assert engine.asked == count


@pytest.mark.parametrize("independent", [True, False])
def test_what_failed_is_asked_again(independent: bool, store: Completions) -> None:
    engine = Counting(independent, "ask 2")
    asked(engine, store)
    engine.failing = ""
    assert all(answer.error is None for answer in asked(engine, store))
    assert engine.asked == (7 if independent else 12)


def test_a_file_that_is_not_a_cache_or_full_of_nonsense_does_no_harm(tmp_path: Path, store: Completions) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_text("this is no database, but it is long enough to be taken for one" * 20)
    engine = Counting(True)
    for _ in range(2):
        assert len(asked(engine, Completions(broken))) == 6
    assert engine.asked == 12
    engine = Counting(True)
    asked(engine, store)
    with sqlite3.connect(store.path) as file:
        file.execute("UPDATE completions SET value = '[{\"unheard\": 1}]'")
    file.close()
    asked(engine, store)
    assert engine.asked == 12


def test_a_file_that_has_grown_too_large_is_begun_anew(store: Completions) -> None:
    for n in range(100):
        store.put(str(n), [Completion("x" * 4000)])
    store.close()
    again = Completions(store.path, max_bytes=100_000)
    assert again.get("99") is None
    again.close()
    assert store.path.stat().st_size < 100_000
