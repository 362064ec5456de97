"""The first items of every simulator, their augmented copies and their pictures have the same bytes on every machine, and
every frame of a simulator is used.

After an intended change of them, update the digests in this file.
"""

from __future__ import annotations

import hashlib
import io
import json
from itertools import islice, pairwise
from pkgutil import resolve_name
from random import Random
from typing import Any

import pytest
from rich.console import Console

from harness.augmentation.variants import augment
from harness.corpora.item import MinecraftItem
from harness.corpora.records import to_full_record
from harness.drawing.items import item_svg, prediction_text, states_beside, states_text
from harness.play.targets import live_games
from harness.simulators import frames
from harness.simulators.everyday.talk import Talk
from harness.simulators.games import ARCHITECTS, LEVELS, game
from harness.simulators.hexagons.voice import SpeakerVoice
from harness.simulators.live import Manner
from harness.simulators.minecraft.scene import Voice
from harness.tasks import SIMULATORS
from tests.helpers.faulty import play
from tests.helpers.simulated import first_items

ITEMS = {
    "hexagons": "71943eda8016e691", "everyday-hexagons": "dd7f62b8a445a2f7", "random": "56315f3792bb7108",
    "blocks": "7eae758f5305fdba", "shapes": "c3c0e1bab54c8296", "everyday-minecraft": "e1c58ad8126e083c",
    "level-1": "a0e20d26c18c4ab4", "level-2": "9008b04879fd95c2",
}  # fmt: skip
GAMES = {
    "random": "c4ee043275b1e594", "blocks": "20b99e04d26d7d4f", "shapes": "07bbc31414107a16",
    "hexagons": "1b9d6f220e6e1969",
}  # fmt: skip
COPIES = {"random": "34303d6fa524eca7", "hexagons": "4b38f1aa5dacb5ac"}
PICTURES = {"hexagons": "fbc6de9dd38df916", "shapes": "4b45383c5eb31fbc", "everyday-minecraft": "6e33015eb077c21b"}


def digest(records: list[str]) -> str:
    return hashlib.sha256("\n".join(records).encode()).hexdigest()[:16]


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_items(simulator: str) -> None:
    # Levels are finite sets; only their first items are made here.
    items = islice(resolve_name(LEVELS[simulator])(1), 60) if simulator in LEVELS else first_items(simulator, 1, 120)
    assert digest([json.dumps(to_full_record(item)) for item in items]) == ITEMS[simulator]


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


@pytest.mark.parametrize("simulator", ["random", "blocks", "shapes", "hexagons"])
def test_live_games(simulator: str) -> None:
    task = "hexagons" if simulator == "hexagons" else "minecraft"
    (live,) = live_games(task, 1, 1, "train", Manner(8), simulator=simulator)
    rng = Random(0)
    asked = play(live, lambda item: rng.random() < 0.4)
    assert digest([json.dumps(to_full_record(item)) for item in asked]) == GAMES[simulator]


@pytest.mark.parametrize("simulator", COPIES)
def test_augmented_copies(simulator: str) -> None:
    words = {"block": ["brick"], "left": ["port"], "put": ["place", "add"]}
    copies = augment(first_items(simulator, 1, 20), 5, 3, lexicon=words)
    assert digest([json.dumps(to_full_record(item)) for item in copies]) == COPIES[simulator]


@pytest.mark.parametrize("simulator", PICTURES)
def test_pictures(simulator: str) -> None:
    shown = io.StringIO()
    console = Console(width=150, file=shown, force_terminal=True, color_system="truecolor", legacy_windows=False)
    items = first_items(simulator, 1, 4)
    for item, other in pairwise(items):
        console.print(states_text(item), prediction_text(item, other.after))
        if isinstance(item, MinecraftItem):
            console.print(states_beside(item, 150))
    svgs = [item_svg(item, other.after, behind=True) + item_svg(item) for item, other in pairwise(items)]
    assert digest([*svgs, shown.getvalue()]) == PICTURES[simulator]
