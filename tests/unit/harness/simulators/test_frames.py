"""Every frame of a simulator is used."""

from __future__ import annotations

from pkgutil import resolve_name
from random import Random
from typing import Any

import pytest

from harness.simulators import frames
from harness.simulators.everyday.talk import Talk
from harness.simulators.games import ARCHITECTS, game
from harness.simulators.hexagons.voice import SpeakerVoice
from harness.simulators.minecraft.scene import Voice
from harness.tasks import SIMULATORS

DRAWINGS = ("hexagons", "hexagons-cells", "hexagons-figures", "hexagons-patterns")
EVERYDAY = (Talk, "say", {"verbs", "lead", "wish", "greeted", "polite", "polite for me", "polite tail"})
FRAMES: dict[str, tuple[tuple[type, str, set[str]], tuple[str, ...]]] = {
    **{name: ((Voice, "draw", set()), (name,)) for name in ("random", "blocks", "shapes")},
    "hexagons": ((SpeakerVoice, "say", set()), DRAWINGS),
    **{name: (EVERYDAY, ("everyday", name)) for name in ("everyday-hexagons", "everyday-minecraft")},
}
"""For each simulator: the class and method that draw its frames, the sections drawn elsewhere, and the files of frames."""


@pytest.mark.parametrize("simulator", FRAMES)
def test_all_frames_are_used(simulator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (speaker, method, elsewhere), files = FRAMES[simulator]
    sections, used, say = {*frames(*files)} - elsewhere, set[str](), getattr(speaker, method)
    assert len(frames(*files)) == sum(len(frames(file)) for file in files)

    def noted(self: Any, section: str, **slots: str) -> str:
        used.add(section)
        return str(say(self, section, **slots))

    monkeypatch.setattr(speaker, method, noted)
    make = resolve_name(SIMULATORS[simulator].make)
    for n in range(4000):
        game(simulator, 7, "train", n) if simulator in ARCHITECTS else make(Random(f"7/{n}"), n, "train")
        if used >= sections:
            break
    assert sections - used == set()
