"""Strategies of Minecraft: actions, many of which touch or undo each other, and the structures that they build."""

from hypothesis import strategies as st

from harness.worlds.minecraft import COLORS, Action, Structure

side, height = st.integers(-5, 5), st.integers(1, 9)
colors = st.sampled_from(COLORS)
placements = st.builds(lambda c, x, y, z: Action("place", c, x, y, z), colors, side, height, side)
removals = st.builds(lambda x, y, z: Action("remove", None, x, y, z), side, height, side)
low = st.builds(lambda c, x, z: Action("place", c, x, 1, z), colors, st.integers(-1, 1), st.integers(-1, 1))
actions = st.lists(st.one_of(placements, removals, low, low.map(lambda a: a._replace(kind="remove", color=None))), max_size=40)
structures = actions.map(lambda a: Structure().apply(a).structure)
