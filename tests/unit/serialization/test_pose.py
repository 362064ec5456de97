"""The frame `pose`: cells as the builder sees them, and their exact recovery."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.worlds.minecraft import Action, Pose
from prompts.messages import conversation, read_answer
from prompts.spec import PromptSpec
from serialization.pose import as_cells, as_seen, compass, from_pose, to_cell
from tests.helpers.scored import built_probe

SPEC = PromptSpec.make("minecraft", frame="pose")
POSES = st.builds(Pose, st.floats(-60, 60), st.floats(0, 30), st.floats(-60, 60), st.floats(-360, 360), st.floats(-90, 90))


@given(POSES, st.integers(-5, 5), st.integers(1, 9), st.integers(-5, 5))
def test_every_cell_comes_back_from_every_pose(pose: Pose, x: int, y: int, z: int) -> None:
    assert to_cell(*from_pose(x, y, z, pose), pose) == (x, y, z)
    assert as_cells(as_seen(f"pick {x} {y} {z}", pose), pose) == f"pick {x} {y} {z}"


@pytest.mark.parametrize("said", ["place red 2.5 0 4.3", "Place a red block at (x=2.5, y=0, z=4.3)", "place red 2.4 -0.2 4"])
def test_an_answer_may_have_a_free_form_and_small_errors(said: str) -> None:
    posed = built_probe(pose=Pose(0.5, 1.0, -2.5, 30.0, 20.4))
    assert read_answer(said, posed, SPEC).actions == (Action("place", "red", 0, 1, 2),)


@pytest.mark.parametrize("names", [("full-dialogue", "lines"), ("context-rich", "calls"), ("conversation", "lines")])
def test_it_is_refused_if_the_context_lacks_the_pose_or_the_format_has_whole_numbers(names: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="--frame pose is for --context context-rich"):
        PromptSpec.make("minecraft", *names, "pose")


@pytest.mark.parametrize(
    ("yaw", "looks", "north"),
    [(0, "south", "-z"), (95, "west", "-x"), (180, "north", "+z"), (-90, "east", "+x"), (359, "south", "-z")],
)
def test_the_builders_direction_and_north_in_its_frame(yaw: float, looks: str, north: str) -> None:
    told = compass(Pose(0, 1, 0, yaw, 0), "builder")
    assert (told["looks"], told["north"]) == (looks, north)
    assert compass(Pose(0, 1, 0, yaw, 0), "world") == {"north": "-z", "east": "+x", "looks": looks}


def last(spec: PromptSpec, yaw: float = 180) -> str:
    item = built_probe(spec.task)
    content = conversation(replace(item, pose=item.pose._replace(yaw=yaw)), spec)[-1]["content"]
    assert isinstance(content, str)
    return content.splitlines()[-1]


@pytest.mark.parametrize("template", ["default", "nebula", "few-shot-code"])
def test_iglus_prompts_end_with_the_compass_in_every_template(template: str) -> None:
    assert last(PromptSpec.make("iglu", template=template)) == "Compass: north is -z, east +x; the builder looks north"
    assert not last(PromptSpec.make("minecraft", template=template)).startswith("Compass")
