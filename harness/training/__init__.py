"""What every training of a baseline shares: recipes, plans, the loop, checkpoints, and the run around it."""
