"""Simulated ordinary requests to a block builder."""
