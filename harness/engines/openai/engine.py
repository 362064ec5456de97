"""Any endpoint that speaks the OpenAI protocol."""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from operator import add
from pathlib import Path
from typing import Any

from harness.engines.engine import Completion, Report, Sampling, silent
from harness.engines.openai.endpoint import KEY_VARIABLES, Endpoint, Failure
from harness.engines.openai.request_shape import RequestShape
from harness.engines.shared import brief
from harness.errors import EngineError, UsageError
from prompts.rendered import Rendered
from serialization.formats.tools import call_text

log = logging.getLogger(__name__)

ALIKE = 5
"""A run ends when this many requests have failed in the same way and none has been answered."""

LENGTHS = (
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
    "n_ctx",
    "n_ctx_train",
)
"""The names of a model's context length in lists of models, by server: vLLM, OpenRouter, Groq, Mistral, others, llama.cpp."""

_ENDS = {
    "stop": "stop end_turn stop_sequence eos eos_token complete",
    "length": "length max_tokens model_length max_length max_output_tokens model_context_window_exceeded",
    "filtered": "content_filter content_filtered safety recitation blocklist prohibited_content spii refusal sensitive "
    "error_toxic guardrail_intervened",
}
"""How an answer ended, and the finish reasons of OpenAI, vLLM, Gemini, Anthropic, Mistral, Cohere and others for it."""
_CALLED = ("tool_calls", "function_call")
"""Finish reasons of an answer that calls tools."""
_UNREACHED = "start the server, or check --base-url and the proxies in the environment"
_TEXT, _THOUGHT = ("text", "output_text"), ("thinking", "reasoning")
"""Types of the parts of a message."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of requests. `prompt` includes `cached`, and `completion` includes `reasoning`."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(*map(add, astuple(self), astuple(other)))

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> "TokenUsage":
        """The tokens of a run's record; the prompt counts once for each sample."""
        numbers = [record.get(f"{key}_tokens") for key in ("prompt", "completion", "cached", "reasoning")]
        prompt, completion, cached, reasoning = (n if isinstance(n, int) else 0 for n in numbers)
        return cls(prompt * max(1, len(record.get("samples", ()))), completion, cached, reasoning)

    def __str__(self) -> str:
        notes = [f"{count:,} {name}" for count, name in ((self.cached, "cached"), (self.reasoning, "reasoning")) if count]
        return f"{self.prompt:,} + {self.completion:,} tokens" + (f" ({', '.join(notes)})" if notes else "")


