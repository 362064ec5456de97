"""Helpers that every other part may use: files, JSON Lines, hashes, progress bars, tables of names."""
