"""Feasible answers in vLLM: only tokens stay possible that continue the answer with an action that can be carried out.

vLLM imports `FeasibleTokens` by name, in the processes that hold the model. A request brings its state with it, as JSON, so this
also works over HTTP.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch
from vllm.logger import init_logger
from vllm.v1.sample.logits_processor import AdapterLogitsProcessor

from harness.engines.models.bases import load_tokenizer
from serialization.formats.feasible import Feasible

logger = init_logger("vllm.harness")

ARGUMENT = "feasible"
"""The extra argument of a request that holds `Feasible.to_json()`."""


class TokenVocabulary:
    """The tokens that answers are made of, with their texts: ASCII, without special tokens."""

    def __init__(self, tokenizer: Any) -> None:
        # Some tokenizers drop the space before a text's first word, so each token is decoded after another one.
        anchor = tokenizer("a", add_special_tokens=False).input_ids[-1]
        special = set(tokenizer.all_special_ids) | set(tokenizer.added_tokens_decoder)
        ids = [token for token in range(len(tokenizer)) if token not in special]
        texts = tokenizer.batch_decode([[anchor, token] for token in ids], clean_up_tokenization_spaces=False)
        self.ids: dict[str, list[int]] = defaultdict(list)
        for token, text in zip(ids, texts, strict=True):
            if text.startswith("a") and text[1:].isascii() and len(text) > 1:
                self.ids[text[1:]].append(token)
        self.texts = {token: text for text, tokens in self.ids.items() for token in tokens}
        self.longest = min(24, max(map(len, self.ids)))

    def following(self, feasible: Feasible, text: str) -> list[int]:
        """The ids of the tokens that may follow the text of an answer, ascending."""
        afters = feasible.continuations(text, self.longest)
        beginnings = {after[:size] for after in afters for size in range(1, len(after) + 1)}
        return sorted(token for beginning in beginnings for token in self.ids.get(beginning, ()))


class FeasibleTokens(AdapterLogitsProcessor):  # type: ignore[misc]
    """Sets the logits of all other tokens to minus infinity, in requests that ask for it."""

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Raises ValueError for a state that cannot be read."""
        if (text := (sampling_params.extra_args or {}).get(ARGUMENT)) is not None:
            Feasible.from_json(text)

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        super().__init__(vllm_config, device, is_pin_memory)
        self._vocabulary = TokenVocabulary(load_tokenizer(vllm_config.model_config.tokenizer))

    def is_argmax_invariant(self) -> bool:
        return False

    def new_req_logits_processor(self, params: Any) -> Any:
        text = (params.extra_args or {}).get(ARGUMENT)
        return None if text is None else _Request(text, self._vocabulary, sorted(params.all_stop_token_ids))


class _Request:
    """The processor of one request, which never raises: vLLM cannot fail one request here, only the engine. A request that
    cannot be continued gets the token that ends it, and vLLM's log says why."""

    def __init__(self, state: str, vocabulary: TokenVocabulary, ends: Sequence[int]) -> None:
        self._state, self._vocabulary, self._ends = state, vocabulary, list(ends)
        self._feasible: Feasible | None = None
        self._failed = False

    def __call__(self, output_ids: Sequence[int], logits: torch.Tensor) -> torch.Tensor:
        try:
            allowed = self._ends if self._failed else self._allowed(output_ids)
        except Exception:
            logger.exception("A request for a feasible answer cannot be continued, and ends")
            self._failed, allowed = True, self._ends
        allowed = [token for token in allowed if token < len(logits)]
        if not allowed:
            # The model has no token that ends an answer: the request's limit of tokens does.
            return logits
        masked = torch.full_like(logits, -torch.inf)
        # Parameters such as min_tokens may forbid all of these tokens, but a sampler needs one that is possible.
        masked[allowed] = logits[allowed].clamp(min=torch.finfo(logits.dtype).min)
        return masked

    def _allowed(self, output_ids: Sequence[int]) -> list[int]:
        self._feasible = self._feasible or Feasible.from_json(self._state)
        text = "".join(self._vocabulary.texts.get(token, "") for token in output_ids)
        allowed = self._vocabulary.following(self._feasible, text)
        return allowed + self._ends if not allowed or self._feasible.whole(text) else allowed
