"""Whether a base model's own Python code may run: `harness --trust-remote-code`. An adapter's never does."""

from __future__ import annotations

import os

TRUST = "HARNESS_TRUST_REMOTE_CODE"


def trusts_remote_code() -> bool:
    """What every call that loads a base is told, as `trust_remote_code`."""
    return os.environ.get(TRUST) == "1"
