"""Pictures in prompts: one for each question, of the state before it, with the same bytes in every process."""

from __future__ import annotations

import struct
from base64 import b64decode
from dataclasses import replace
from typing import Any

import pytest

from harness.prompting.pictures import picture_url, pictured
from prompts.messages import IN_PICTURE
from prompts.probe import PROBES
from prompts.render import Renderer
from tools.record_goldens import PICTURED as SPECS
from tools.record_goldens import picture_path


@pytest.mark.parametrize("task", SPECS)
def test_each_question_has_its_picture(task: str) -> None:
    shot, item = PROBES[task]
    spec = SPECS[task]
    plain = Renderer(spec, None, 100_000, 1).render(item, [shot])
    made = pictured(plain, [shot, item], spec)
    assert [m["role"] for m in made.messages] == ["system", "user", "assistant", "user"]
    assert "The picture shows the b" in str(made.messages[0]["content"])
    for message, before, shown in ((made.messages[1], plain.messages[1], shot), (made.messages[3], plain.messages[3], item)):
        content: Any = message["content"]
        text, picture = content
        assert text == {"type": "text", "text": before["content"]}
        assert f": {IN_PICTURE}" in str(before["content"])
        assert picture == {"type": "image_url", "image_url": {"url": picture_url(shown, spec)}}


@pytest.mark.parametrize("task", SPECS)
def test_the_picture_is_a_png_of_the_state_before(task: str) -> None:
    item = PROBES[task][1]
    url = picture_url(item, SPECS[task])
    png = b64decode(url.removeprefix("data:image/png;base64,"))
    assert png == picture_path(task).read_bytes(), "if the change is meant: make golden"
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert min(struct.unpack(">II", png[16:24])) > 100
    if task == "minecraft":
        turned = replace(SPECS[task], frame="builder")
        assert picture_url(item, turned) == url  # The probe looks along +z.
        assert picture_url(PROBES[task][0], turned) != picture_url(PROBES[task][0], SPECS[task])


def test_beside_keeps_the_text() -> None:
    item = PROBES["minecraft"][1]
    beside = replace(SPECS["minecraft"], images="beside")
    text = Renderer(beside, None, 100_000, 1).render(item).text
    assert IN_PICTURE not in text
    assert "Blocks: " in text
