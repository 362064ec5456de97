"""What `harness report` needs of runs: scores, prompts made again, pictures, what they cost. The page itself is `eval.report`."""
