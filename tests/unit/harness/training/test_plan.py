"""The order in which a training run takes its items."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.training.plan import EpochPlan


@given(st.lists(st.integers(0, 50), max_size=300), st.integers(1, 7), st.integers(0, 3))
def test_batches_of_similar_length_leave_no_item_out(lengths: list[int], batch: int, epoch: int) -> None:
    numbers = list(range(len(lengths)))
    plan = EpochPlan([numbers] * 4, batch, lengths)
    order = plan.order(epoch, 1)
    assert sorted(order) == numbers
    assert order == plan.order(epoch, 1)
    assert sorted(EpochPlan([numbers] * 4, batch, None).order(epoch, 1)) == numbers


def test_batches_have_items_of_similar_length_and_come_in_any_order() -> None:
    lengths = [n % 16 for n in range(64)]
    order = EpochPlan([list(range(64))], 4, lengths).order(0, 1)
    batches = [[lengths[number] for number in order[start : start + 4]] for start in range(0, 64, 4)]
    assert all(len(set(batch)) == 1 for batch in batches)
    assert batches != sorted(batches)
