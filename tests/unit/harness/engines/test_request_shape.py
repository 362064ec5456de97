"""The fields of a request, and how they adapt to refusals."""

from dataclasses import replace
from typing import Any

import pytest

from harness.engines.engine import Sampling
from harness.engines.openai.endpoint import Failure
from harness.engines.openai.request_shape import RequestShape, extra_fields
from harness.errors import EngineError, UsageError
from prompts.rendered import Rendered
from serialization.formats.answer import Constraint
from tests.helpers import cases

CASES = cases(__file__)

PROMPT = Rendered("item/0", ({"role": "user", "content": "question"},), "<s>text", ())
SAMPLING = Sampling(max_tokens=9, temperature=0.5, stop=("\n\n",))


def shape(**options: Any) -> tuple[RequestShape, list[str]]:
    said: list[str] = []
    return RequestShape("m", say=said.append, **{"chat": True, "extra": {}, **options}), said


@pytest.mark.parametrize(("message", "parameter", "status", "gone"), CASES["parameters"])
def test_a_refused_parameter_is_left_out_or_renamed(message: str, parameter: str, status: int, gone: str | None) -> None:
    made, said = shape()
    sent = made.body(PROMPT, SAMPLING)
    failure = Failure(message, status, parameter)
    assert made.adapt(sent, failure) == (gone is not None)
    # A request that was in flight at the time is repeated without a further message.
    assert made.adapt(sent, failure) == (gone is not None)
    later = made.body(PROMPT, SAMPLING)
    assert set(sent) - set(later) == ({gone} if gone else set())
    assert set(later) - set(sent) == ({"max_completion_tokens"} if gone == "max_tokens" else set())
    assert len(said) == (gone is not None)


def test_a_greedy_run_never_becomes_a_sampled_one() -> None:
    refusal = Failure("400 temperature must be 1", 400, "temperature")
    made, said = shape()
    with pytest.raises(EngineError, match=r"m does not take temperature 0 \(400 temperature must be 1\).*--temperature 1"):
        made.adapt(made.body(PROMPT, Sampling()), refusal)
    both = Failure("`temperature` and `top_p` cannot both be specified", 400, "")
    assert made.adapt(made.body(PROMPT, Sampling()), both)
    assert (made.body(PROMPT, Sampling())["temperature"], said) == (0.0, said[:1])
    assert "top_p" not in made.body(PROMPT, Sampling())
    loose, _ = shape(strict=False)
    assert loose.adapt(loose.body(PROMPT, Sampling()), refusal)
    assert "temperature" not in loose.body(PROMPT, Sampling())


def test_the_text_is_cut_here_if_stop_strings_are_refused() -> None:
    made, _ = shape()
    for text in ("a\n\nb", "a"):
        assert made.cut("a\n\nb", SAMPLING) == text
        made.adapt(made.body(PROMPT, SAMPLING), Failure("no", 400, "stop"))


def test_what_the_user_added_is_sent_and_never_dropped() -> None:
    made, said = shape(extra={"temperature": 1, "top_k": 3})
    sent = made.body(PROMPT, SAMPLING)
    assert (sent["temperature"], sent["top_k"]) == (1, 3)
    assert not made.adapt(sent, Failure("temperature", 400, "temperature"))
    assert not said


@pytest.mark.parametrize(("text", "said"), CASES["extra fields"])
def test_an_invalid_extra_field_is_refused_and_no_key_repeated(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        extra_fields(text)
    assert "xyz-value" not in str(caught.value)


@pytest.mark.parametrize(("kind", "field"), CASES["output shapes"])
def test_a_constraint_and_what_is_feasible_are_part_of_the_request(kind: Any, field: dict[str, Any]) -> None:
    made, _ = shape()
    body = made.body(replace(PROMPT, feasible="state"), Sampling(constraint=Constraint(kind, "{}")))
    assert {**field, "vllm_xargs": {"feasible": "state"}}.items() <= body.items()
