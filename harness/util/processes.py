"""Processes: what they trust, the GPUs that they share, and a child that ends with its parent."""

import os
import signal
import sys
from collections.abc import Callable

TRUST = "HARNESS_TRUST_REMOTE_CODE"
"""The environment variable that says whether a base model's own Python code may run: `harness --trust-remote-code`. An adapter's
code never runs."""
_PR_SET_PDEATHSIG = 1


def trusts_remote_code() -> bool:
    """The value of `trust_remote_code` in every call that loads a base."""
    return os.environ.get(TRUST) == "1"


def visible_gpus() -> list[str]:
    """The visible GPUs, as CUDA_VISIBLE_DEVICES names them. CUDA is not started: a child process may still choose among them."""
    import torch

    count = torch.cuda.device_count()
    variable = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    names = [name.strip() for name in variable.split(",") if name.strip()]
    return (names or [str(number) for number in range(count)])[:count]


def ending_with_parent() -> Callable[[], None] | None:
    """A function that a child process calls first so that it does not outlive this one; None outside Linux."""
    if sys.platform != "linux":
        return None
    import ctypes

    # Looked up before the fork, after which few functions are safe to call.
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
