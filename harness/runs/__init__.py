"""Runs: their folders, and the answering, prompting and reporting that goes on in them."""
