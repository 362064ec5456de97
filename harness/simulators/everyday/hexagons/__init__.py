"""Simulated ordinary requests to a drawing board."""
