"""The HTML report of runs: its page, tables and charts, and what it says of a run; curves as pictures of their own."""
