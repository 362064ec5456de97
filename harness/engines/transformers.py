"""Plain transformers: for machines without vLLM, and for a model that is already in memory."""

import warnings
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from harness.engines.engine import Completion, Report, Sampling, silent
from harness.engines.models.bases import context_length_of, exact_attention
from harness.engines.shared import (
    adapter_rank,
    brief,
    check_tokens,
    item_seed,
    keep_memory,
    marks_thoughts,
    quiet_transformers,
    refusal,
)
from harness.errors import AdapterError, EngineError
from harness.util.processes import trusts_remote_code
from prompts.rendered import Rendered


class TransformersEngine:
    """Generates batches, padded on the left, with `generate` of transformers.

    `model` is a local folder, a hub name, or a loaded model, as in training; a loaded model needs its `tokenizer`. `adapter`
    is a folder that peft saved. Raises EngineError or AdapterError if one of them cannot be loaded.
    """

    independent = False
    """Padding, and with it the arithmetic of an answer, depends on the batch."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any = None,
        *,
        adapter: str | Path | None = None,
        context_length: int | None = None,
        batch_size: int = 16,
        quantize: Any = None,
    ) -> None:
        """`quantize` is a result of `quantized_weights`, and applies only to a model that is loaded here."""
        if isinstance(model, str):
            model, tokenizer = _load(model, tokenizer, quantize)
        elif tokenizer is None:
            raise ValueError("a loaded model needs its tokenizer")
        self._model = model if adapter is None else with_adapter(model, adapter)
        self.tokenizer: Any = tokenizer
        self._skip = not marks_thoughts(tokenizer)
        self.context_length: int = context_length or context_length_of(self._model.config) or 2048
        self.batch_size = batch_size
        self.report: Report = silent

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
        """See `Engine.generate`. The model's training mode and torch's random state are left as they were."""
        import torch

        if sampling.constraint is not None:
            raise EngineError("the transformers engine cannot constrain decoding to a grammar: use --engine vllm")
        answers: list[Completion | None] = [refusal(prompt, self.context_length) for prompt in prompts]
        places = [index for index, answer in enumerate(answers) if answer is None]
        check_tokens(chain.from_iterable(prompts[place].token_ids for place in places), self._model.config)
        training = self._model.training
        self._model.eval()
        try:
            with torch.inference_mode(), torch.random.fork_rng():
                for start in range(0, len(places), self.batch_size):
                    batch = places[start : start + self.batch_size]
                    for index, answer in zip(batch, self._answer([prompts[i] for i in batch], sampling), strict=True):
                        answers[index] = answer
        finally:
            self._model.train(training)
        return [answer for answer in answers if answer is not None]

    def close(self) -> None:
        """Release the model."""
        del self._model

    def _answer(self, batch: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
        import torch

        longest = max(len(prompt.token_ids) for prompt in batch)
        ends = self._end_ids() | {*sampling.stop_token_ids}
        filler = next(iter(ends), 0) if self.tokenizer.pad_token_id is None else self.tokenizer.pad_token_id
        padding = [longest - len(prompt.token_ids) for prompt in batch]
        ids = [[filler] * pad + list(prompt.token_ids) for pad, prompt in zip(padding, batch, strict=True)]
        mask = [[0] * pad + [1] * (longest - pad) for pad in padding]
        torch.manual_seed(item_seed(sampling.seed, batch[0].id))
        written = self._model.generate(
            input_ids=torch.tensor(ids, device=self._model.device),
            attention_mask=torch.tensor(mask, device=self._model.device),
            generation_config=self._settings(sampling, self.context_length - longest, ends, filler),
            tokenizer=self.tokenizer,
        )[:, longest:].tolist()
        return [self._read(prompt, tokens, ends, sampling.stop) for prompt, tokens in zip(batch, written, strict=True)]

    def _settings(self, sampling: Sampling, room: int, ends: set[int], filler: int) -> Any:
        """Every decoding setting, because transformers would take missing ones from the model's generation_config.json."""
        from transformers import GenerationConfig

        sampled = {"temperature": sampling.temperature, "top_p": sampling.top_p} if sampling.temperature > 0 else {}
        return GenerationConfig(
            max_new_tokens=min(sampling.max_tokens, room),
            do_sample=bool(sampled),
            **{"temperature": 1.0, "top_p": 1.0, **sampled},
            top_k=0 if sampled else 50,
            num_beams=1,
            repetition_penalty=1.0,
            eos_token_id=sorted(ends),
            pad_token_id=filler,
            use_cache=True,
            stop_strings=list(sampling.stop) or None,
        )

    def _end_ids(self) -> set[int]:
        """The tokens that end an answer: the tokenizer's EOS and those of generation_config.json, as in vLLM."""
        more = self._model.generation_config.eos_token_id
        ids = {self.tokenizer.eos_token_id, *(more if isinstance(more, list) else [more])}
        return {token for token in ids if token is not None}

    def _read(self, prompt: Rendered, tokens: list[int], ends: set[int], stop: Sequence[str]) -> Completion:
        length = next((i + 1 for i, token in enumerate(tokens) if token in ends), len(tokens))
        ended = length > 0 and tokens[length - 1] in ends
        text: str = self.tokenizer.decode(tokens[: length - ended], skip_special_tokens=self._skip)
        cuts = [text.index(string) for string in stop if string in text]
        return Completion(
            text=text[: min(cuts)] if cuts else text,
            finish_reason="stop" if ended or cuts else "length",
            prompt_tokens=len(prompt.token_ids),
            completion_tokens=length,
        )


