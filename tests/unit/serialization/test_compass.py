from __future__ import annotations

from dataclasses import replace

import pytest

from harness.corpora.item import MinecraftItem
from harness.worlds.minecraft import Pose
from prompts.messages import conversation
from prompts.probe import PROBES
from prompts.spec import PromptSpec
from serialization.pose import compass


@pytest.mark.parametrize(
    ("yaw", "looks", "north"),
    [(0, "south", "-z"), (95, "west", "-x"), (180, "north", "+z"), (-90, "east", "+x"), (359, "south", "-z")],
)
def test_where_the_builder_looks_and_north_in_its_frame(yaw: float, looks: str, north: str) -> None:
    told = compass(Pose(0, 1, 0, yaw, 0), "builder")
    assert (told["looks"], told["north"]) == (looks, north)
    assert compass(Pose(0, 1, 0, yaw, 0), "world") == {"north": "-z", "east": "+x", "looks": looks}


def last(spec: PromptSpec, yaw: float = 180) -> str:
    item = PROBES[spec.task][0]
    assert isinstance(item, MinecraftItem)
    content = conversation(replace(item, pose=item.pose._replace(yaw=yaw)), spec)[-1]["content"]
    assert isinstance(content, str)
    return content.splitlines()[-1]


@pytest.mark.parametrize("template", ["default", "nebula", "few-shot-code"])
def test_iglus_prompts_end_with_the_compass_in_every_template(template: str) -> None:
    assert last(PromptSpec.make("iglu", template=template)) == "Compass: north is -z, east +x; the builder looks north"
    assert not last(PromptSpec.make("minecraft", template=template)).startswith("Compass")


def test_a_template_for_another_world_is_refused() -> None:
    with pytest.raises(Exception, match="--template hexagons-t5 is for hexagons, not for iglu"):
        PromptSpec.make("iglu", template="hexagons-t5")
