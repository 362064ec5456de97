"""The HTML report of runs: its page, and what it says of a run."""
