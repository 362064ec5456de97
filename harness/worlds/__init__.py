"""The two grid worlds: state, actions, feasibility and geometry. Pure values, no input or output."""

from typing import Literal

World = Literal["hexagons", "minecraft"]
