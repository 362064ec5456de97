"""The HTML report of runs: its page, tables and charts, learning curves, and what it says of a run."""
