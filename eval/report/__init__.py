"""The HTML report of runs: its page; and curves as separate pictures."""
