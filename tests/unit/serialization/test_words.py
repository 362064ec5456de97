from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.worlds.minecraft import Action, Pose, Structure
from serialization.words import h3_tokens, tokenize

RED = Action("place", "red", 0, 1, 0)
BLUE = Action("remove", "blue", 1, 1, 0)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("hm.. okay", "hm .. okay"),
        ("a 3X3 square, 2x3x4 high", "a 3 x 3 square , 2 x 3 x 4 high"),
        ("*built", "* built"),
        ("orange*****", "orange*****"),
        ("we're done!! cannot", "we 're done ! ! can not"),
        ("an 'L' shape", "an ' l ' shape"),
        ('like an "n"', "like an `` n ''"),
        ("(2 empty) yes--no", "( 2 empty ) yes -- no"),
        ("an l. perfect. Now", "an l. perfect . now"),
        ("", ""),
    ],
)
def test_tokenize(text: str, tokens: str) -> None:
    assert " ".join(tokenize(text)) == tokens


@given(st.text(max_size=200))
def test_any_line_has_tokens_without_blanks(text: str) -> None:
    tokens = tokenize(text)
    assert all(token and not any(c.isspace() for c in token) for token in tokens)
    assert bool(tokens) == bool(text.split())


def item(*history: Turn) -> MinecraftItem:
    return MinecraftItem("", "train", history, Structure(), Pose(0, 1, 0, 0, 0), (RED,), Structure(), "C1", "game")


def test_h3_reaches_the_start_of_the_game() -> None:
    start: list[Turn] = [Utterance("Builder", "Mission has started."), Utterance("Architect", "hi"), Executed((RED, BLUE))]
    assert h3_tokens(item()) == ["<dialogue>"]
    assert h3_tokens(item(*start, Utterance("Builder", "ok?"))) == [
        *("<dialogue>", "<architect>", "hi", "</architect>"),
        *("<builder_putdown_red>", "<builder_pickup_blue>", "<builder>", "ok", "?", "</builder>"),
    ]


def test_h3_stops_at_the_last_run_but_one() -> None:
    long_ago: list[Turn] = [Utterance("Architect", "long ago"), Executed((RED,))]
    history = [*long_ago, Utterance("Architect", "before"), Executed((BLUE,)), Utterance("Architect", "now")]
    expected = ["<architect>", "before", "</architect>", "<builder_pickup_blue>", "<architect>", "now", "</architect>"]
    assert h3_tokens(item(*history)) == expected
    assert h3_tokens(item(Utterance("Architect", "even before"), Executed((RED,)), *history)) == expected
