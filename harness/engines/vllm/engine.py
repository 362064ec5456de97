"""vLLM in this process: the CPU build without a GPU, the usual one with a GPU."""

import logging
import os
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.engines.engine import Completion, Report, Sampling, silent
from harness.engines.shared import (
    adapter_config,
    adapter_rank,
    brief,
    in_bf16,
    item_seed,
    keep_memory,
    marks_thoughts,
    refusal,
)
from harness.errors import AdapterError, EngineError
from harness.util.processes import trusts_remote_code
from prompts.rendered import Rendered

LORA_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The values that vLLM takes for max_lora_rank."""


def max_lora_rank(rank: int) -> int:
    """The smallest of `LORA_RANKS` that is at least `rank`. Raises AdapterError if `rank` is above the largest."""
    for allowed in LORA_RANKS:
        if rank <= allowed:
            return allowed
    raise AdapterError(f"the adapter's LoRA rank is {rank}, and vLLM takes at most {LORA_RANKS[-1]}")


_NOT_SERVED = {
    "use_dora": "DoRA",
    "lora_bias": "LoRA with a bias",
    "modules_to_save": "modules_to_save",
    "trainable_token_indices": "trained tokens",
    "alora_invocation_tokens": "activated LoRA",
    "layer_replication": "replicated layers",
    "use_bdlora": "block-diagonal LoRA",
    "use_qalora": "QALoRA",
}
"""Keys of adapter_config.json that vLLM refuses or would ignore, and what each stands for."""
_PLAIN_STARTS = ("gaussian", "eva", "orthogonal", "mica", "lora_ga")
"""Initializations of LoRA that leave its base unchanged; with others (PiSSA, OLoRA) peft changes the base, and vLLM does not."""


def not_served(folder: str | Path) -> str | None:
    """Why vLLM cannot serve the adapter in `folder`, in a few words; None if it can. peft can load and merge it in any case."""
    config = adapter_config(folder)
    kinds = [text for key, text in _NOT_SERVED.items() if config.get(key)]
    kinds += ["a bias"] if config.get("bias", "none") != "none" else []
    start = config.get("init_lora_weights")
    kinds += [f"init_lora_weights={start}"] if isinstance(start, str) and start.lower() not in _PLAIN_STARTS else []
    if (rank := adapter_rank(folder)) > LORA_RANKS[-1]:
        kinds.append(f"rank {rank} (at most {LORA_RANKS[-1]})")
    return " and ".join(kinds) or None


def check_served(folder: str | Path) -> None:
    """Raises AdapterError, with what to do, for an adapter that vLLM cannot serve."""
    if kinds := not_served(folder):
        raise AdapterError(
            f"{folder}: vLLM cannot serve an adapter with {kinds}: merge it into a copy of its base "
            "(`harness adapters merge`, or `harness prompt --merge`), or prompt with --engine transformers"
        )


def kv_cache_space() -> int:
    """GiB of KV cache for the CPU build: an eighth of the machine's memory, 1 to 16.

    It depends on the installed memory, not on the free memory, so that a run and its continuation get the same size.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return int(min(16, max(1, memory // 8)))


def vllm_environment() -> dict[str, str]:
    """Variables that vLLM and torch read when imported; the user's own settings take precedence."""
    defaults = {
        "VLLM_CPU_KVCACHE_SPACE": str(kv_cache_space()),
        "VLLM_NO_USAGE_STATS": "1",
        # torch's C++ warnings: the CPU build binds its memory to a NUMA node and says so at every start.
        "TORCH_CPP_LOG_LEVEL": "ERROR",
        # Threads that spin while they wait for each other cost a small model nine tenths of its speed on shared cores.
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    return {name: os.environ.get(name, value) for name, value in defaults.items()}


def device_options(draws: bool) -> dict[str, Any]:
    """vLLM options for a machine without a GPU; none with a GPU. `draws` says that answers may be sampled."""
    import torch

    if torch.cuda.is_available():
        return {}
    options: dict[str, Any] = {"dtype": "bfloat16" if in_bf16() else "float32", "enforce_eager": True}
    # If it reads a prompt in chunks, vLLM rewinds a seeded random generator, which generators on a CPU do not support.
    return options | {"enable_chunked_prefill": False} if draws else options


def batch_invariant() -> bool:
    """Whether vLLM computes the same answer in any batch: with VLLM_BATCH_INVARIANT=1, which needs a GPU."""
    import torch

    return os.environ.get("VLLM_BATCH_INVARIANT") == "1" and torch.cuda.is_available()


def segment(running: int) -> int:
    """Prompts per segment if vLLM answers `running` at a time.

    A killed run repeats its unfinished segment, and the queue runs empty at the end of each segment. On a CPU, 256 prompts take
    minutes, and a partly filled queue is enough to keep it busy; on a GPU, a segment is four times the queue.
    """
    import torch

    return 4 * running if torch.cuda.is_available() else 256


def by_prefix(prompts: Sequence[tuple[int, ...]]) -> list[int]:
    """The prompts' indices in an order that puts equal beginnings next to each other, so that a small prefix cache is enough."""
    return sorted(range(len(prompts)), key=lambda index: prompts[index])


FEASIBLE_TOKENS = "harness.engines.vllm.feasible:FeasibleTokens"
"""The logits processor that vLLM imports to hold answers to feasible actions."""


class VllmEngine:
    """vLLM's engine in this process, as a rolling queue: whenever an answer ends, the next prompt takes its place.

    `model` is a local folder or a hub name, `adapter` a folder that peft saved. If `context_length` is None, it is the model's
    own, or as much of it as the KV cache holds. `draws` says that answers will be sampled, `feasible` that prompts come with a
    state (`Rendered.feasible`); `options` are further options of vLLM (`harness.engines.vllm.options`). Raises EngineError if
    the model cannot be loaded, AdapterError for a folder without a usable adapter.
    """

    independent = False
    """The arithmetic of one answer depends on what else is in its batch, except in vLLM's batch-invariant mode."""

    def __init__(
        self,
        model: str,
        *,
        adapter: str | Path | None = None,
        context_length: int | None = None,
        seed: int = 0,
        draws: bool = False,
        feasible: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        settings = {**device_options(draws), **(options or {}), "max_model_len": context_length or -1, "seed": seed}
        if adapter is not None:
            check_served(adapter)
            settings |= {"enable_lora": True, "max_loras": 1, "max_lora_rank": max_lora_rank(adapter_rank(adapter))}
        if feasible:
            settings["logits_processors"] = [FEASIBLE_TOKENS]
        self.llm = _load(model, settings)
        self._lora = None
        if adapter is not None:
            from vllm.lora.request import LoRARequest

            self._lora = LoRARequest("adapter", 1, str(adapter))
        self.tokenizer: Any = self.llm.get_tokenizer()
        self._skip = not marks_thoughts(self.tokenizer)
        self.context_length: int = self.llm.model_config.max_model_len
        self.independent = batch_invariant()
        self.batch_size = segment(self.llm.llm_engine.vllm_config.scheduler_config.max_num_seqs)
        self.report: Report = silent

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> Generator[Completion, None, None]:
        """See `Engine.generate`. Equal calls give equal answers: nothing is carried over from earlier calls.

        All prompts are in vLLM's queue at once; ending the iteration early removes them from it.
        """
        from vllm import SamplingParams
        from vllm.inputs.engine import tokens_input

        if not self.independent:
            # A cached prefix was computed in another batch, so its last bits may differ.
            self.llm.reset_prefix_cache()
        answers: dict[int, Completion] = {
            index: refused for index, prompt in enumerate(prompts) if (refused := refusal(prompt, self.context_length))
        }
        queued: list[str] = []
        try:
            with _failures():
                for index in by_prefix([prompt.token_ids for prompt in prompts]):
                    if index not in answers:
                        params = SamplingParams(**self._parameters(prompts[index], sampling))
                        ids = tokens_input(list(prompts[index].token_ids))
                        queued.append(self.llm.llm_engine.add_request(str(index), ids, params, lora_request=self._lora))
            for index in range(len(prompts)):
                while index not in answers:
                    with _failures():
                        answers |= {int(output.request_id): _completion(output) for output in self.llm.llm_engine.step()}
                    self.report(len(answers))
                yield answers[index]
        finally:
            if self.llm.llm_engine.has_unfinished_requests():
                self.llm.llm_engine.abort_request(queued, internal=True)

    def close(self) -> None:
        """Free the model's memory, so that another one can be loaded."""
        from vllm.distributed import cleanup_dist_env_and_memory

        self.llm.llm_engine.engine_core.shutdown()
        del self.llm
        cleanup_dist_env_and_memory()

    def _parameters(self, prompt: Rendered, sampling: Sampling) -> dict[str, Any]:
        """Every sampling setting, so that none comes from the model's generation_config.json."""
        from vllm.sampling_params import RequestOutputKind

        parameters: dict[str, Any] = {
            "output_kind": RequestOutputKind.FINAL_ONLY,
            "max_tokens": min(sampling.max_tokens, self.context_length - len(prompt.token_ids)),
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": 0,
            "stop": list(sampling.stop),
            "stop_token_ids": list(sampling.stop_token_ids),
            "skip_special_tokens": self._skip,
            "seed": item_seed(sampling.seed, prompt.id) if sampling.temperature > 0 else None,
        }
        if prompt.feasible:
            parameters["extra_args"] = {"feasible": prompt.feasible}
        if sampling.logprobs:
            parameters["logprobs"] = 0  # Only the log-probabilities of the drawn tokens.
        if sampling.constraint is not None:
            from vllm.sampling_params import StructuredOutputsParams

            parameters["structured_outputs"] = StructuredOutputsParams(**{sampling.constraint.kind: sampling.constraint.value})
        return parameters


def set_up() -> None:
    """Set the environment variables that vLLM reads when it is imported."""
    # The engine runs in this process, so that a kill leaves nothing behind and scheduling is the same in every run.
    os.environ.update(vllm_environment(), VLLM_ENABLE_V1_MULTIPROCESSING="0")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "CRITICAL")
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    # vLLM's first messages come before it has set up its logging.
    logging.getLogger("vllm").setLevel(os.environ["VLLM_LOGGING_LEVEL"])


def _load(model: str, options: dict[str, Any]) -> Any:
    keep_memory()
    set_up()
    with _quiet():
        try:
            from vllm import LLM
        except ImportError as error:
            raise EngineError(f"vLLM cannot be imported ({brief(error)}): install it, or use --engine transformers") from error
        try:
            return LLM(
                model=model,
                **{"trust_remote_code": trusts_remote_code(), **options},
                generation_config="vllm",
                use_tqdm_on_load=False,
            )
        except Exception as error:
            raise EngineError(f"vLLM cannot load the model {model}: {brief(error)}") from error


@contextmanager
def _failures() -> Iterator[None]:
    """Raises EngineError, in one line, for whatever vLLM raises."""
    try:
        with _quiet():
            yield
    except Exception as error:
        raise EngineError(f"vLLM failed: {brief(error)}") from error


def _quiet() -> warnings.catch_warnings:
    """Suppresses the warnings that vLLM's dependencies raise about each other."""
    return warnings.catch_warnings(action="ignore")


def _completion(output: Any) -> Completion:
    answer = output.outputs[0]
    if answer.finish_reason not in ("stop", "length"):
        return Completion(error=f"vLLM ended the answer with {answer.finish_reason!r}")
    count = len(answer.token_ids)
    return Completion(answer.text, answer.finish_reason, len(output.prompt_token_ids), count, logprob=answer.cumulative_logprob)
