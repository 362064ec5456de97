"""Simulators of Minecraft games: structures, the dialogue about them, and the levels."""
