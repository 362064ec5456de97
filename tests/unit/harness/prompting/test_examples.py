"""The flag --select and related flags of `harness prompt`."""

from pathlib import Path

import pytest

from harness.cli import main
from harness.corpora import load
from harness.prompting.examples import choose_shots, live_shots, read_ids
from prompts.messages import gold_answer
from prompts.shots import ShotChoice
from prompts.spec import PromptSpec
from tests.helpers import cases
from tests.helpers.scored import run_settings, write_lines

CASES = cases(__file__)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    spec = PromptSpec.make("hexagons")
    write_lines("script.jsonl", [{"id": item.id, "text": gold_answer(item, spec)} for item in load("hexagons", "dev")])


def prompt(*words: str) -> int:
    return main(["prompt", "--engine", "scripted", "--model", "script.jsonl", "--limit", "4", *words])


def test_a_run_records_the_choice_and_a_given_default_equals_an_omitted_one() -> None:
    assert prompt("--shots", "2", "--name", "plain") == 0
    assert prompt("--shots", "2", "--select", "random", "--name", "plain") == 0  # The same run.
    assert prompt("--shots", "2", "--select", "bm25", "--name", "near") == 0
    plain, near = run_settings("plain"), run_settings("near")
    assert (plain["select"], near["select"]) == (None, "bm25")
    assert near["shots_hash"] != plain["shots_hash"]


def test_given_ids_are_the_examples(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = load("hexagons", "train")[0], load("hexagons", "train")[-1]
    Path("ids.txt").write_text(f"{second.id}\n{first.id}\n")
    assert prompt("--shots", "2", "--select", "fixed", "--shot-ids", "ids.txt", "--preview", "--limit", "1") == 0
    text = capsys.readouterr().out
    assert text.index(second.instruction) < text.index(first.instruction)  # type: ignore[union-attr]
    assert read_ids(f"{second.id}, {first.id}") == [second.id, first.id]


@pytest.mark.parametrize(("words", "message"), CASES["refused"])
def test_flags_that_do_not_go_together(words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert prompt(*words) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not Path("runs").exists()


@pytest.mark.parametrize("choice", [ShotChoice(3, 1), ShotChoice(3, 0, "bm25")])
def test_items_that_are_not_known_before_get_the_same_examples(choice: ShotChoice) -> None:
    spec, items = PromptSpec.make("minecraft"), load("minecraft", "dev")[:4]
    known, live = choose_shots(choice, items, load("minecraft", "train")), live_shots(choice, spec)
    for item in items:
        chosen = known.choose(item, choice.shots)
        assert len(chosen) == choice.shots
        assert (live.choose(item, choice.shots), live.arrange(chosen)) == (chosen, known.arrange(chosen))
