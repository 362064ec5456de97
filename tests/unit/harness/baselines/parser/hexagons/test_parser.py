"""The semantic parser: instructions in our own words, step by step, and an answer to any text."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from harness.baselines.parser import Parser
from harness.baselines.parser.hexagons.execute import paint_program
from harness.baselines.parser.hexagons.lexicon import WORDS
from harness.baselines.parser.hexagons.memory import Memory
from harness.baselines.parser.hexagons.ranker import RankReader
from harness.cli import cli
from harness.corpora import load
from harness.corpora.item import Utterance, drawing_steps
from harness.worlds.hexagons import COLORS, Board, Paint, on_board
from serialization.formats import grouped
from serialization.program.hexagons import run
from tests.helpers import cases

CASES = cases(__file__)

RANKER = RankReader({})


@pytest.mark.parametrize(("steps", "expected"), CASES["drawn"])
def test_what_the_last_of_some_steps_draws(steps: str, expected: str) -> None:
    memory = Memory()
    for step in steps.split(" | "):
        found = RANKER.understand(step, memory)
        memory = found.memory
    assert grouped.write(found.actions) == expected


def test_predictions_do_not_depend_on_what_was_asked_before() -> None:
    told = ["Paint the top tile of column 3 blue", "Paint the next tile red", "Paint the next two tiles green"]
    first = drawing_steps(load("hexagons", "dev"))[0]
    turns = tuple(Utterance("Instructor", text) for text in told)
    items = [
        replace(first, id=f"hexagons/dev/0/{n + 1}", instruction=text, history=turns[:n], before=Board())
        for n, text in enumerate(told)
    ]
    in_turn, alone = Parser(), Parser()
    answers = [in_turn.predict([item])[0] for item in items]
    assert answers[-1].actions == alone.predict(items[-1:])[0].actions
    assert set(answers[-1].actions) == {Paint(2, 2, "green"), Paint(3, 2, "green")}


texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(COLORS[1:]), st.integers(0, 30).map(str)), max_size=14).map(
        " ".join
    ),
)


@given(st.lists(texts, min_size=1, max_size=4))
def test_the_parser_is_total_and_the_interpreter_draws_the_same(instructions: list[str]) -> None:
    memory = Memory()
    for instruction in instructions:
        found = RANKER.understand(instruction, memory)
        assert all(on_board(action.row, action.column) and action.color in COLORS for action in found.actions)
        assert list(found.actions) == sorted(found.actions)
        final = {action.tile: action.color for action in run(paint_program(found.memory.painted)).actions}
        board = {tile: color for tile, color in {**memory.cells, **final}.items() if color != "white"}
        assert board == found.memory.cells
        memory = found.memory


@pytest.mark.parametrize(("task", "shown"), [("hexagons", "Read as:"), ("minecraft", "Program (confidence")])
def test_a_run_can_be_explained(task: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["baseline", "predict", "parser", "--task", task, "--limit", "3", "--name", "read"])
    assert done.exit_code == 0, done.output
    first = load(task, "dev")[0].id
    assert shown in CliRunner().invoke(cli, ["show", first, "--run", "read"]).output


@pytest.mark.parametrize("text", ["Repeat steps 1 through 9 five more times.", "Repeat the last step 18 times."])
def test_steps_that_repeat_themselves_come_to_an_end(text: str) -> None:
    memory = Memory()
    for step in ["Color the third tile of the first column red.", *[text] * 12]:
        memory = RANKER.understand(step, memory).memory
