"""The requests that `harness serve` passes on to vLLM: fields that it knows, each with bounds.

vLLM takes many more fields. Some of them let one request take any time or memory: templates, arguments of the tokenizer, grammars
of any size.
"""

from collections.abc import Collection
from itertools import islice
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator
from pydantic_core import from_json, to_json

from harness.service.schema import Body, faults
from serialization.formats.feasible import Feasible

MOST_VALUES = 150_000
"""The most values of a body: parsing more would keep all other requests waiting. A prompt may be as many token ids."""
MOST_GRAMMAR = 50_000
"""The most bytes, as JSON, of what vLLM compiles to a grammar or looks at in every step."""
MOST = 1024
"""The most answers that a request may ask for (its prompts times its `n`), messages, and keys of an object."""


def _small(value: Any) -> Any:
    # pydantic makes an error of every unknown key.
    if isinstance(value, dict) and len(value) > MOST:
        raise ValueError(f"more than {MOST} keys")
    if len(to_json(value, inf_nan_mode="null")) > MOST_GRAMMAR:
        raise ValueError(f"more than {MOST_GRAMMAR:,} bytes")
    return value


def _state(text: str) -> str:
    Feasible.from_json(text)
    return text


T = TypeVar("T")
Flag = bool | None
Count = Annotated[int, Field(ge=0, le=10_000_000)]
Name = Annotated[str, Field(max_length=200)]
Line = Annotated[str, Field(max_length=2_000)]
Text = Annotated[str, Field(max_length=4_000_000)]
Few = Annotated[list[T], Field(fail_fast=True, max_length=128)]
Many = Annotated[list[T], Field(fail_fast=True, max_length=MOST)]
Tokens = Annotated[list[Count], Field(fail_fast=True)]
Json = dict[str, Any]
Small = Annotated[T, BeforeValidator(_small)]
# vLLM checks which value goes with which key.
ResponseFormat = dict[Literal["type", "json_schema"], Literal["text", "json_object", "json_schema"] | Json | None]
StructuredOutputs = dict[
    Literal["json", "regex", "choice", "grammar", "json_object", "disable_any_whitespace", "disable_additional_properties"],
    str | Json | Annotated[list[Line], Field(fail_fast=True, max_length=1000)] | Flag,
]
StreamOptions = dict[Literal["include_usage", "continuous_usage_stats", "include_obfuscation"], Flag]
Thinking = dict[Literal["enable_thinking", "thinking", "thinking_budget", "reasoning_effort"], Flag | Count | Name]
"""What a chat template is told about thinking. Other arguments would reach the tokenizer."""
Processors = dict[Literal["feasible"], Annotated[str, AfterValidator(_state)] | None]
"""The argument of our own logits processor (`harness.engines.vllm.feasible`)."""


class Picture(Body):
    """A picture within a message. vLLM would fetch any other URL, also from the server's own network."""

    url: Annotated[str, Field(pattern="^data:image/")]
    detail: Name | None = None


class Part(Body):
    """A piece of a message's content."""

    type: Literal["text", "image_url"]
    text: Text | None = None
    image_url: Picture | None = None


class ChatMessage(Body):
    """A message; one of the assistant also as vLLM itself writes it."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Text | Few[Part] | None = None
    name: Name | None = None
    tool_call_id: Name | None = None
    tool_calls: Few[Json] | None = None
    reasoning: Text | None = None
    reasoning_content: Text | None = None
    refusal: Text | None = None
    annotations: None = None
    audio: None = None
    function_call: None = None


class _Request(Body):
    model: Name | None = None
    n: int | None = Field(None, ge=1, le=128)
    max_tokens: Count | None = None
    min_tokens: Count | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    top_k: int | None = Field(None, ge=-1, le=10_000_000)
    min_p: float | None = Field(None, ge=0, le=1)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    repetition_penalty: float | None = Field(None, gt=0, le=10)
    seed: int | None = Field(None, ge=-(2**63), lt=2**63)
    stop: Line | Few[Line] | None = None
    stop_token_ids: Few[Count] | None = None
    bad_words: Few[Line] | None = None
    allowed_token_ids: Many[Count] | None = None
    logit_bias: Small[dict[Annotated[str, Field(pattern=r"^\d{1,8}$")], float]] | None = None
    prompt_logprobs: int | None = Field(None, ge=0, le=100)
    response_format: Small[ResponseFormat] | None = None
    structured_outputs: Small[StructuredOutputs] | None = None
    vllm_xargs: Small[Processors] | None = None
    truncate_prompt_tokens: int | None = Field(None, ge=-1, le=10_000_000)
    add_special_tokens: Flag = None
    echo: Flag = None
    ignore_eos: Flag = None
    include_stop_str_in_output: Flag = None
    skip_special_tokens: Flag = None
    spaces_between_special_tokens: Flag = None
    return_token_ids: Flag = None
    return_tokens_as_token_ids: Flag = None
    stream: Flag = None
    stream_options: Small[StreamOptions] | None = None
    user: Name | None = None


class ChatRequest(_Request):
    """The body of `POST /v1/chat/completions`."""

    messages: Many[ChatMessage]
    max_completion_tokens: Count | None = None
    logprobs: Flag = None
    top_logprobs: int | None = Field(None, ge=0, le=100)
    tools: Small[Few[Json]] | None = None
    tool_choice: Small[str | Json] | None = None
    parallel_tool_calls: Flag = None
    reasoning_effort: Name | None = None
    include_reasoning: Flag = None
    chat_template_kwargs: Small[Thinking] | None = None
    add_generation_prompt: Flag = None
    continue_final_message: Flag = None


class CompletionRequest(_Request):
    """The body of `POST /v1/completions`."""

    prompt: Text | Many[Text] | Tokens | Many[Tokens] = Field(min_length=1)
    logprobs: int | None = Field(None, ge=0, le=100)

    @model_validator(mode="after")
    def _answers(self) -> Self:
        prompts = len(self.prompt) if isinstance(self.prompt, list) and not isinstance(self.prompt[0], int) else 1
        if prompts * (self.n or 1) > MOST:
            raise ValueError(f"prompt and n ask for more than {MOST} answers")
        return self


REQUESTS: dict[str, type[Body]] = {"/v1/chat/completions": ChatRequest, "/v1/completions": CompletionRequest}
"""The bodies by path."""


def read_fields(path: str, body: bytes, allowed: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a request's body; those in `allowed` may hold anything. Raises ValueError, in one line, for a body that is
    not JSON, and for fields that are not passed on."""
    if len(body) > MOST_VALUES and sum(map(body.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ValueError(f"the body has more than {MOST_VALUES:,} values")
    try:
        fields = from_json(body)
    except ValueError as error:
        raise ValueError(f"the body is not JSON: {str(error)[:200]}") from None
    kind = REQUESTS[path]
    if not isinstance(fields, dict):
        raise ValueError("the body is not a JSON object")
    if unknown := list(islice((name for name in fields if name not in kind.model_fields and name not in allowed), 5)):
        names = ", ".join(repr(name[:80]) for name in unknown)
        raise ValueError(f"unknown fields: {names}: leave them out, or start the server with --allow-field NAME")
    try:
        kind.model_validate({name: value for name, value in fields.items() if name not in allowed})
    except ValidationError as error:
        raise ValueError(faults(error)) from None
    return fields
