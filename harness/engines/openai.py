"""Any endpoint that speaks the OpenAI protocol, through the official client."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from harness.engines.engine import Completion, Report, Sampling, silent, without_secrets
from harness.engines.shared import brief, item_seed
from harness.errors import EngineError
from prompts.rendered import Rendered

KEY_VARIABLES = ("HARNESS_API_KEY", "OPENAI_API_KEY")


class OpenAIEngine:
    """Sends up to `concurrency` requests at a time to `base_url` and keeps the prompts' order.

    429, 5xx and connection errors are tried again up to `max_retries` times, after the time that the server asks for or a
    growing pause. `timeout` is in seconds, for one request; an item gets `timeout * (max_retries + 1)` in total. The key
    comes from HARNESS_API_KEY or OPENAI_API_KEY where it is not given, and is sent to the server only.
    """

    independent = True
    tokenizer: Any = None

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        concurrency: int = 8,
        timeout: float = 60.0,
        max_retries: int = 5,
        chat: bool = True,
        context_length: int = 4096,
    ) -> None:
        self._url = base_url
        self._shown = without_secrets(base_url)
        self._model = model
        # The client requires a key; a server without one ignores it.
        self._key = api_key or next(filter(None, map(os.environ.get, KEY_VARIABLES)), "none")
        self._concurrency = concurrency
        self._timeout = timeout
        self._max_retries = max_retries
        self._chat = chat
        self._reached = False
        self.context_length = context_length
        self.report: Report = silent
        # Concurrency drops at the end of a batch, so a batch is many times the requests in flight.
        self.batch_size = 16 * concurrency

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> Iterator[Completion]:
        """See `Engine.generate`. EngineError if the key or the model is refused, or there is no server.

        Requests are in flight while the caller waits for the next answer; ending the iteration early cancels them.
        """
        from openai import AsyncOpenAI

        client = AsyncOpenAI(base_url=self._url, api_key=self._key, timeout=self._timeout, max_retries=self._max_retries)
        places = asyncio.Semaphore(self._concurrency)
        with asyncio.Runner() as runner:
            tasks = [runner.get_loop().create_task(self._ask(client, places, prompt, sampling)) for prompt in prompts]
            try:
                for task in tasks:
                    yield runner.run(_result(task))
            finally:
                runner.run(_stop(tasks, client))

    def close(self) -> None:
        """Connections are closed at the end of each `generate`."""

    async def _ask(self, client: Any, places: asyncio.Semaphore, prompt: Rendered, sampling: Sampling) -> Completion:
        import openai

        endpoint = client.chat.completions if self._chat else client.completions
        patience = self._timeout * (self._max_retries + 1)
        async with places:
            try:
                async with asyncio.timeout(patience):
                    response = await endpoint.create(**self._request(prompt, sampling))
                self._reached = True
                return _read(response, self._chat)
            except (TimeoutError, openai.APITimeoutError):
                return Completion(error=f"no answer within {self._timeout:g} seconds per request, {patience:g} in total")
            except openai.APIConnectionError as error:
                return self._unreachable(error.__cause__ or error)
            except openai.APIError as error:
                return self._failed(error)
            except (ValueError, TypeError, AttributeError, RecursionError) as error:
                return Completion(error=f"the endpoint's answer cannot be read: {self._tell(error)}")

    def _unreachable(self, error: BaseException) -> Completion:
        """One prompt may break a connection; two in a row, or the very first, mean the server is down."""
        message = f"no connection to {self._shown}: {self._tell(error)}"
        if not self._reached:
            raise EngineError(f"{message}; start the server or check --base-url")
        self._reached = False
        return Completion(error=message)

    def _failed(self, error: Exception) -> Completion:
        """The error of one prompt. Raises EngineError for one that every prompt would meet."""
        self._reached = True
        status = getattr(error, "status_code", None)
        if status in (401, 403):
            raise EngineError(f"{self._shown} refuses the key ({self._tell(error)}): set {' or '.join(KEY_VARIABLES)}")
        if status == 404:
            raise EngineError(
                f"{self._shown} does not know the path or the model {self._model} ({self._tell(error)}): "
                "check --base-url (most end in /v1) and --model"
            )
        return Completion(error=f"the endpoint failed: {self._tell(error)}")

    def _request(self, prompt: Rendered, sampling: Sampling) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._model,
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
        }
        request |= {"messages": list(prompt.messages)} if self._chat else {"prompt": prompt.text}
        if sampling.stop:
            request["stop"] = list(sampling.stop)
        if sampling.temperature > 0:
            request["seed"] = item_seed(sampling.seed, prompt.id)
        if sampling.logprobs:
            request["logprobs"] = True if self._chat else 0
        if sampling.constraint is not None:
            kind, value = sampling.constraint.kind, sampling.constraint.value
            request["extra_body"] = {"structured_outputs": {kind: json.loads(value) if kind == "json" else value}}
        return request

    def _tell(self, error: BaseException) -> str:
        """The message in one line and without the key, which some servers quote."""
        text = str(error).replace(self._url, self._shown)
        return brief(text.replace(self._key, "***") if self._key != "none" else text)


async def _result(task: asyncio.Task[Completion]) -> Completion:
    return await task


async def _stop(tasks: Sequence[asyncio.Task[Completion]], client: Any) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await client.close()


def _read(response: Any, chat: bool) -> Completion:
    """The completion in a decoded response. Raises ValueError or AttributeError for one that does not hold any."""
    if not getattr(response, "choices", None):
        raise ValueError(f"no choices in {brief(str(response), 80)}")
    choice = response.choices[0]
    text = choice.message.content if chat else choice.text
    reason = "length" if choice.finish_reason == "length" else "stop"
    # A reasoning model may use up all its tokens before it answers.
    if text is None and reason == "length":
        text = ""
    if not isinstance(text, str):
        raise ValueError(f"no text in it (finish_reason {choice.finish_reason})")
    if choice.finish_reason == "content_filter":
        raise ValueError("the endpoint's content filter cut it")
    usage = response.usage
    prompt_tokens, completion_tokens = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    return Completion(text, reason, prompt_tokens, completion_tokens, logprob=_logprob(choice, chat))


def _logprob(choice: Any, chat: bool) -> float | None:
    """The log-probability of the whole answer, where the endpoint tells those of its tokens."""
    told = getattr(choice, "logprobs", None)
    each = [token.logprob for token in told.content or ()] if told and chat else (told.token_logprobs or ()) if told else ()
    return sum(each) if each else None


def _count(usage: Any, name: str) -> int:
    value = getattr(usage, name, 0)
    return value if isinstance(value, int) else 0
