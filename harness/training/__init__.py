"""Shared by all trainings: Trainer with its progress and curves, curricula, checkpoints; and the training of the baselines."""

from pathlib import Path

SHIPPED = Path(__file__).parents[1] / "baselines" / "trained"
"""Checkpoints that come with the package: one folder each, named after its baseline or a variant of it."""
