"""Simulated ordinary requests for both worlds: short conversations of what anyone types to a drawing board or a block builder."""
