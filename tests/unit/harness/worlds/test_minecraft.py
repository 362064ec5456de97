import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.worlds.minecraft import Action, Block, Pose, Structure, in_region, net_actions, turn_action
from tests.helpers.blocks import actions, structures


@given(structures, actions)
def test_applied_actions_were_feasible_and_ignored_ones_were_not(structure: Structure, sequence: list[Action]) -> None:
    now, ignored = structure, []
    for action in sequence:
        feasible = now.feasible(action)
        here = now.color_at(*action.cell)
        if action.kind == "place":
            x, y, z = action.cell
            touching = [(x + 1, y, z), (x - 1, y, z), (x, y + 1, z), (x, y - 1, z), (x, y, z + 1), (x, y, z - 1)]
            assert feasible == (here is None and (y == 1 or any(now.color_at(*cell) for cell in touching)))
        else:
            assert feasible == (here is not None)
        if not feasible:
            ignored.append(action)
        after = now.apply([action]).structure
        assert (after == now) == (not feasible)
        now = after
    assert structure.apply(sequence) == (now, tuple(ignored))


@given(structures, structures)
def test_net_actions_turn_one_structure_into_the_other(before: Structure, after: Structure) -> None:
    net = net_actions(before, after)
    placed = {Block(*a.cell, str(a.color)) for a in net if a.kind == "place"}
    removed = {Block(*a.cell, str(a.color)) for a in net if a.kind == "remove"}
    assert placed == set(after.blocks()) - set(before.blocks())
    assert removed == set(before.blocks()) - set(after.blocks())


@given(structures, st.integers(-4, 8))
def test_turning_moves_every_block_as_it_moves_actions(structure: Structure, quarters: int) -> None:
    turned = structure.turned(quarters)
    moved = {turn_action(Action("place", b.color, b.x, b.y, b.z), quarters) for b in structure.blocks()}
    assert {Action("place", b.color, b.x, b.y, b.z) for b in turned.blocks()} == moved
    assert turned.turned(-quarters) == structure


@pytest.mark.parametrize(
    ("yaw", "quarter"),
    [(44.9, 0), (45, 1), (180, 2), (225, 3), (-90, 3), (-359.9, 0), (-45, 0), (-45.1, 3)],
)
def test_quarters_of_a_yaw(yaw: float, quarter: int) -> None:
    assert Pose(0, 1, 0, yaw, 0).quarter == quarter


def test_blocks_left_in_the_air_float() -> None:
    tower = [Action("place", "red", 0, 1, 0), Action("place", "blue", 0, 2, 0), Action("place", "blue", 1, 2, 0)]
    built = Structure().apply([*tower, Action("remove", None, 0, 1, 0)]).structure
    assert built.floating() == {Block(0, 2, 0, "blue"), Block(1, 2, 0, "blue")}
    assert not Structure().apply(tower).structure.floating()


@pytest.mark.parametrize("block", [(6, 1, 0, "red"), (0, 10, 0, "red"), (0, 1, 0, "white")])
def test_a_block_that_cannot_be_is_refused(block: tuple[int, int, int, str]) -> None:
    with pytest.raises(ValueError, match="no such block"):
        Structure.of([block])
    assert not Structure().feasible(Action("place", block[3], *block[:3]))
    assert in_region(*block[:3]) == (block[3] == "white")
