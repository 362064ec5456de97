"""The body of a request to an endpoint: sampling parameters as the model takes them, learned from what it refuses."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.engines.engine import Sampling
from harness.engines.openai.endpoint import Failure
from harness.engines.shared import item_seed
from harness.errors import EngineError, UsageError
from prompts.rendered import Rendered
from serialization.formats.answer import Constraint
from serialization.formats.tools import declarations

LENGTH, NEWER = "max_tokens", "max_completion_tokens"
"""Two names of one parameter: the older one, which most servers take, and the one of OpenAI's newer models."""
OPTIONAL = ("tools", "top_p", "temperature", "stop_token_ids", "stop", "seed")
"""Parameters that are left out if a model refuses them. If a refusal names several, the first goes: some models take temperature
or top_p, and a top_p of 1 changes nothing."""
OURS = ("model", "messages", "prompt", "stream", "n")
"""Fields that --extra-body may not set."""

_SECRET = re.compile(r"key$|token$|authorization|secret|password|passwd|credential|bearer|cookie", re.I)
_NO_SECRET = re.compile(r"cache_key$|(?:bos|eos|pad|unk|stop|sep|mask)_token$", re.I)
_KEY_VALUE = re.compile(r'"(?:(?:sk|gsk|pk|hf|xai|AIza)[-_][\w-]{16,}"|Bearer\s)', re.I)
"""A key as JSON, by its value."""


class RequestShape:
    """Makes the body of each request. The user's own fields, `extra`, are never dropped; `say` receives a line for every
    parameter that is dropped or renamed. `bos` is taken off the beginning of a text. If a model refuses temperature 0, a `strict`
    shape ends the run; any other leaves it out, and the model samples its answers."""

    def __init__(
        self,
        model: str,
        *,
        chat: bool,
        bos: str = "",
        extra: Mapping[str, Any],
        say: Callable[[str], None],
        strict: bool = True,
    ) -> None:
        self._model, self._chat, self._bos, self._extra, self._say = model, chat, bos, dict(extra), say
        self._strict = strict
        self._length = LENGTH
        self._dropped: set[str] = set()

    def body(self, prompt: Rendered, sampling: Sampling) -> dict[str, Any]:
        """The body of the request for a prompt."""
        request: dict[str, Any] = {"model": self._model}
        request |= {"messages": list(prompt.messages)} if self._chat else {"prompt": prompt.text.removeprefix(self._bos)}
        request[self._length] = sampling.max_tokens
        values: dict[str, Any] = {"temperature": sampling.temperature, "top_p": sampling.top_p}
        if sampling.tools:
            values["tools"] = declarations(sampling.tools)
        if sampling.stop:
            values["stop"] = list(sampling.stop)
        if sampling.stop_token_ids and not self._chat:
            values["stop_token_ids"] = list(sampling.stop_token_ids)
        if sampling.temperature > 0:
            values["seed"] = item_seed(sampling.seed, prompt.id)
        request |= {name: value for name, value in values.items() if name not in self._dropped}
        if sampling.logprobs:
            request["logprobs"] = True if self._chat else 0
        if sampling.constraint is not None:
            request |= held(sampling.constraint)
        if prompt.feasible:
            request["vllm_xargs"] = {"feasible": prompt.feasible}
        return request | self._extra

    def cut(self, text: str, sampling: Sampling) -> str:
        """The text up to the first stop string if the endpoint does not take stop strings; the whole text otherwise."""
        if "stop" in self._dropped:
            for stop in sampling.stop:
                text = text.partition(stop)[0]
        return text

    def adapt(self, sent: Mapping[str, Any], failure: Failure) -> bool:
        """Whether to ask again: the endpoint refused a parameter, which later requests leave out or give another name.

        Raises EngineError if the answers would be sampled instead of greedy.
        """
        if failure.status not in (400, 422):
            return False
        if LENGTH in sent and NEWER in failure.message and LENGTH not in self._extra:
            if self._length == LENGTH:
                self._length = NEWER
                self._say(f"the model does not take {LENGTH}: requests now send {NEWER}")
            return True
        mine = [name for name in OPTIONAL if name in sent and name not in self._extra]
        refused = (
            one for one in mine if failure.parameter == one or re.search(rf"\b{one.removesuffix('s')}s?\b", failure.message)
        )
        if (name := next(refused, None)) is None:
            return False
        if name == "temperature" and not sent[name] and self._strict:
            raise EngineError(
                f"the model {self._model} does not take temperature 0 ({failure}) and would sample its answers: "
                "add --temperature 1 to let it"
            )
        if name not in self._dropped:
            self._dropped.add(name)
            value = "" if name == "tools" else f" {json.dumps(sent[name])}"
            self._say(f"the model does not take {name}{value}: it is left out ({failure})")
        return True


def held(constraint: Constraint) -> dict[str, Any]:
    """The fields of a request that hold its answer to a constraint: the OpenAI protocol's for JSON, vLLM's for grammars."""
    if constraint.kind != "json":
        return {"structured_outputs": {constraint.kind: constraint.value}}
    schema = {"name": "actions", "schema": json.loads(constraint.value)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def extra_fields(text: str | None) -> dict[str, Any]:
    """The fields that --extra-body adds to every request. Raises UsageError for anything but a JSON object, for a field that the
    harness sets, and for what looks like an API key."""
    if text is None:
        return {}
    pairs: list[tuple[str, Any]] = []

    def mapping(inside: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs.extend(inside)
        return dict(inside)

    try:
        value = json.loads(text, object_pairs_hook=mapping)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError("--extra-body: not a JSON object such as '{\"top_k\": 1}'")
    for name, inner in pairs:
        named = _SECRET.search(name.replace("-", "_")) and not _NO_SECRET.search(name) and isinstance(inner, str | dict | list)
        if named or _KEY_VALUE.search(json.dumps(inner)):
            raise UsageError(
                f"--extra-body: {name!r} looks like a key, and a run's settings are written to disk: "
                "keys belong in the environment (HARNESS_API_KEY or OPENAI_API_KEY)"
            )
    for key in OURS:
        if key in value:
            raise UsageError(f"--extra-body: {key} is set by the harness; leave it out")
    return value
