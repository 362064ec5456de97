"""A plan and an engine: the choice among several drawn answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

import pytest

from harness.corpora import load
from harness.engines.engine import Completion, Sampling
from harness.engines.scripted import ScriptedEngine
from harness.errors import EngineError
from harness.prompting.prompted import Plan, Prompted
from prompts.render import Renderer
from prompts.rendered import Rendered
from prompts.shots import ShotPool
from prompts.spec import PromptSpec


class Drawn(ScriptedEngine):
    """Returns the same draws for every item: texts, each with its log-probability and its number of tokens."""

    def __init__(self, draws: Sequence[tuple[str, float | None, int]]) -> None:
        super().__init__([])
        self.draws = draws

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
        drawn = islice(cycle(self.draws), len(prompts))
        return [Completion(text, "stop", 5, tokens, logprob=logprob) for text, logprob, tokens in drawn]


def answers(draws: Sequence[tuple[str, float | None, int]], *, likeliest: bool = False, task: str = "hexagons") -> list[Any]:
    """The answers to the first items, held to what is feasible if blocks are built."""
    renderer = Renderer(PromptSpec.make(task), None, 100_000, 100)
    sampling = Sampling(temperature=0.7, logprobs=likeliest)
    feasible = task == "minecraft"
    plan = Plan(renderer, sampling, ShotPool([], 0), 0, 10, len(draws), likeliest=likeliest, feasible=feasible)
    return list(Prompted(plan, Drawn(draws)).predict(load(task, "dev")[:3]))


@pytest.mark.parametrize(("likeliest", "text"), [(False, "none"), (True, "red: 3 4")])
def test_the_likeliest_answer_need_not_be_the_most_agreed_one(likeliest: bool, text: str) -> None:
    draws = [("none", -4.0, 2), ("none", -4.0, 2), ("red: 3 4", -5.0, 10)]
    for answer in answers(draws, likeliest=likeliest):
        assert answer.notes["text"] == text
        assert answer.notes["samples"] == ["none", "none", "red: 3 4"]
        assert answer.notes.get("logprobs") == ([-4.0, -4.0, -5.0] if likeliest else None)


def test_an_engine_that_cannot_do_what_it_is_asked_for_is_an_error() -> None:
    (first, *_) = answers([("none", -1.0, 1), ("red: 3 4", None, 1)], likeliest=True)
    assert "reports no log-probabilities" in first.error
    assert {answer.error for answer in answers([("none", None, 1)], task="minecraft")} == {None}
    with pytest.raises(EngineError, match="does not hold answers to feasible actions"):
        answers([("place red 0 9 0", None, 9)], task="minecraft")
