"""Runs: their folders, and the loop that gets answers into them."""
