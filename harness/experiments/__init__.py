"""Experiments: rows of our own commands, read from YAML files, run one by one and compared."""
