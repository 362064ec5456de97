"""`deberta`, a baseline for HEXAGONS."""
