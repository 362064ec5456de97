"""The cache of completions: which prompts are asked again, and files that are not a cache."""

from __future__ import annotations

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
    """Answers with its count of prompts, so that all answers differ; fails if told to."""

    def __init__(self, independent: bool) -> None:
        super().__init__([])
        self.independent = independent
        self.asked: list[str] = []
        self.failing: set[str] = set()

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
        answers = []
        for prompt in prompts:
            self.asked.append(prompt.text)
            failed = "no" if prompt.text in self.failing else None
            answers.append(Completion(f"answer {len(self.asked)}", "stop", 2, 3, failed))
        return answers


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Completions]:
    completions = Completions(tmp_path / "cache" / "completions.sqlite")
    yield completions
    completions.close()


def test_answers_that_depend_on_their_batch_are_found_with_the_whole_batch_only(store: Completions) -> None:
    for independent, asked in ((True, 6), (False, 14)):
        engine = Counting(independent)
        cached = CachedEngine(engine, {"independent": independent}, store)
        first = list(cached.generate(PROMPTS, Sampling()))
        assert list(cached.generate(PROMPTS, Sampling())) == first
        assert (len(engine.asked), cached.cached, cached.answered) == (6, 6, 12)
        list(cached.generate(PROMPTS[:3], Sampling()))
        list(cached.generate(PROMPTS[1:], Sampling()))
        assert len(engine.asked) == asked


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
        cached = CachedEngine(engine, changed.get("identity", {"model": "m"}), store)
        list(cached.generate([changed.get("prompt", PROMPTS[0])], changed.get("sampling", Sampling())))
    assert len(engine.asked) == 2


def test_the_seed_and_the_item_decide_drawn_answers_alone(store: Completions) -> None:
    engine = Counting(True)
    cached = CachedEngine(engine, {}, store)
    for temperature, asked in ((0.0, 1), (0.7, 4)):
        for seed, prompt in ((0, PROMPTS[0]), (1, PROMPTS[0]), (0, replace(PROMPTS[0], id="another")), (0, PROMPTS[0])):
            list(cached.generate([prompt], Sampling(temperature=temperature, seed=seed)))
        assert len(engine.asked) == asked


@pytest.mark.parametrize("independent", [True, False])
def test_what_failed_is_asked_again(independent: bool, store: Completions) -> None:
    engine = Counting(independent)
    engine.failing = {"ask 2"}
    list(CachedEngine(engine, {}, store).generate(PROMPTS, Sampling()))
    engine.failing = set()
    answers = list(CachedEngine(engine, {}, store).generate(PROMPTS, Sampling()))
    assert all(answer.error is None for answer in answers)
    assert len(engine.asked) == (7 if independent else 12)


def test_a_file_that_is_not_a_cache_or_full_of_nonsense_does_no_harm(tmp_path: Path, store: Completions) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_text("this is no database, but it is long enough to be taken for one" * 20)
    engine = Counting(True)
    for _ in range(2):
        assert len(list(CachedEngine(engine, {}, Completions(broken)).generate(PROMPTS, Sampling()))) == 6
    assert len(engine.asked) == 12
    engine = Counting(True)
    list(CachedEngine(engine, {}, store).generate(PROMPTS, Sampling()))
    with sqlite3.connect(store.path) as file:
        file.execute("UPDATE completions SET value = '[{\"unheard\": 1}]'")
    file.close()
    list(CachedEngine(engine, {}, store).generate(PROMPTS, Sampling()))
    assert len(engine.asked) == 12


def test_a_file_that_has_grown_too_large_is_begun_anew(store: Completions) -> None:
    for n in range(100):
        store.put(str(n), [Completion("x" * 4000)])
    store.close()
    again = Completions(store.path, max_bytes=100_000)
    assert again.get("99") is None
    again.close()
    assert store.path.stat().st_size < 100_000
