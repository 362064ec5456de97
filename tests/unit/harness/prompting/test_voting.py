"""Voting among drawn answers, compared with plain counting, and a network's draws, compared with its probabilities."""

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.baselines import Decoding
from harness.baselines.builder_decoding import BuilderPredictor
from harness.baselines.vocabulary import learned
from harness.corpora import load
from harness.corpora.item import builder_turns
from harness.prompting.voting import likeliest, most_agreed, vote, voted
from harness.worlds.hexagons import Paint
from harness.worlds.minecraft import Action, Structure, net_actions
from serialization.words import h3_tokens
from tests.helpers.blocks import actions, structures
from tests.helpers.tiny_cnn_gru import TINY, network_of

RED, BLUE = Action("place", "red", 0, 1, 0), Action("place", "blue", 0, 1, 0)
ABOVE = Action("place", "red", 0, 2, 0)


def test_the_changes_with_enough_votes_are_carried_out_bottom_first() -> None:
    drawn = {(RED, ABOVE): 6, (BLUE, ABOVE): 3, (): 1}
    assert voted(Structure(), drawn, 0.3) == [RED, ABOVE]
    assert voted(Structure(), drawn, 0.9) == []  # without the block below, the one above would float
    assert voted(Structure(), {(RED, ABOVE): 1, (): 9}, 0.11) == []


@given(structures, st.dictionaries(actions.map(tuple), st.integers(1, 9), min_size=1, max_size=5), st.floats(0, 1))
def test_every_voted_change_has_its_votes(before: Structure, drawn: dict[tuple[Action, ...], int], share: float) -> None:
    answer = voted(before, drawn, share)
    after, ignored = before.apply(answer)
    votes = Counter[Action]()
    for each, count in drawn.items():
        votes.update(dict.fromkeys(net_actions(before, before.apply(each).structure), count))
    assert not ignored
    assert len(answer) == len(net_actions(before, after))
    assert all(votes[change] >= share * sum(drawn.values()) for change in net_actions(before, after))


def test_the_answer_that_the_others_agree_with_most_or_that_is_likeliest_by_token_is_taken() -> None:
    red, blue, both = {RED}, {BLUE}, {RED, ABOVE}
    number, agreement = most_agreed([blue, both, red, both])
    assert number == 1
    assert agreement == pytest.approx((2 + 2 / 3) / 4)
    assert most_agreed([red, blue]) == (0, 0.5), "the first of equals"
    assert most_agreed([set(), set()]) == (0, 1.0)
    assert [likeliest(drawn) for drawn in ([(-3.0, 10), (-1.0, 2), (-2.0, 8)], [(-1.0, 2), (-2.0, 4)], [(0.0, 0)])] == [2, 0, 0]


def test_tiles_that_enough_answers_paint_are_painted_and_the_commoner_color_wins() -> None:
    item = load("hexagons", "dev")[0]
    drawn = [[Paint(0, 0, "red"), Paint(1, 1, "blue")], [Paint(0, 0, "red")], [Paint(0, 0, "green")], []]
    assert vote(item, drawn, 0.5) == [Paint(0, 0, "red")]
    assert vote(item, drawn, 0.25) == [Paint(0, 0, "red"), Paint(1, 1, "blue")]


@pytest.fixture
def predictor(monkeypatch: pytest.MonkeyPatch) -> BuilderPredictor:
    monkeypatch.setenv("HARNESS_BF16", "off")  # bfloat16 rounds differently in different batches
    vocabulary = learned(map(h3_tokens, builder_turns(load("minecraft", "train"))))
    return BuilderPredictor(network_of(TINY, vocabulary, bold=30.0).eval(), TINY, vocabulary)


def test_draws_of_an_item_do_not_depend_on_other_items_in_the_batch(predictor: BuilderPredictor) -> None:
    items = builder_turns(load("minecraft", "train"))[:6]
    predictor.decoding = Decoding(5, constrained=True, samples=12, share=0.2)
    together = predictor.predict(items)
    assert together == predictor.predict(items)
    assert together == [answer for item in items for answer in predictor.predict([item])]
    assert all(not item.before.apply(answer.actions).ignored for item, answer in zip(items, together, strict=True))
    assert any(answer.actions for answer in together)


def test_draws_follow_the_networks_probabilities(predictor: BuilderPredictor) -> None:
    """The share of draws that stop at once, compared with the softmax of the first scores."""
    (item,) = builder_turns(load("minecraft", "train"))[:1]
    with torch.no_grad():
        for layer in (predictor.network.decoder.head[-1], predictor.network.decoder.stop[-1]):
            layer.weight *= 0
            layer.bias *= 0
        predictor.network.decoder.stop[-1].bias.fill_(float(torch.tensor(7623.0).log()))  # as likely as all other labels together
    predictor.decoding = Decoding(2, samples=400)
    drawn, ended = predictor.drawn([item])[0]
    assert sum(drawn.values()) == 400
    assert drawn[()] == pytest.approx(200, abs=50)
    assert drawn[()] < ended < 400
