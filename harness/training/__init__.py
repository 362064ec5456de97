"""What trainings share: Trainer and what is seen of it, curricula, checkpoints; and how the baselines' networks are trained."""
