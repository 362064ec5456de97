"""A plan and an engine: the choice among several drawn answers."""

from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
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
from serialization.formats.answer import Constraint
from tests.helpers.chat_templates import family_tokenizer


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


class Thinker(ScriptedEngine):
    """Thinks until its mark or its budget, answers, and keeps what it was asked."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__([])
        self.tokenizer, self.asked = tokenizer, list[tuple[Sequence[Rendered], Sampling]]()

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
        self.asked.append((prompts, sampling))
        if sampling.stop == ("</think>",):
            failed = [Completion(error="too long")] if len(prompts) > 1 else []
            thoughts = [Completion("\nred: 9 9? No.\n", "length", 50, 7, logprob=-2.0) for _ in prompts[len(failed) :]]
            return failed + thoughts
        return [Completion("red: 3 4", "stop", 60, 5, logprob=-1.0) for _ in prompts]


def test_a_thought_has_a_budget_and_is_kept_apart_and_only_the_answer_is_constrained(tmp_path: Path) -> None:
    engine = Thinker(family_tokenizer(tmp_path / "tiny", "qwen 3"))
    renderer = Renderer(PromptSpec.make("hexagons", think="on"), engine.tokenizer, 100_000, 100, 64)
    sampling = Sampling(max_tokens=100, constraint=Constraint("regex", "red: 3 4"))
    items = load("hexagons", "dev")[:2]
    failed, answer = Prompted(Plan(renderer, sampling, ShotPool([], 0), 0, 10), engine).predict(items)
    assert failed.error == "too long"
    assert (answer.notes["text"], answer.notes["reasoning"]) == ("red: 3 4", "red: 9 9? No.")
    assert [*map(list, answer.actions)] == [[3, 2, "red"]], "nothing is read from the thought"
    counts = ("prompt_tokens", "completion_tokens", "reasoning_tokens")
    assert [answer.notes[key] for key in counts] == [50, 12, 7]
    (_, thought), ((prompt,), said) = engine.asked
    assert (thought.max_tokens, thought.constraint) == (64, None)
    assert (said.max_tokens, said.constraint) == (100, sampling.constraint)
    assert prompt.text.endswith("<think>\nred: 9 9? No.\n</think>\n\n")
    assert prompt.token_ids == renderer.render(items[1]).token_ids + renderer.token_ids("red: 9 9? No.\n</think>\n\n")
    assert renderer.budget == 100_000 - 100 - 64
