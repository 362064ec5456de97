"""Simulated games: the Minecraft collaborative building task after BAP v2 (section 5), and HEXAGONS drawing procedures."""
