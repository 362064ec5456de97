"""The error message if a GPU runs out of memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import HarnessError


@contextmanager
def memory_for(size: int, flag: str, then: str = "") -> Iterator[None]:
    """Raises HarnessError, in one line, where `size` items at a time are too many; `flag` is what makes them fewer."""
    try:
        yield
    except RuntimeError as error:
        # Matched by name, to avoid importing torch.
        if type(error).__name__ != "OutOfMemoryError":
            raise
        advice = f"try {flag}{size // 2}{then}" if size > 1 else "this GPU is too small for the network"
        raise HarnessError(f"the GPU runs out of memory with {size} items at a time: {advice}") from None
