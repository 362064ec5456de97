"""The predictor of ordinary requests: the reader comes first, the corpus parser answers what it does not understand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.baselines.parser import Parser
from harness.baselines.parser.everyday.conversing import Conversing, Understood
from harness.corpora.item import HexagonsItem, Item
from harness.runs.answering import Answer, Predictor
from harness.worlds.hexagons import Board, Paint


class Otherwise(Predictor):
    batch_size = 1

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        return [Answer((Paint(0, 0, "red"),), True, {"program": "red 1:1"}) for _ in items]


def item(text: str) -> HexagonsItem:
    return HexagonsItem("everyday-hexagons/dev/x/1", "dev", text, (), Board(), (), Board(), "", "")


def answered(understood: Understood) -> Answer:
    def understand(_: Any) -> Understood:
        return understood

    (answer,) = Conversing(understand, Otherwise()).predict([item("x")])
    return answer


def test_what_is_understood_is_run_and_noted() -> None:
    answer = answered(Understood("blue 1:1", 0.9, ("zeppelin",), "Where?"))
    assert answer.actions == (Paint(0, 0, "blue"),)
    assert answer.notes == {"program": "blue 1:1", "confidence": 0.9, "unknown": ["zeppelin"], "question": "Where?"}


def test_notes_leave_out_missing_parts() -> None:
    assert answered(Understood("", 1.0, (), None)).notes == {"program": "", "confidence": 1.0}


def test_what_is_not_understood_is_answered_by_the_other_predictor() -> None:
    answer = answered(Understood("", 0.0, ("zeppelin",), None))
    assert answer.actions == (Paint(0, 0, "red"),)
    assert answer.notes == {"program": "red 1:1", "unknown": ["zeppelin"]}


def test_the_parser_answers_ordinary_requests_for_the_board() -> None:
    predictor = Parser().predictor("everyday-hexagons")
    assert isinstance(predictor, Conversing)
    (answer,) = predictor.predict([item("Paint all four corners black")])
    assert len(answer.actions) == 4


def test_the_parser_answers_the_corpus_itself() -> None:
    parser = Parser()
    assert parser.predictor("hexagons") is parser


def test_a_reader_that_fails_is_one_that_understood_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def failing(_: Any) -> Understood:
        raise IndexError("no such tile")

    (answer,) = Conversing(failing, Otherwise()).predict([item("Paint it.")])
    assert answer.notes["program"] == "red 1:1"
    assert "everyday-hexagons/dev/x/1" in caplog.text
