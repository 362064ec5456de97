"""Judging Minecraft items for the v2 benchmark: the questions and the file of the answers."""
