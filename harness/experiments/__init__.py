"""Experiments: rows of our own commands from YAML files, run and compared."""
