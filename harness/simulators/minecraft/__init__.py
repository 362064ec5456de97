"""Makers of Minecraft games: structures, what is said of them, and the levels."""