def _load(name: str, tokenizer: Any, quantize: Any) -> tuple[Any, Any]:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    keep_memory()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = "auto" if device == "cuda" else torch.float32
    try:
        with quiet_transformers():
            trust = {"trust_remote_code": trusts_remote_code()}
            how: dict[str, Any] = {"attn_implementation": exact_attention(AutoConfig.from_pretrained(name, **trust))}
            how |= {"dtype": dtype} if quantize is None else {"quantization_config": quantize, "device_map": {"": 0}}
            model = AutoModelForCausalLM.from_pretrained(name, **how, **trust)
            model = model.to(device) if quantize is None else model
            return model, tokenizer or AutoTokenizer.from_pretrained(name, **trust)
    except Exception as error:
        raise EngineError(f"transformers cannot load the model {name}: {brief(error)}") from error


def empty_model(config: Any) -> Any:
    """The causal language model of a configuration, without weights: on the `meta` device."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"), quiet_transformers():
        return AutoModelForCausalLM.from_config(config, trust_remote_code=trusts_remote_code())


def with_adapter(model: Any, folder: str | Path, *, trainable: bool = False) -> Any:
    """The model with the adapter that peft saved in `folder`; the model may be on the `meta` device, to see whether it fits.

    Raises AdapterError if peft cannot load it, has no weights for a part of it or loads only some of its weights.
    """
    from peft import PeftConfig, get_peft_model

    adapter_rank(folder)
    try:
        with warnings.catch_warnings(action="ignore"):
            config = PeftConfig.from_pretrained(str(folder))
            config.inference_mode = not trainable
            if model.device.type == "meta":
                # Other initializations compute with the base's weights.
                config.init_lora_weights = False
            adapted = get_peft_model(model, config)
            keys = adapted.load_adapter(str(folder), "default", is_trainable=trainable)
    except Exception as error:
        raise AdapterError(f"peft cannot load the adapter {folder} on this base: {brief(error)}") from error
    faults = {"are missing": keys.missing_keys, "belong to no module": keys.unexpected_keys}
    if found := [f"{len(names)} weights {fault}, such as {names[0]}" for fault, names in faults.items() if names]:
        raise AdapterError(f"the adapter {folder} does not fit this base: {' and '.join(found)}")
    return adapted
