"""The metrics of each world."""