class OpenAIEngine:
    """Sends up to `concurrency` requests at a time to `base_url` and keeps the prompts' order.

    See `Endpoint` for `socket`, `timeout` (seconds, for one try) and `max_retries`, `RequestShape` for `extra` and `strict`. The
    key comes from HARNESS_API_KEY or OPENAI_API_KEY, and is sent only to the server. `say` receives a line for everything that
    the user should know; `max_tokens` ends the run when as many tokens are `used`. `close` must be called.
    """

    independent = True

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        socket: Path | None = None,
        concurrency: int = 8,
        timeout: float = 60.0,
        max_retries: int = 5,
        chat: bool = True,
        context_length: int | None = None,
        extra: Mapping[str, Any] | None = None,
        tokenizer: Any = None,
        max_tokens: int | None = None,
        say: Callable[[str], None] = log.warning,
        strict: bool = True,
    ) -> None:
        self._endpoint = Endpoint(base_url, socket=socket, connections=concurrency, timeout=timeout, retries=max_retries)
        self._model, self._chat, self._say = model, chat, say
        self._path = "/chat/completions" if chat else "/completions"
        # The server itself puts the BOS token before a text.
        bos = str(getattr(tokenizer, "bos_token", None) or "")
        self._shape = RequestShape(model, chat=chat, bos=bos, extra=extra or {}, say=say, strict=strict)
        self._concurrency = concurrency
        self._runner: asyncio.Runner | None = None
        self._stop: EngineError | None = None
        self._failures: list[str] = []
        self._reached = self._answered = False
        self._others: set[str] = set()
        self.tokenizer = tokenizer
        self.used, self._max_tokens = TokenUsage(), max_tokens
        self.report: Report = silent
        # Concurrency drops at the end of a batch, so a batch is many times the requests in flight.
        self.batch_size = 16 * concurrency
        self._context_length = context_length

    @property
    def context_length(self) -> int:
        """The given context length, or else the one in the endpoint's list of models. Raises UsageError if there is neither,
        EngineError if there is no server."""
        return self._context_length or self._loop().run_until_complete(self.find_context_length())

    async def find_context_length(self) -> int:
        """As `context_length`, in the caller's event loop."""
        if self._context_length:
            return self._context_length
        try:
            models = (await self._endpoint.request("GET", "/models")).get("data")
        except Failure as failure:
            if not failure.connected:
                raise EngineError(f"no connection to {self._endpoint.shown}: {failure}; {_UNREACHED}") from None
            models = None
        self._context_length = _listed(models, self._model)
        if self._context_length is None:
            raise UsageError(
                f"{self._endpoint.shown} does not say how many tokens {self._model} takes, prompt and answer together: "
                "give --context-length N"
            )
        return self._context_length

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> Iterator[Completion]:
        """See `Engine.generate`. Raises EngineError if the key, the model or the first requests are refused, if there is no
        server, and if the quota is used up or a limit is reached; requests that were sent before are answered first.

        Requests are in flight while the caller waits for the next answer; ending the iteration early cancels them.
        """
        loop = self._loop()
        places = asyncio.Semaphore(self._concurrency)
        tasks = [loop.create_task(self._ask(places, prompt, sampling)) for prompt in prompts]
        try:
            for task in tasks:
                yield loop.run_until_complete(task)
            if self._stop:
                raise self._stop
        finally:
            loop.run_until_complete(_cancel(tasks))

    async def complete(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
        """As `generate`, in the caller's event loop. If it is cancelled, so are the requests."""
        places = asyncio.Semaphore(self._concurrency)
        tasks = [asyncio.create_task(self._ask(places, prompt, sampling)) for prompt in prompts]
        try:
            completions = [await task for task in tasks]
        finally:
            await _cancel(tasks)
        if self._stop:
            raise self._stop
        return completions

    def close(self) -> None:
        """End the connections."""
        if self._runner:
            self._runner.get_loop().run_until_complete(self._endpoint.close())
            self._runner.close()
            self._runner = None

    async def aclose(self) -> None:
        """As `close`, in the caller's event loop."""
        await self._endpoint.close()

    def _loop(self) -> asyncio.AbstractEventLoop:
        self._runner = self._runner or asyncio.Runner()
        return self._runner.get_loop()

    async def _ask(self, places: asyncio.Semaphore, prompt: Rendered, sampling: Sampling) -> Completion:
        async with places:
            if self._max_tokens is not None and self.used.prompt + self.used.completion >= self._max_tokens:
                limit = f"--max-tokens-total {self._max_tokens} is reached ({self.used})"
                self._stop = self._stop or EngineError(f"{limit}: raise it and run the same command again to go on")
            if self._stop:
                raise self._stop
            try:
                answer = await self._answer(prompt, sampling)
                completion = self._read(answer, sampling)
            except Failure as failure:
                return self._failed(failure)
            except EngineError as end:
                self._stop = self._stop or end
                return Completion(error=str(end))
            self._reached, self._answered = True, self._answered or completion.error is None
            return completion

    async def _answer(self, prompt: Rendered, sampling: Sampling) -> dict[str, Any]:
        """The endpoint's answer; a request is sent again without the parameters that it refuses. Raises Failure."""
        while True:
            body = self._shape.body(prompt, sampling)
            try:
                return await self._endpoint.request("POST", self._path, body)
            except Failure as failure:
                if not self._shape.adapt(body, failure):
                    raise

    def _failed(self, failure: Failure) -> Completion:
        """The completion with a prompt's error; stops the run if every other prompt would fail as well."""
        shown, message = self._endpoint.shown, failure.message
        end = None
        if not failure.connected:
            # One prompt may break a connection; two in a row, or the very first, mean the server is down.
            message = f"no connection to {shown}: {message}"
            end = None if self._reached else f"{message}; {_UNREACHED}"
            self._reached = False
        elif failure.status in (401, 403) and failure.patient:
            end = f"{shown} refuses the key ({message}): set {' or '.join(KEY_VARIABLES)}"
        elif failure.status == 404 or failure.status in range(300, 400):
            end = (
                f"{shown} does not know the path or the model {self._model} ({message}): "
                "check --base-url (most end in /v1) and --model"
            )
        elif not failure.patient:
            end = f"{shown} answers no more for now ({message}): run the same command again later to go on"
        else:
            self._reached = True
            message = message if failure.status is None else f"the endpoint failed: {message}"
            end = self._alike(message)
        if end and self._stop is None:
            self._stop = EngineError(end)
        return Completion(error=message)

    def _alike(self, message: str) -> str | None:
        """Why the run ends, if its first requests all failed with the same message apart from numbers; None if not."""
        self._failures.append(re.sub(r"\d+", "0", message))
        if self._answered or len(self._failures) < ALIKE or len(set(self._failures)) > 1:
            return None
        return f"the first {len(self._failures)} requests to {self._endpoint.shown} failed in the same way ({message})"

    def _read(self, answer: Mapping[str, Any], sampling: Sampling) -> Completion:
        """The completion in an answer. Raises Failure for one that holds none."""
        tokens = _tokens(answer.get("usage"))
        self.used += tokens
        text, reasoning, reason = _choice(answer, self._chat)
        logprob = _logprob(answer, self._chat) if sampling.logprobs else None
        if reason == "filtered":
            return Completion(error="the endpoint's content filter cut the answer")
        return Completion(
            self._shape.cut(text, sampling),
            reason,
            tokens.prompt,
            tokens.completion,
            reasoning=reasoning,
            reasoning_tokens=tokens.reasoning,
            cached_tokens=tokens.cached,
            model=self._another(answer.get("model")),
            logprob=logprob,
        )

    def _another(self, name: object) -> str:
        """The model that answered, if it is not the one that was asked, and empty otherwise; each is reported once."""
        if not isinstance(name, str) or name in ("", self._model):
            return ""
        name = self._endpoint.tell(name)
        if name not in self._others:
            self._others.add(name)
            self._say(f"the endpoint answers with the model {name} although {self._model} was asked")
        return name


async def _cancel(tasks: Sequence[asyncio.Task[Completion]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _listed(models: object, model: str) -> int | None:
    """The context length of a model in a list of models: its own, its base's if it is an adapter, or the only listed model's."""
    known = [entry for entry in models if isinstance(entry, dict)] if isinstance(models, list) else []
    mine = [entry for entry in known if entry.get("id") == model] or (known if len(known) == 1 else [])
    parents = {entry.get("parent") for entry in mine} - {None}
    bases = [entry for entry in known if entry.get("id") in parents]
    return next(filter(None, map(_length, (*mine, *bases))), None)


def _length(model: Mapping[str, Any]) -> int | None:
    """The context length in an entry of a list of models, or in an object inside the entry."""
    for name in LENGTHS:
        if isinstance(value := model.get(name), int) and value > 0:
            return value
    return next(filter(None, (_length(value) for value in model.values() if isinstance(value, dict))), None)


def _choice(answer: Mapping[str, Any], chat: bool) -> tuple[str, str, str]:
    """The text, the thought, and how the answer ended: "stop", "length", "thinking" or "filtered".

    Raises Failure for an answer without a text or a thought, and for one with another finish reason: it may not be whole.
    """
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if chat and isinstance(choice, dict) else choice
    if not isinstance(message, dict) or not isinstance(choice, dict):
        raise Failure(f"the endpoint's answer cannot be read: no choices in {brief(str(dict(answer)), 80)}")
    reason = choice.get("finish_reason")
    calls = _called(message.get("tool_calls"))
    whole = "stop" if calls and reason in _CALLED else None
    end = next((end for end, words in _ENDS.items() if str(reason).lower() in words.split()), whole)
    if end is None:
        raise Failure(f"the endpoint ended the answer with the finish_reason {brief(json.dumps(reason), 40)}")
    content = message.get("content" if chat else "text")
    parts = content if isinstance(content, list) else []
    thoughts = [_joined(part.get(part["type"])) for part in parts if _below(part, "type") in _THOUGHT]
    text = _joined([part for part in parts if _below(part, "type") not in _THOUGHT] if parts else content)
    text = calls or text
    thoughts += [message.get("reasoning_content") or message.get("reasoning")]
    thought = "\n".join(one for one in thoughts if isinstance(one, str))
    if end == "filtered":
        return "", thought, end
    # A reasoning model may use up all its tokens before it answers.
    if not text and (thought or (chat and end == "length")):
        return "", thought, "thinking"
    if not isinstance(text, str):
        raise Failure(f"the endpoint's answer cannot be read: no text in it (finish_reason {brief(str(reason), 40)})")
    return text, thought, end


def _called(calls: object) -> str:
    """The calls of tools in a message, as the format `tools` writes them; arguments that are not JSON stay as they are."""
    functions = [_below(call, "function") for call in calls] if isinstance(calls, list) else []
    texts = []
    for function in functions:
        arguments = _below(function, "arguments")
        with suppress(TypeError, ValueError, RecursionError):
            arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        texts.append(call_text(str(_below(function, "name")), arguments))
    return "\n".join(texts)


def _joined(content: object) -> object:
    """The text of content that consists of parts of text; other content as it is."""
    if not isinstance(content, list):
        return content
    texts = [text for part in content if _below(part, "type") in _TEXT and isinstance(text := _below(part, "text"), str)]
    return "".join(texts) if len(texts) == len(content) else content


def _logprob(answer: Mapping[str, Any], chat: bool) -> float | None:
    """The log-probability of the whole answer; None if the endpoint does not return those of all its tokens."""
    logprobs = _below(answer["choices"][0], "logprobs")
    tokens = _below(logprobs, "content" if chat else "token_logprobs")
    each = [_below(token, "logprob") if chat else token for token in tokens] if isinstance(tokens, list) else []
    numbers = [value for value in each if isinstance(value, int | float)]
    return sum(numbers) if numbers and len(numbers) == len(each) else None


def _tokens(usage: object) -> TokenUsage:
    """The tokens that an endpoint counted; 0 for what it did not count."""
    return TokenUsage(
        _count(usage, "prompt_tokens"),
        _count(usage, "completion_tokens"),
        _count(_below(usage, "prompt_tokens_details"), "cached_tokens"),
        _count(_below(usage, "completion_tokens_details"), "reasoning_tokens"),
    )


def _below(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _count(usage: object, name: str) -> int:
    value = _below(usage, name)
    return value if isinstance(value, int) and value >= 0 else 0
