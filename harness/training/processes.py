"""The processes that torchrun or `accelerate launch` starts for one training, and what they exchange."""

import logging
import os
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE = timedelta(hours=1)
"""How long processes wait for each other: the first one may fetch or convert a base model while the others wait."""


def processes() -> Any:
    """Accelerate's view of this process and the others, if any: a PartialState."""
    import torch
    from accelerate import PartialState

    # Without a GPU, processes find each other only if the CPU is asked for.
    return PartialState(cpu=not torch.accelerator.is_available(), timeout=_PATIENCE)


def gathered(value: T) -> list[T]:
    """The values of all processes, in their order. All processes must call this, and each gets the whole list."""
    from accelerate.utils import gather_object

    processes()
    whole: list[T] = gather_object([value])
    return whole


def first_says(say: Callable[[str], None]) -> Callable[[str], None]:
    """`say` for the first process, and silence for the others."""
    return say if processes().is_main_process else lambda text: None


def leave(code: int) -> None:
    """End this process at once if it is one of several; nothing must be left to write.

    A normal exit sometimes aborts: a thread of torch's gloo may still have to release the tensors of the last exchange, for
    which it needs the interpreter. DistributedDataParallel keeps these threads as long as the process lives, so they cannot be
    waited for.
    """
    from torch import distributed

    if not distributed.is_initialized():
        return
    if code == 0:
        # After a failure, the others may not answer any more.
        distributed.destroy_process_group()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
