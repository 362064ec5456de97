"""The HTML report of runs: its page, tables and charts, and the facts about a run; curves as separate pictures."""
