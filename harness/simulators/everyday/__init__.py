"""Simulated ordinary requests for both worlds: short conversations, as anyone might type them to a board or a block builder."""
