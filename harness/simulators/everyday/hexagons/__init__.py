"""Requests to a drawing board."""
