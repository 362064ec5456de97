"""Reads what people type: ordinary requests, normalized by `english` and read by a package for each world."""
