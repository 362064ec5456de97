"""`t5`, a baseline for HEXAGONS."""
