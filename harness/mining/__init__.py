"""Programs found for the instructions of the train split."""
