"""Simulated building games, and live games.

Their sentence frames stand in plain text files. A file consists of sections: a line `[name]`, then one frame a line. In a frame,
`[a|b|]` stands for one of the alternatives and `{slot}` is filled in.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

ARCHITECTS = {
    "random": "harness.simulators.minecraft.architects:RandomBlocks",
    "blocks": "harness.simulators.minecraft.architects:BlockStructures",
    "shapes": "harness.simulators.minecraft.architects:ShapeStructures",
}
"""Simulators of building games without end: `module:object`, called with a Random, returns an Architect for
`harness.simulators.minecraft.game.play`."""
LEVELS = {"level-1": "harness.simulators.minecraft.levels:level_1", "level-2": "harness.simulators.minecraft.levels:level_2"}
"""Simulators of finite sets of single orders, all of them test items: `module:object`, called with a seed, returns items."""
SIMULATORS = ARCHITECTS | LEVELS
"""All of them make items of the task `minecraft`."""

_SECTION = re.compile(r"\[([a-z0-9 -]+)\]")

Frames = Mapping[str, tuple[str, ...]]


@lru_cache
def frames(*names: str) -> Frames:
    """The frames of files in `frames/`, by section; sections of later files replace earlier ones. Lines with # are comments."""
    sections: dict[str, list[str]] = {}
    for name in names:
        section: list[str] = []
        for line in files("harness.simulators").joinpath("frames", f"{name}.txt").read_text().splitlines():
            if match := _SECTION.fullmatch(line):
                section = sections[match[1]] = []
            elif line.strip() and not line.startswith("#"):
                section.append(line.strip())
    return {name: tuple(lines) for name, lines in sections.items()}
