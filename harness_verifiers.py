"""The taskset of `harness.plugins.verifiers` under a name without dots, the only kind that verifiers finds."""

from harness.plugins.verifiers import GridTaskset

__all__ = ["GridTaskset"]
