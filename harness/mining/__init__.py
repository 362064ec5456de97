"""Search for programs that match the instructions of the train split."""
