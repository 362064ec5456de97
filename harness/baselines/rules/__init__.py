"""`rules`, a baseline for HEXAGONS."""
