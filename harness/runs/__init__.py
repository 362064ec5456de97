"""Runs: their folders, and the loop that fills them with answers."""
