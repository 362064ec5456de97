"""A prompting and fine-tuning harness for grid-world instruction following."""

__version__ = "0.1.0"
