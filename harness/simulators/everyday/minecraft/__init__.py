"""Requests to a block builder."""
