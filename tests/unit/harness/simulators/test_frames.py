"""Every frame of a simulator is used."""

from __future__ import annotations

import pytest

from harness.simulators import frames
from harness.simulators.games import game
from harness.simulators.minecraft.scene import Voice


@pytest.mark.parametrize(("simulator", "files"), [("random", ("common", "blocks")), ("shapes", ("shapes",))])
def test_all_frames_are_used(simulator: str, files: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    sections, used, draw = {*frames(*files)}, set[str](), Voice.draw

    def noted(self: Voice, section: str, **slots: str) -> str:
        used.add(section)
        return draw(self, section, **slots)

    monkeypatch.setattr(Voice, "draw", noted)
    for n in range(4000):
        game(simulator, 7, "train", n)
        if used >= sections:
            break
    assert sections - used == set()
