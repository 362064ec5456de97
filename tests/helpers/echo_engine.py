"""A stand-in for `VllmEngine` in separate processes: it answers with its GPUs and the prompt's id."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Sequence
from typing import Any

from harness.engines.engine import Completion, Sampling
from harness.errors import EngineError
from prompts.rendered import Rendered


class EchoEngine:
    """Obeys a prompt's id: "fail" raises an error, "die" ends the process, "slow" takes a while for each answer."""

    def __init__(self, model: str, *, context_length: int | None = None, **settings: Any) -> None:
        if context_length == 1:
            raise EngineError(f"no memory on {os.environ['CUDA_VISIBLE_DEVICES']}")
        self.context_length, self.batch_size, self.independent = context_length or 2048, 10, False
        self.calls = 0

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> Generator[Completion, None, None]:
        self.calls += 1
        for prompt in prompts:
            if prompt.id == "fail":
                raise EngineError("vLLM failed: as it was told")
            if prompt.id == "die":
                os._exit(3)
            if prompt.id == "slow":
                time.sleep(0.05)
            yield Completion(f"{os.environ['CUDA_VISIBLE_DEVICES']} {prompt.id} {self.calls}")

    def close(self) -> None:
        return None
