"""Judging Minecraft items for the v2 benchmark, and labeling drawing steps: the questions and the file of the answers."""
