"""The taskset of `harness.plugins.verifiers` under a name without dots, the only kind that verifiers finds."""

from harness.plugins.verifiers import GridEnv, GridTaskset

__all__ = ["GridEnv", "GridTaskset"]
