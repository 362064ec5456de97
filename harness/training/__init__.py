"""Shared by all trainings: Trainer with its progress and curves, curricula, checkpoints; and the training of the baselines."""
